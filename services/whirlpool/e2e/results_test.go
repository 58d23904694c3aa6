package e2e_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/jsonl"
)

// record is what the tests compare of a stored page.
type record struct {
	digest     crawl.Digest
	title      string
	similarity string
	of         string
	text       bool
}

// outcome is how the story of a URL ended.
type outcome struct {
	verdict crawl.Verdict
	status  int
}

// results are what a crawl left in its directory.
type results struct {
	pages       map[string]record
	outcomes    map[string]outcome
	twice       []string // URLs with two records in pages.jsonl
	interrupted int      // attempts that a kill cut short
}

// unasked stands for all ways to end without an answer. Which of them a URL takes depends on the order of the crawl: a
// forbidden one is left out by the URL filter if the robots.txt is known by then, else by the fetcher; of a dead host
// it is the robots.txt that could not be had, or the host that was down too often.
var unasked = outcome{verdict: crawl.VerdictBlocked}

func readResults(t *testing.T, dir string) *results {
	t.Helper()
	r := &results{pages: map[string]record{}, outcomes: map[string]outcome{}}
	eachLine(t, filepath.Join(dir, "pages.jsonl"), func(line []byte) error {
		p, err := jsonl.ParseRecord(line)
		if err != nil {
			return err
		}
		u := p.URL.String()
		if _, again := r.pages[u]; again {
			r.twice = append(r.twice, u)
		}
		r.pages[u] = record{p.Digest, p.Title, p.Similarity, p.DuplicateOf.String(), p.Text != ""}
		return nil
	})
	eachLine(t, filepath.Join(dir, "crawl.log"), func(line []byte) error {
		l, err := jsonl.ParseLogLine(line)
		if err != nil || l.Kind == crawl.KindRobots { // a robots.txt is asked for again whenever that is needed
			return err
		}
		o := outcome{l.Verdict, l.Status}
		if l.Status == 0 {
			o = unasked
		}
		switch {
		case l.Verdict == crawl.VerdictInterrupted:
			r.interrupted++
		case l.Verdict.Final():
			r.outcomes[l.URL.String()] = o
		}
		return nil
	})
	return r
}

func eachLine(t *testing.T, file string, use func(line []byte) error) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if err := use(lines.Bytes()); err != nil {
			t.Fatalf("%s, line %d: %v", file, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// untrue lists where the results differ from the truth about the web.
func (r *results) untrue(web *fakeweb.Web) (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	kept := map[string]bool{}
	for p := range web.Pages {
		o, known := r.outcomes[p.URL]
		_, stored := r.pages[p.URL]
		kept[p.URL] = stored
		switch want := !p.Disallowed && p.Status == 200 && !p.NoIndex; {
		case !known && !p.Disallowed:
			say("%s was lost: it has no outcome", p.URL)
		case known && p.Disallowed && o != unasked:
			say("%s is forbidden by robots.txt and ended with %v", p.URL, o)
		case !p.Disallowed && o.status != p.Status:
			say("%s ended with %v, want status %d", p.URL, o, p.Status)
		case stored != want:
			say("%s: stored %v, want %v", p.URL, stored, want)
		}
	}
	for u := range r.pages {
		if !kept[u] {
			say("%s is stored, but there is no such page", u)
		}
	}
	return faults
}

// unsound lists what contradicts itself: pages stored twice, and contents without exactly one original.
func (r *results) unsound() (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, u := range r.twice {
		say("%s is stored twice", u)
	}
	contents := map[crawl.Digest]*content{}
	for u, p := range r.pages {
		switch of, found := r.pages[p.of]; {
		case p.similarity == "" && !p.text:
			say("%s is an original without text", u)
		case p.similarity == "":
		case !found:
			say("%s is a copy of %s, which is not stored", u, p.of)
		case p.of == u:
			say("%s is a copy of itself", u)
		case p.similarity == "exact" && of.digest != p.digest:
			say("%s is an exact copy of %s, but their digests differ", u, p.of)
		}
		if contents[p.digest] == nil {
			contents[p.digest] = &content{}
		}
		contents[p.digest].add(p)
	}
	for d, c := range contents {
		if c.originals > 1 || c.originals == 0 && c.exact > 0 {
			say("content %s has %d originals, %d exact and %d near copies", d, c.originals, c.exact, c.near)
		}
	}
	return faults
}

// content is how the pages with the same bytes were judged. One is the original and the others are its exact copies, unless
// those bytes are a near copy of something else: then all of them are.
type content struct{ originals, exact, near int }

func (c *content) add(p record) {
	switch p.similarity {
	case "":
		c.originals++
	case "exact":
		c.exact++
	default:
		c.near++
	}
}

// differs lists where the results differ from those of another crawl of the same web. Which of several copies is
// the original depends on the order of the crawl; the bytes do not, but for pages that change.
func (r *results) differs(calm *results, web *fakeweb.Web) (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for u, want := range calm.outcomes {
		if got, ok := r.outcomes[u]; !ok || got != want {
			say("%s ended with %v (known: %v); undisturbed, with %v", u, got, ok, want)
		}
	}
	for u, got := range r.outcomes {
		if _, ok := calm.outcomes[u]; !ok {
			say("%s ended with %v; undisturbed, it was never heard of", u, got)
		}
	}
	for u, want := range calm.pages {
		p, _ := web.Page(u)
		if got, ok := r.pages[u]; !ok || p.ChangeEvery == 0 && (got.digest != want.digest || got.title != want.title) {
			say("%s is stored as %q %v; undisturbed, as %q %v", u, got.title, got.digest, want.title, want.digest)
		}
	}
	for u := range r.pages {
		if _, ok := calm.pages[u]; !ok {
			say("%s is stored; undisturbed, it is not", u)
		}
	}
	return faults
}

// report fails the test for each fault, up to a number that can be read.
func report(t *testing.T, what string, faults []string) {
	t.Helper()
	slices.Sort(faults)
	for i, f := range faults {
		if i == 20 {
			t.Errorf("%s: and %d more", what, len(faults)-i)
			return
		}
		t.Errorf("%s: %s", what, f)
	}
}
