package report

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of the search in crawl.log.
const (
	maxLogLine = 1 << 20 // bytes
	checkEvery = 4096    // lines between two looks whether anybody still wants to know
)

// attempts returns the last lines of crawl.log about a URL. There is no index: it reads the whole file, about a gigabyte a
// second.
func attempts(ctx context.Context, dir string, u weburl.URL) ([]crawl.LogLine, error) {
	f, err := os.Open(filepath.Join(dir, "crawl.log"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	needle := logNeedle(u)
	var found []crawl.LogLine
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 256<<10), maxLogLine)
	for n := 0; lines.Scan(); n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !bytes.Contains(lines.Bytes(), needle) {
			continue
		}
		l, err := jsonl.ParseLogLine(lines.Bytes())
		if err != nil {
			continue // a line that is being written
		}
		if found = append(found, *l); len(found) > maxAttempts {
			found = found[1:]
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return found, nil
}

// logNeedle is how a line about u spells it.
func logNeedle(u weburl.URL) []byte {
	line := jsonl.AppendLogLine(nil, &crawl.LogLine{URL: u})
	from, to := bytes.Index(line, []byte(`"url":`)), bytes.Index(line, []byte(`,"kind":`))
	return line[from:to]
}
