package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// files returns the content of every file in a directory that is not under state/db, by its path there.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.Contains(path, filepath.Join("state", "db")) ||
			e.Name() == lockName {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out[rel] = readFile(t, path)
		return err
	}))
	return out
}

// A directory whose results have no state is refused, whatever is left of the state, and nothing in it is changed.
func TestResultsWithoutStateAreRefused(t *testing.T) {
	remove := func(names ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, n := range names {
				must(t, os.RemoveAll(filepath.Join(dir, n)))
			}
		}
	}
	for name, c := range map[string]struct {
		harm func(t *testing.T, dir string)
		says []string
	}{
		"no state":                {remove("state"), []string{"pages.jsonl", "crawl.log", "--fresh", "-o"}},
		"no state, only a log":    {remove("state", pagesName), []string{"crawl.log", "--fresh"}},
		"no state, only archives": {remove("state", pagesName, logName), []string{"warc", "--fresh"}},
		"an empty state":          {remove("state/db", "state/format", "state/spool"), []string{"pages.jsonl", "--fresh"}},
		"no database":             {remove("state/db"), []string{"pages.jsonl", "--fresh"}},
		"no format":               {remove("state/format"), []string{"state", "format"}},
		"an empty database": {func(t *testing.T, dir string) {
			remove("state/db")(t, dir)
			must(t, os.Mkdir(filepath.Join(dir, "state", "db"), 0o755))
		}, []string{"state", "restore a copy"}},
		"half a database": {func(t *testing.T, dir string) {
			found, err := filepath.Glob(filepath.Join(dir, "state", "db", "M*"))
			must(t, err)
			marks, err := filepath.Glob(filepath.Join(dir, "state", "db", "marker.manifest*"))
			must(t, err)
			for _, f := range slices.Concat(found, marks) {
				must(t, os.Remove(f))
			}
		}, []string{"state", "restore a copy"}},
		"a newer format": {func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "state", "format"), "whirlpool-state 99\n")
		}, []string{"whirlpool-state 99", "--fresh"}},
		"somebody's own pages.jsonl": {func(t *testing.T, dir string) {
			remove("state", logName, warcName)(t, dir)
			writeFile(t, filepath.Join(dir, pagesName), "my notes\n")
		}, []string{"pages.jsonl", "-o"}},
		"a link to somebody's pages.jsonl": {func(t *testing.T, dir string) {
			remove("state", pagesName, logName, warcName)(t, dir)
			mine := filepath.Join(t.TempDir(), "mine")
			writeFile(t, mine, "my notes\n")
			must(t, os.Symlink(mine, filepath.Join(dir, pagesName)))
		}, []string{"pages.jsonl", "-o"}},
		"somebody's own state": {func(t *testing.T, dir string) {
			remove("state", pagesName, logName, warcName)(t, dir)
			must(t, os.Mkdir(filepath.Join(dir, "state"), 0o755))
			writeFile(t, filepath.Join(dir, "state", "arizona"), "hot\n")
		}, []string{"state", "-o"}},
		"somebody's own pages.jsonl beside a new state": {func(t *testing.T, dir string) {
			remove("state", pagesName, logName, warcName)(t, dir)
			closeStore(t, openStore(t, dir))
			writeFile(t, filepath.Join(dir, pagesName), "my notes\n")
		}, []string{"my notes", "move it away", "whirlpool repair"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := crawled(t, 3)
			must(t, os.MkdirAll(filepath.Join(dir, warcName), 0o755))
			writeFile(t, filepath.Join(dir, warcName, "WHIRLPOOL-1.warc.gz"), "x")
			c.harm(t, dir)
			before := files(t, dir)
			s, err := Open(dir, Default())
			if err == nil {
				t.Fatal(errors.Join(errors.New("opened"), s.Close()))
			}
			for _, want := range append(c.says, dir) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: does not say %q", err, want)
				}
			}
			after := files(t, dir)
			for name, text := range before {
				if after[name] != text {
					t.Errorf("%s had %q and has %q", name, text, after[name])
				}
			}
		})
	}
}

// What lies behind the committed records is cut where the page is fetched again, and kept where that is not certain.
func TestLinesBehindTheRecords(t *testing.T) {
	record := func(u string) string {
		return `{"url":"` + u + `","final_url":"` + u +
			`","digest":"","simhash":"0000000000000000","fetched_at":"2026-01-01T00:00:00Z"}` + "\n"
	}
	for name, c := range map[string]struct {
		tail  string
		aside int
	}{
		"a torn record":                   {`{"url":"http://a.test/7`, 0},
		"zeros":                           {"\x00\x00\x00", 0},
		"a record under way":              {record("http://a.test/open"), 0},
		"a record under way and more":     {record("http://a.test/open") + `{"url`, 0},
		"a record of a queued URL":        {record("http://a.test/queued"), 1}, // the state is an older one
		"a record that is stored already": {record("http://a.test/1"), 1},
		"a record of an unknown URL":      {record("http://b.test/1"), 1},
		"no record":                       {"my notes\nmore\n", 2},
		"a line without an end":           {"my notes", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := crawled(t, 3)
			s := openStore(t, dir)
			us := claim(t, s, "a", "http://a.test/open", "http://a.test/queued")
			must(t, s.Queues().Push(context.Background(), crawl.Queued{Queue: "back.1",
				Task: crawl.Task{Job: testJob, URL: us[1]}}))
			_, err := s.Journal().Append(context.Background(), bus.Message{ID: crawl.MessageID{1},
				Event: &crawl.Document{Page: crawl.Page{Task: crawl.Task{Job: testJob, URL: us[0]}}}})
			must(t, err)
			closeStore(t, s)
			whole := readFile(t, filepath.Join(dir, pagesName))
			writeFile(t, filepath.Join(dir, pagesName), whole+c.tail)
			closeStore(t, openStore(t, dir))
			if got := readFile(t, filepath.Join(dir, pagesName)); got != whole {
				t.Errorf("the file is %q, want %q", got, whole)
			}
			kept, err := os.ReadFile(filepath.Join(dir, asideName))
			if n := strings.Count(string(kept), "\n"); n != c.aside || c.aside == 0 && err == nil {
				t.Errorf("%d lines were kept: %q (%v); want %d", n, kept, err, c.aside)
			}
		})
	}
}

