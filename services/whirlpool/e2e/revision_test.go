package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
)

// part is what the tests exclude: the pages of about half of the hosts.
const part = `^https?://[^/]*[02468]\.`

// TestNarrowedAndWidenedInPlace crawls a web, is killed, goes on without half of the hosts to the end, and then with
// them again, killed in the sweep: what it has in the end is what a crawl has that was never revised.
func TestNarrowedAndWidenedInPlace(t *testing.T) {
	long(t)
	t.Parallel()
	pages, kills := harness.Number(t, "WHIRLPOOL_E2E_PAGES", 2000), harness.Number(t, "WHIRLPOOL_E2E_KILLS", 6)
	srv := serve(t, variedWeb(pages), 0)
	c := newCrawler(t, srv, jobFor(srv))
	c.start(t).wait(t)
	requests, calm := srv.Log().Count(), readResults(t, c.dir)
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}

	srv = serve(t, variedWeb(pages), srv.Port())
	c = newCrawler(t, srv, jobFor(srv))
	p := c.start(t)
	p.poll(t, "requests", func() bool { return srv.Log().Count() >= requests/4 })
	p.kill(t)
	p = c.start(t, "--exclude", part)
	p.wait(t)
	excluded := regexp.MustCompile(part)
	for _, e := range srv.Log().Entries() {
		if u := "http://" + e.Host + e.Path; e.UserAgent == p.agent && excluded.MatchString(u) &&
			!slices.Contains([]string{"/robots.txt", "/sitemap.xml"}, e.Path) {
			if !strings.Contains(e.Path, "sitemap") && !slices.Contains(srv.Web().Seeds(), u) {
				t.Errorf("%s was asked for after it had been excluded", u)
			}
		}
	}
	narrow := len(readResults(t, c.dir).Pages)
	for range kills {
		p = c.start(t)
		select {
		case <-p.ended:
		case <-time.After(rand.N(500 * time.Millisecond)):
		}
		p.kill(t)
	}
	c.start(t).wait(t)
	got := readResults(t, c.dir)
	harness.Report(t, "revised", slices.Concat(got.Untrue(srv.Web()), got.Unsound(), unfinished(t, c)))
	harness.Report(t, "compared", got.Differs(calm, srv.Web()))
	t.Logf("%d pages without the excluded part, %d in the end", narrow, len(got.Pages))
	if narrow >= len(got.Pages) {
		t.Error("nothing was let in: the test shows nothing")
	}
}

// tree is a site whose crawl has the same pages in whatever order.
type tree struct{ *e2e.Tree }

func newTree(t *testing.T) tree {
	s := e2e.NewTree()
	t.Cleanup(s.Close)
	return tree{s}
}

// crawler crawls the tree into a directory of its own.
func (s tree) crawler(t *testing.T, flags ...string) crawler {
	dir := filepath.Join(t.TempDir(), "out")
	return crawler{exe: program, dir: dir,
		args: slices.Concat([]string{"crawl", s.URL + "/", "-o", dir, "--allow-private", "--no-sitemaps", "--quiet",
			"--near-duplicate", "-1"}, flags)}
}

func pagesOf(t *testing.T, c crawler) (urls []string) {
	t.Helper()
	for u := range readResults(t, c.dir).Pages {
		urls = append(urls, u)
	}
	slices.Sort(urls)
	return urls
}

