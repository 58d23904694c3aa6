package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// maxJunk bounds a piece of what is no unit.
const maxJunk = 1 << 20

// packedLines reads pages.jsonl.zst unit by unit. It is an io.Reader of the lines, too.
type packedLines struct {
	r          *bufio.Reader
	name       string
	unit, line []byte
	left       []byte // of a line, for Read
}

func newPackedLines(f io.Reader, name string) *packedLines {
	return &packedLines{r: bufio.NewReaderSize(f, 1<<18), name: name}
}

// next returns the next unit and its line; what is between units, or is damaged, is a unit whose line is itself.
// They are valid until it is called again. The error at the end is io.EOF.
func (l *packedLines) next() (unit, line []byte, err error) {
	if cap(l.unit) > maxPooledLine {
		l.unit = nil
	}
	if cap(l.line) > maxPooledLine {
		l.line = nil
	}
	head, err := l.r.Peek(jsonl.PackedHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("read %s: %w", l.name, err)
	}
	if len(head) == 0 {
		return nil, nil, io.EOF
	}
	if n, _, ok := jsonl.PackedLength(head); ok {
		l.unit, err = readUpTo(l.r, l.unit[:0], n)
	} else {
		l.unit, err = readJunk(l.r, l.unit[:0])
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", l.name, err)
	}
	if l.line, err = jsonl.Unpack(l.line[:0], l.unit); err != nil {
		return l.unit, l.unit, nil //nolint:nilerr // that is how it is told
	}
	return l.unit, l.line, nil
}

// Read implements io.Reader. What is damaged ends it.
func (l *packedLines) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		unit, line, err := l.next()
		if err != nil {
			return 0, err
		}
		if len(line) > 0 && &unit[0] == &line[0] {
			return 0, fmt.Errorf("%s is damaged, %d bytes of it: `whirlpool repair` has the pages fetched again", l.name,
				len(unit))
		}
		l.left = line
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// eachPacked calls use for each unit of a file, and for what is between them.
func eachPacked(ctx context.Context, f io.Reader, name string, use func(at int64, unit, line []byte) error) error {
	lines := newPackedLines(f, name)
	for at := int64(0); ; {
		unit, line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err == nil {
			err = use(at, unit, line)
		}
		if err != nil {
			return err
		}
		at += int64(len(unit))
	}
}

// readUpTo appends n bytes, or as many as there are.
func readUpTo(r io.Reader, dst []byte, n int) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	_, err := io.CopyN(buf, r, int64(n))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return buf.Bytes(), err
}

// readJunk appends what is before the next unit.
func readJunk(r *bufio.Reader, dst []byte) ([]byte, error) {
	for len(dst) < maxJunk {
		head, err := r.Peek(jsonl.PackedHead)
		if _, _, ok := jsonl.PackedLength(head); ok && len(dst) > 0 || len(head) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return dst, err
		}
		c, err := r.ReadByte()
		if err != nil {
			return dst, err
		}
		dst = append(dst, c)
	}
	return dst, nil
}

// wholeUnits returns where the last whole unit ends. It looks at the heads alone.
func wholeUnits(f *os.File, size int64) (end int64, err error) {
	head := make([]byte, jsonl.PackedHead)
	for end+jsonl.PackedHead <= size {
		if _, err := f.ReadAt(head, end); err != nil {
			return 0, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		n, _, ok := jsonl.PackedLength(head)
		if !ok || end+int64(n) > size {
			break
		}
		end += int64(n)
	}
	return end, nil
}

// ReadLines reads the records in the directory of a crawl that runs: those that are whole at this moment, each time
// from the start.
func ReadLines(dir string) (read func() io.Reader, done func() error, err error) {
	name, packed, err := PagesFile(dir, false)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	var size int64
	switch {
	case err != nil:
	case packed:
		size, err = wholeUnits(f, info.Size())
	default:
		size, err = wholeLines(f, info.Size())
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return func() io.Reader { return linesOf(io.NewSectionReader(f, 0, size), name, packed) }, f.Close, nil
}

// linesOf reads the lines of a file of records.
func linesOf(f io.Reader, name string, packed bool) io.Reader {
	if packed {
		return newPackedLines(f, name)
	}
	return f
}