func TestDiscardSaysWhatAndLeavesTheRest(t *testing.T) {
	dir := crawled(t, 3)
	must(t, os.MkdirAll(filepath.Join(dir, warcName), 0o755))
	for name, text := range map[string]string{"mine": "1", "warc/WHIRLPOOL-1.warc.gz": "12", "warc/mine": "1",
		"state/mine": "1", asideName: "1\n", "state/db/mine": "1"} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	got, err := Discard(dir)
	must(t, err)
	if got.Records != 3 || got.Bytes < 500 ||
		!slices.Equal(got.Names, []string{"pages.jsonl", "crawl.log", "warc/", "state/"}) || len(got.Kept) != 3 {
		t.Errorf("discarded %+v", got)
	}
	left := files(t, dir)
	for _, name := range []string{"mine", "warc/mine", "state/mine", asideName} {
		if _, ok := left[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "state", "db", "mine")); err != nil || len(left) != 4 {
		t.Errorf("left: %q (%v)", left, err)
	}
}

func TestDiscardRefusesWhatIsNotACrawls(t *testing.T) {
	mine := filepath.Join(t.TempDir(), "mine")
	for name, harm := range map[string]func(dir string) error{
		"pages.jsonl": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, pagesName), []byte("my notes\n"), 0o600)
		},
		"crawl.log": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, logName), []byte("my notes\n"),
				0o600)
		},
		"a directory": func(dir string) error { return os.Mkdir(filepath.Join(dir, pagesName), 0o700) },
		"a link":      func(dir string) error { return os.Symlink(mine, filepath.Join(dir, pagesName)) },
		"a state": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "state"), 0o700),
				os.WriteFile(filepath.Join(dir, "state", "x"), nil, 0o600))
		},
		"another program's format": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "state"), 0o700),
				os.WriteFile(filepath.Join(dir, "state", "format"), []byte("x"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, mine, "my notes\n")
			must(t, harm(dir))
			before := files(t, dir)
			if got, err := Discard(dir); err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("discarded %+v, error %v", got, err)
			}
			if after := files(t, dir); len(after) != len(before) || readFile(t, mine) != "my notes\n" {
				t.Errorf("left %q of %q", after, before)
			}
		})
	}
}

// A page that is taken back takes its record with it, wherever the process dies.
func TestForgetMovesTheOthersUp(t *testing.T) {
	ctx := context.Background()
	for name, gone := range map[string][]int{"the last": {5}, "the first": {0}, "some": {1, 2, 4},
		"all": {0, 1, 2, 3, 4, 5}, "none": {7}} {
		for _, dies := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				dir := crawled(t, 6)
				lines := strings.SplitAfter(strings.TrimSuffix(readFile(t, filepath.Join(dir, pagesName)), "\n"), "\n")
				lines[5] += "\n"
				s := openStore(t, dir)
				var want strings.Builder
				us := claim(t, s, "b")
				for i := range lines {
					if !slices.Contains(gone, i) {
						want.WriteString(lines[i])
					}
				}
				for _, i := range gone {
					us = append(us, mustURL(t, "http://a.test/"+string(rune('0'+i))))
				}
				keys := keysOf(us)
				if dies { // after the commit, half-way through what follows
					m, err := s.pages.planMove(keys)
					must(t, err)
					if m != nil {
						must(t, s.pages.beginMove(ctx, m, keys))
						must(t, s.pages.file.Truncate(m.cut()))
					}
					closeStore(t, s)
					s = openStore(t, dir)
				} else {
					must(t, s.Pages().Forget(ctx, keys...))
				}
				must(t, s.URLs().Reopen(ctx, testJob, keys...))
				for i := range us {
					if i < len(gone) && gone[i] < 6 {
						must(t, s.Queues().Push(ctx, crawl.Queued{Queue: "back.1", Task: crawl.Task{Job: testJob, URL: us[i]}}))
					}
				}
				if got := readFile(t, filepath.Join(dir, pagesName)); got != want.String() {
					t.Errorf("the file is %q, want %q", got, want.String())
				}
				report, err := s.Audit(ctx)
				must(t, err)
				if len(report.Faults) > 0 {
					t.Errorf("audit: %q", report.Faults)
				}
				putPages(t, s.Pages(), 0, 6)
				if got := len(records(t, s.Pages())); got != 6 {
					t.Errorf("%d records after they were stored again, want 6", got)
				}
				closeStore(t, s)
			})
		}
	}
}

func keysOf(us []weburl.URL) (keys []weburl.Key) {
	for _, u := range us {
		keys = append(keys, u.Key())
	}
	return keys
}
