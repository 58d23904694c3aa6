package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// visited is a store of pages, each of which was visited so many times, with their outcomes.
func visited(t *testing.T, dir string, pages, visits int) *Store {
	t.Helper()
	s := openStore(t, dir)
	for v := range visits {
		for i := range pages {
			u := numbered(t, i)
			must(t, s.Pages().Replace(context.Background(),
				&crawl.Record{URL: u, FinalURL: u, Visit: v, Title: fmt.Sprintf("%d.%d", i, v)}))
			must(t, s.URLs().Finish(context.Background(), testJob,
				crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200}))
		}
	}
	return s
}

func numbered(t testing.TB, i int) weburl.URL { return mustURL(t, fmt.Sprintf("http://a.test/%d", i)) }

// wantTitles checks the records of the file and of each URL, and that an audit finds nothing wrong.
func wantTitles(t *testing.T, s *Store, replaced int64, titles ...string) {
	t.Helper()
	var got []string
	for _, r := range records(t, s.Pages()) {
		got = append(got, r.Title)
	}
	if strings.Join(got, " ") != strings.Join(titles, " ") {
		t.Errorf("the file has the records %q, want %q", got, titles)
	}
	wantCount(t, s, int64(len(titles)))
	for _, title := range titles {
		var i int
		_, err := fmt.Sscanf(title, "%d.", &i)
		must(t, err)
		line, found, err := s.Pages().PageLine(context.Background(), numbered(t, i).Key())
		if err != nil || !found || !strings.Contains(string(line), `"title":"`+title+`"`) {
			t.Errorf("the line of %s: %q, found %v, error %v", title, line, found, err)
		}
	}
	r, err := s.Audit(context.Background())
	must(t, err)
	d := r.Directory
	if len(r.Faults) > 0 || d.Damaged+d.Missing+d.Extra+d.Moved+d.Early+d.Gone > 0 || d.Replaced != replaced ||
		r.Pages != int64(len(titles)) {
		t.Errorf("audit: %+v, %+v, want %d replaced lines", r, d, replaced)
	}
}

func TestReplacedRecordsAreMarkedAndPassedOver(t *testing.T) {
	dir := t.TempDir()
	s := visited(t, dir, 3, 3)
	wantTitles(t, s, 6, "0.2", "1.2", "2.2")
	text := readFile(t, filepath.Join(dir, pagesName))
	if n := strings.Count(text, "\n{\"was\":"); n+1 != 6 {
		t.Errorf("%d lines are marked, want 6:\n%s", n+1, text)
	}
	var out strings.Builder
	n, err := export.Run(context.Background(), strings.NewReader(text), &out, export.Options{Format: export.JSONL})
	if err != nil || n != 3 || strings.Contains(out.String(), "was") {
		t.Errorf("%d rows are exported, error %v:\n%s", n, err, out.String())
	}
	must(t, s.Pages().Forget(context.Background(), numbered(t, 1).Key()))
	wantLines(t, s, "0.2 2.2")
	closeStore(t, s)
	s = openStore(t, dir)
	wantLines(t, s, "0.2 2.2")
	must(t, s.Pages().Put(context.Background(),
		&crawl.Record{URL: numbered(t, 1), FinalURL: numbered(t, 1), Title: "1.again"}))
	wantTitles(t, s, 6, "0.2", "2.2", "1.again")
}

func wantLines(t *testing.T, s *Store, titles string) {
	t.Helper()
	var got []string
	for _, r := range records(t, s.Pages()) {
		got = append(got, r.Title)
	}
	if strings.Join(got, " ") != titles {
		t.Errorf("the file has the records %q, want %s", got, titles)
	}
	wantCount(t, s, int64(len(got)))
}

// wantCount checks that the records are counted, with those stored since an earlier count.
func wantCount(t *testing.T, s *Store, want int64) {
	t.Helper()
	if n, err := s.Pages().Count(context.Background()); n != want || err != nil {
		t.Errorf("%d records are counted, error %v, want %d", n, err, want)
	}
}

// More lines than an audit holds in memory are before the last.
func TestARecordThatWasReplacedOften(t *testing.T) {
	s := visited(t, t.TempDir(), 1, maxCopies+20)
	wantTitles(t, s, maxCopies+19, fmt.Sprintf("0.%d", maxCopies+19))
}

// A process that died after the commit left the line before it unmarked.
func TestLinesThatAreNotMarkedYetAreMarkedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	s := visited(t, dir, 2, 2)
	closeStore(t, s)
	name := filepath.Join(dir, pagesName)
	text := readFile(t, name)
	writeFile(t, name, strings.Replace(text, `{"was":`, `{"url":`, 1))
	s = openStore(t, dir)
	r, err := s.Audit(context.Background())
	must(t, err)
	if r.Directory.Extra != 1 {
		t.Errorf("control: an unmarked line is no extra record: %+v", r.Directory)
	}
	must(t, s.do(context.Background(), func(b *pebble.Batch) { _ = b.Set(s.pages.markKey(0), nil, nil) }))
	closeStore(t, s)
	s = openStore(t, dir)
	wantTitles(t, s, 2, "0.1", "1.1")
	if got := readFile(t, name); got != text {
		t.Errorf("the file is\n%swant\n%s", got, text)
	}
}