// TestEveryBoundCanBeWidened: a crawl that ended by a bound and goes on under a wider one has what a crawl has that
// began with it.
func TestEveryBoundCanBeWidened(t *testing.T) {
	long(t)
	t.Parallel()
	for name, tt := range map[string]struct{ first, then []string }{
		"depth":           {[]string{"--max-depth", "1"}, []string{"--max-depth", "3"}},
		"depth, in steps": {[]string{"--max-depth", "0"}, []string{"--max-depth", "4"}},
		"exclude":         {[]string{"--exclude", "/-1"}, []string{"--exclude", "/-1-2"}},
		"include":         {[]string{"--include", "/-[01]"}, []string{"--include", "/-[012]"}},
		"pages a level":   {[]string{"--pages-per-level", "3"}, []string{"--pages-per-level", "0"}},
		"pages a host":    {[]string{"--pages-per-host", "9"}, []string{"--pages-per-host", "0"}},
		"pages":           {[]string{"--max-pages", "7"}, []string{"--max-pages", "0"}},
		"several": {[]string{"--max-depth", "2", "--exclude", "-3$", "--max-pages", "10"},
			[]string{"--max-depth", "3", "--max-pages", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTree(t)
			want, got := s.crawler(t, "--delay", "0s"), s.crawler(t, "--delay", "0s")
			want.start(t, tt.then...).wait(t)
			got.start(t, tt.first...).wait(t)
			before := len(pagesOf(t, got))
			got.start(t, tt.then...).wait(t)
			if a, b := pagesOf(t, want), pagesOf(t, got); !slices.Equal(a, b) || before >= len(b) {
				t.Errorf("%d pages, then %d; a crawl that begins with %v has %d", before, len(b), tt.then, len(a))
			}
			if faults := unfinished(t, got); len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
}

// TestSettingsChangeWhileACrawlRuns changes delay, scope, depth and budget of a crawl that runs; server's log and
// explain agree.
func TestSettingsChangeWhileACrawlRuns(t *testing.T) {
	long(t)
	t.Parallel()
	s := newTree(t)
	// Seven delays are longer than a command takes, and eight shorter than the 30 s that it sets.
	delay := min(harness.Times(harness.Slowness(t), 250*time.Millisecond).Round(10*time.Millisecond), 2*time.Second)
	c := s.crawler(t, "--delay", delay.String(), "--max-depth", "2", "--max-pages", "12")
	p := c.start(t)
	p.poll(t, "pages", func() bool { return len(s.Since(time.Time{})) > 4 })
	set := func(wantExit int, flags ...string) string {
		t.Helper()
		r := run(t, slices.Concat([]string{"set", "-o", c.dir}, flags)...)
		if r.exit != wantExit {
			t.Fatalf("set %v: exit status %d\n%s%s", flags, r.exit, r.stdout, r.stderr)
		}
		return r.stdout + r.stderr
	}
	// A request that ends under the long delay has its host rest so long, whatever is set later: hence no hour.
	if text := set(0, "--delay", "30s"); !strings.Contains(text, fmt.Sprintf("politeness.delay: %v → 30s", delay)) {
		t.Errorf("set says %q", text)
	}
	at := time.Now()
	if text := set(2, "--near-duplicate", "3"); !strings.Contains(text, "near_duplicate") {
		t.Errorf("set says %q", text)
	}
	set(0, "--exclude", "/-1", "--max-depth", "3", "--max-pages", "0")
	time.Sleep(8 * delay)
	if paths := s.Since(at); len(paths) > 1 {
		t.Errorf("%q were asked for after the delay had been raised", paths)
	}
	at = time.Now()
	set(0, "--delay", "0s")
	p.wait(t)
	for _, path := range s.Since(at) {
		if strings.HasPrefix(path, "/-1") {
			t.Errorf("%s was asked for after it had been excluded", path)
		}
	}
	n := 0
	for _, u := range pagesOf(t, c) {
		if !strings.Contains(u, "/-1") {
			n++
		}
	}
	if want := 1 + 3 + 12 + 48; n != want {
		t.Errorf("%d pages that are not excluded, want %d", n, want)
	}
	for path, want := range map[string]string{"/-1-1-1": "exclude pattern", "/-0-0-0-0": "deeper than max_depth 3"} {
		r := run(t, "explain", "-o", c.dir, s.URL+path)
		if r.exit != 0 || !strings.Contains(r.stdout, want) && !strings.Contains(r.stdout, "has not met it") {
			t.Errorf("%s is explained as\n%s", path, r.stdout)
		}
	}
}

// TestExplainUsesTheRevisionThatDecided: explain and status tell what was decided by the revision that decided it.
func TestExplainUsesTheRevisionThatDecided(t *testing.T) {
	long(t)
	t.Parallel()
	s := newTree(t)
	c := s.crawler(t, "--delay", "0s")
	c.start(t, "--max-depth", "2", "--exclude", "/-3").wait(t)
	rules := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(rules, []byte("max_depth: 1\nrules: [{name: r, fields: [{name: heading, css: title}]}]\n"+
		"politeness: {delay: 0s}\nsitemaps: false\nnear_duplicate: -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "set", "-o", c.dir, "-c", rules); r.exit != 0 || !strings.Contains(r.stdout, "max_depth: 2 → 1") ||
		!strings.Contains(r.stdout, "rules: [] → [r]") {
		t.Fatalf("exit status %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
	for _, tt := range []struct {
		path  string
		wants []string
	}{
		{"/-1-1-1", []string{"deeper than max_depth 2", "by revision 1, the job is at 2 now"}},
		{"/-3", []string{`exclude pattern "/-3"`, "by revision 1"}},
		{"/-1", []string{"stored", "by the extraction rules of revision 1"}},
	} {
		r := run(t, "explain", "-o", c.dir, s.URL+tt.path)
		for _, want := range tt.wants {
			if r.exit != 0 || !strings.Contains(r.stdout, want) {
				t.Errorf("%q is not in the explanation of %s:\n%s%s", want, tt.path, r.stdout, r.stderr)
			}
		}
	}
	r := run(t, "status", "-o", c.dir)
	for _, want := range []string{"revision       2", "max_depth: 2 → 1",
		"revision 1 (epoch) were made by other extraction rules"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is not in\n%s", want, r.stdout)
		}
	}
	// What is made from now on is made by the new rules, and says so.
	if r := run(t, "crawl", "-o", c.dir, "--allow-private", "--quiet", "--max-depth", "3"); r.exit != 0 {
		t.Fatalf("exit status %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
	for u, line := range linesOf(t, filepath.Join(c.dir, "pages.jsonl")) {
		deep := strings.Count(u, "-") > 2
		if strings.Contains(line, `"epoch":3`) != (deep || strings.Contains(u, "/-3")) ||
			strings.Contains(line, `"heading"`) != (deep || strings.Contains(u, "/-3")) {
			t.Errorf("the record of %s: %s", u, line)
		}
	}
}

// linesOf returns the records of a file by their URLs.
func linesOf(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(data)) {
		_, rest, _ := strings.Cut(line, `"url":"`)
		u, _, _ := strings.Cut(rest, `"`)
		lines[u] = line
	}
	return lines
}
