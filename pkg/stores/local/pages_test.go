package local

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func mustURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func records(t testing.TB, p *Pages) (out []*crawl.Record) {
	t.Helper()
	for sc := bufio.NewScanner(p.Lines()); sc.Scan(); {
		if jsonl.IsReplaced(sc.Bytes()) {
			continue
		}
		r, err := jsonl.ParseRecord(sc.Bytes())
		if err != nil {
			t.Fatalf("line %q: %v", sc.Bytes(), err)
		}
		out = append(out, r)
	}
	return out
}

func putPages(t testing.TB, p *Pages, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		u := mustURL(t, fmt.Sprintf("http://a.test/%d", i))
		if err := p.Put(context.Background(), &crawl.Record{URL: u, FinalURL: u, Title: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUncommittedRecordsAreCutAndSaidSo(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	putPages(t, s.Pages(), 0, 3)
	closeStore(t, s)
	name := filepath.Join(dir, "pages.jsonl")
	whole := readFile(t, name)
	writeFile(t, name, whole+`{"url":"http://a.test/torn`)
	var log strings.Builder
	opt := Default()
	opt.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	if got := readFile(t, name); got != whole {
		t.Errorf("the file is %q, want %q", got, whole)
	}
	if !strings.Contains(log.String(), "pages.jsonl") || !strings.Contains(log.String(), "bytes=26") {
		t.Errorf("the log does not name file and bytes: %s", log.String())
	}
	putPages(t, s.Pages(), 2, 4)
	if got := len(records(t, s.Pages())); got != 4 {
		t.Errorf("%d records, want 4", got)
	}
}

func TestTornLogLineIsCut(t *testing.T) {
	for _, torn := range []string{"", "x", strings.Repeat("long ", 40_000)} {
		for _, whole := range []string{"", "{}\n{}\n"} {
			name := filepath.Join(t.TempDir(), "crawl.log")
			writeFile(t, name, whole+torn)
			l, err := openAttemptLog(name, Default().Logger)
			if err != nil {
				t.Fatal(err)
			}
			err = l.Append(context.Background(), crawl.LogLine{URL: mustURL(t, "http://a.test/")})
			if err != nil || l.close() != nil {
				t.Fatal(err)
			}
			rest, ok := strings.CutPrefix(readFile(t, name), whole)
			if !ok || !strings.Contains(rest, "a.test") || strings.Count(rest, "\n") != 1 || rest[0] != '{' {
				t.Errorf("torn %.10q after %q: the file goes on with %q", torn, whole, rest)
			}
		}
	}
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