// A process that died before the commit left lines that replace nothing: they are cut, and not set aside.
func TestUncommittedReplacementsAreCut(t *testing.T) {
	for _, torn := range []bool{false, true} {
		dir := t.TempDir()
		s := visited(t, dir, 2, 2)
		name := filepath.Join(dir, pagesName)
		whole := readFile(t, name)
		tail := strings.ReplaceAll(whole[strings.LastIndex(whole[:len(whole)-1], "\n")+1:], "1.1", "1.2")
		must(t, s.Pages().noteTail(int64(len(whole)), int64(len(tail))))
		closeStore(t, s)
		if torn {
			tail = tail[:40]
		}
		writeFile(t, name, whole+tail)
		s = openStore(t, dir)
		if got := readFile(t, name); got != whole {
			t.Errorf("torn %v: the file is\n%swant\n%s", torn, got, whole)
		}
		if text, err := os.ReadFile(filepath.Join(dir, asideName)); err == nil {
			t.Errorf("torn %v: lines were set aside: %s", torn, text)
		}
		wantTitles(t, s, 2, "0.1", "1.1")
	}
}

// Repair leaves replaced lines where nothing is wrong, and sets them aside where it writes the file anew.
func TestRepairOfAFileWithReplacedRecords(t *testing.T) {
	for _, harm := range []bool{false, true} {
		dir := t.TempDir()
		s := visited(t, dir, 3, 2)
		closeStore(t, s)
		name := filepath.Join(dir, pagesName)
		text := readFile(t, name)
		if harm {
			writeFile(t, name, text+"{\"url\":\"http://stranger.test/\"}\n")
		}
		opt := Default()
		opt.Repair = true
		s, err := Open(dir, opt)
		must(t, err)
		_, err = s.Repair(context.Background())
		must(t, err)
		closeStore(t, s)
		replaced := int64(3)
		if harm {
			replaced = 0
		} else if got := readFile(t, name); got != text {
			t.Errorf("a sound file was changed to\n%s", got)
		}
		wantTitles(t, openStore(t, dir), replaced, "0.1", "1.1", "2.1")
	}
}

// A process that replaces and amends records is killed again and again: what it was promised is there, and all fits.
func TestReplacingSurvivesKill(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	t.Run("lines", func(t *testing.T) { replacingSurvivesKill(t, t.TempDir()) })
	t.Run("packed", func(t *testing.T) { replacingSurvivesKill(t, packedDir(t)) })
}

func replacingSurvivesKill(t *testing.T, dir string) {
	last := map[string]int{}
	for round := range killRounds() {
		promised := map[string][]string{}
		kill(t, dir, fmt.Sprint("visits ", round), killAfter(), promised)
		for _, p := range promised["visit"] {
			var u string
			var v int
			_, err := fmt.Sscan(p, &u, &v)
			must(t, err)
			last[u] = max(last[u], v)
		}
		s, err := Open(dir, Default())
		must(t, err)
		stored := map[string]crawl.Record{}
		for _, r := range records(t, s.Pages()) {
			if _, again := stored[r.URL.String()]; again {
				t.Errorf("%s has two records", r.URL)
			}
			stored[r.URL.String()] = *r
		}
		for u, v := range last {
			if r := stored[u]; r.Visit < v || r.Visit == v && r.Title != "amended" {
				t.Errorf("round %d: %s is of visit %d, %q, visit %d was promised", round, u, r.Visit, r.Title, v)
			}
		}
		r, err := s.Audit(context.Background())
		must(t, err)
		if d := r.Directory; d.Damaged+d.Missing+d.Extra+d.Moved > 0 || len(r.Faults) > 0 {
			t.Fatalf("round %d: %+v, %+v", round, r, d)
		}
		if _, err := os.Stat(filepath.Join(dir, asideName)); err == nil {
			t.Fatalf("round %d: lines were set aside", round)
		}
		closeStore(t, s)
	}
	if len(last) == 0 {
		t.Fatal("nothing was promised: the test proved nothing")
	}
	read, done, err := ReadLines(dir)
	must(t, err)
	text, err := io.ReadAll(read())
	if must(t, errors.Join(err, done())); bytes.Count(text, []byte(`{"was":`)) == 0 {
		t.Fatal("nothing was replaced: the test proved nothing")
	}
}

// visitor replaces and amends the records of a few pages until it is killed.
func visitor(s *Store, w int, promised func(kind string, what any)) error {
	u, err := weburl.Parse(fmt.Sprintf("http://w%d.test/", w))
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := s.URLs().Finish(ctx, testJob,
		crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200}); err != nil {
		return err
	}
	line, found, err := s.Pages().PageLine(ctx, u.Key())
	if err != nil {
		return err
	}
	from := 0
	if found {
		if _, err := fmt.Sscanf(string(line[strings.LastIndex(string(line), `"visit":`)+len(`"visit":`):]), "%d",
			&from); err != nil {
			from = 0
		}
	}
	for v := from + 1; ; v++ {
		if err := s.Pages().Replace(ctx,
			&crawl.Record{URL: u, FinalURL: u, Visit: v, Text: strings.Repeat("x", 2000)}); err != nil {
			return err
		}
		if _, err := s.Pages().Amend(ctx, testJob, u, v, func(r *crawl.Record) { r.Title = "amended" }); err != nil {
			return err
		}
		promised("visit", fmt.Sprint(u, " ", v))
	}
}
