package node

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// pageLines are the URLs of the pages of a crawl, as a list of seeds: a line for each line of its records, empty where
// that is none that is wanted.
type pageLines struct {
	in   *bufio.Reader
	want *builtin.Seeds
	left []byte
	line []byte
	done func() error
}

// openPages opens the pages of a crawl that may run: those that are there at this moment. A crawl that has none yet has
// an empty list.
func openPages(dir string, want *builtin.Seeds) (io.ReadCloser, error) {
	read, done, err := local.ReadLines(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := isCrawl(dir); err != nil {
			return nil, err
		}
		return io.NopCloser(strings.NewReader("")), nil
	}
	if err != nil {
		return nil, fmt.Errorf("pages of the crawl in %s: %w", dir, err)
	}
	return &pageLines{in: bufio.NewReaderSize(read(), 1<<18), want: want, done: done}, nil
}

// Close implements io.Closer.
func (p *pageLines) Close() error { return p.done() }

// maxPageLine bounds a record: the limits of a job keep them far below.
const maxPageLine = 256 << 20

// Read implements io.Reader.
func (p *pageLines) Read(b []byte) (int, error) {
	for len(p.left) == 0 {
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}

func (p *pageLines) next() error {
	p.line = p.line[:0]
	for {
		part, err := p.in.ReadSlice('\n')
		p.line = append(p.line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(p.line) < maxPageLine:
			continue
		case errors.Is(err, io.EOF) && len(p.line) > 0: // it was not written whole
			return io.EOF
		case err != nil:
			return err
		}
		p.left = append(p.seed(bytes.TrimSpace(p.line)), '\n')
		return nil
	}
}

// damagedLine is what stands for a damaged record: no seed, which is told and counted.
const damagedLine = "http://(a damaged record)"

// seed is the URL of a record; empty: it is not wanted.
func (p *pageLines) seed(line []byte) []byte {
	if len(line) == 0 || jsonl.IsReplaced(line) {
		return nil
	}
	r, err := jsonl.ParseRecord(line)
	if err != nil {
		return []byte(damagedLine)
	}
	if !p.wants(r) {
		return nil
	}
	return []byte(r.URL.String())
}

func (p *pageLines) wants(r *crawl.Record) bool {
	w := p.want
	return (len(w.Status) == 0 || slices.Contains(w.Status, r.Status)) &&
		(len(w.Hosts) == 0 || slices.Contains(w.Hosts, r.URL.Hostname()) || slices.Contains(w.Hosts, r.URL.HostKey())) &&
		(w.Match == nil || w.Match.MatchString(r.URL.String()))
}
