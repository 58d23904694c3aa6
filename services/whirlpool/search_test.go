package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// aWord is a long word of the text of a record that is in a directory, and the URL of it.
func aWord(t *testing.T, pages string) (word, url string) {
	t.Helper()
	for line := range strings.SplitAfterSeq(pages, "\n") {
		r, err := jsonl.ParseRecord([]byte(line))
		if err != nil || !r.DuplicateOf.IsZero() {
			continue
		}
		for _, w := range strings.Fields(r.Text) {
			if len(w) > 12 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
				return w, r.URL.String()
			}
		}
	}
	return "", ""
}

func TestSearchInADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records") // the crawl of all tests stays without an index
	pages, err := os.ReadFile(filepath.Join(crawled(t), "pages.jsonl"))
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "pages.jsonl"), pages, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	word, url := aWord(t, string(pages))
	out := must(t, "search", "-o", dir, "--limit", "200", word)
	if !strings.Contains(out, url) || !strings.Contains(out, "["+word+"]") {
		t.Errorf("search for %s:\n%s", word, out)
	}
	l := decode[explore.Records](t, must(t, "search", "-o", dir, "--json", "--index-for", "0s", word))
	if len(l.Items) == 0 || l.Items[0].Score <= 0 || l.Index == nil {
		t.Errorf("%+v", l)
	}
	if r := whirlpool(t, "search", "-o", dir, "--", word, "-"+word); r.exit != exitOK ||
		!strings.Contains(r.stderr, "no page") {
		t.Errorf("exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
	for _, bad := range [][]string{{`"open`}, {"titel:x"}, {"-a"}, {word, "--limit", "0"}, {word, "--cursor", "x"},
		{word, "--since", "never"}} {
		if r := whirlpool(t, append([]string{"search", "-o", dir}, bad...)...); r.exit != exitUsage || r.stderr == "" {
			t.Errorf("%v: exit status %d, %s", bad, r.exit, r.stderr)
		}
	}
	if out := must(t, "index", "-o", dir); !strings.Contains(out, "pages") {
		t.Error(out)
	}
	if r := whirlpool(t, "index", "-o", dir, "--anew"); r.exit != exitOK || !strings.Contains(r.stderr, "made anew") {
		t.Errorf("exit status %d, %s", r.exit, r.stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, explore.DirIndexName), bytes.Repeat([]byte("no database "), 1000),
		0o644); err != nil {
		t.Fatal(err)
	}
	if r := whirlpool(t, "search", "-o", dir, word); r.exit != exitOK || !strings.Contains(r.stderr, "is damaged") ||
		!strings.Contains(r.stdout, url) {
		t.Errorf("a damaged index: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
}

// Pages are found while the crawl that stores them runs.
func TestSearchWhileTheCrawlRuns(t *testing.T) {
	tg := newTarget(t, nil)
	r := start(t, tg, "--delay", "200ms")
	name, word := filepath.Join(tg.dir, "pages.jsonl"), ""
	poll(t, "a page with a word", func() bool {
		pages, _ := os.ReadFile(name) // it may not be there yet
		word, _ = aWord(t, string(pages))
		return word != ""
	})
	if out := must(t, "search", "-o", tg.dir, word); !strings.Contains(out, "["+word+"]") {
		t.Errorf("search for %s:\n%s", word, out)
	}
	if s := statusOf(t, tg.dir); s.State != "running" {
		t.Errorf("the crawl is %s: it was to run meanwhile", s.State)
	}
	must(t, "stop", "-o", tg.dir)
	r.wait(t)
	must(t, "audit", "-o", tg.dir)
}

// checkClusterSearch finds a stored page by its words, after they were added to the job.
func checkClusterSearch(t *testing.T, c *clusterUnderTest) {
	word, url := aWord(t, c.must("export", "--cluster", "--job", "test", "--format", "jsonl"))
	if word == "" {
		t.Fatal("no page has a word")
	}
	if r := c.run("search", "--cluster", "--job", "test", word); r.exit != exitOK ||
		!strings.Contains(r.stderr, "index --cluster") {
		t.Errorf("a job without words: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
	c.must("index", "--cluster", "--job", "test")
	out := c.must("search", "--cluster", "--job", "test", "--limit", "200", word)
	if !strings.Contains(out, url) || !strings.Contains(out, "["+word+"]") {
		t.Errorf("search for %s:\n%s", word, out)
	}
	l := decode[explore.Records](t, c.must("search", "--cluster", "--json", "--limit", "1", "url:http"))
	again := decode[explore.Records](t,
		c.must("search", "--cluster", "--json", "--limit", "1", "--cursor", l.Next, "url:http"))
	if len(l.Items) != 1 || len(again.Items) != 1 || l.Items[0].URL == again.Items[0].URL {
		t.Errorf("%+v, then %+v", l.Items, again.Items)
	}
}
