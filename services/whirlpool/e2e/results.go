package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// Record is what the tests compare of a stored page.
type Record struct {
	Digest     crawl.Digest
	Title      string
	Similarity string
	Of         string
	Text       bool
}

// Outcome is how the story of a URL ended.
type Outcome struct {
	Verdict crawl.Verdict
	Status  int
}

// Results are what a crawl left, wherever it keeps it.
type Results struct {
	Pages       map[string]Record
	Outcomes    map[string]Outcome
	Twice       []string // URLs with two records
	Interrupted int      // attempts that a kill cut short
}

// NewResults returns results without pages and outcomes.
func NewResults() *Results {
	return &Results{Pages: map[string]Record{}, Outcomes: map[string]Outcome{}}
}

// unasked stands for all ways to end without an answer. Which one a URL takes depends on the order of the crawl: a
// forbidden URL is left out by the URL filter if robots.txt is known by then, else by the fetcher; a URL of a dead host
// fails either for its robots.txt or because the host was down too often.
var unasked = Outcome{Verdict: crawl.VerdictBlocked}

// AddPage notes a stored page.
func (r *Results) AddPage(p *crawl.Record) {
	u := p.URL.String()
	if _, again := r.Pages[u]; again {
		r.Twice = append(r.Twice, u)
	}
	r.Pages[u] = Record{p.Digest, p.Title, p.Similarity, p.DuplicateOf.String(), p.Text != ""}
}

// AddOutcome notes how a URL ended; the last word counts.
func (r *Results) AddOutcome(url string, verdict crawl.Verdict, status int) {
	r.Outcomes[url] = Outcome{verdict, status}
	if status == 0 {
		r.Outcomes[url] = unasked
	}
}

// Untrue lists where the results differ from the truth about the web.
func (r *Results) Untrue(web *fakeweb.Web) (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	kept := map[string]bool{}
	for p := range web.Pages {
		o, known := r.Outcomes[p.URL]
		_, stored := r.Pages[p.URL]
		kept[p.URL] = stored
		switch want := !p.Disallowed && p.Status == 200 && !p.NoIndex; {
		case !known && !p.Disallowed:
			say("%s was lost: it has no outcome", p.URL)
		case known && p.Disallowed && o != unasked:
			say("%s is forbidden by robots.txt and ended with %v", p.URL, o)
		case !p.Disallowed && o.Status != p.Status:
			say("%s ended with %v, want status %d", p.URL, o, p.Status)
		case stored != want:
			say("%s: stored %v, want %v", p.URL, stored, want)
		}
	}
	for u := range r.Pages {
		if !kept[u] {
			say("%s is stored, but there is no such page", u)
		}
	}
	return faults
}

// Unsound lists what contradicts itself: pages stored twice, and contents without exactly one original.
func (r *Results) Unsound() (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, u := range r.Twice {
		say("%s is stored twice", u)
	}
	contents := map[crawl.Digest]*content{}
	for u, p := range r.Pages {
		switch of, found := r.Pages[p.Of]; {
		case p.Similarity == "" && !p.Text:
			say("%s is an original without text", u)
		case p.Similarity == "":
		case !found:
			say("%s is a copy of %s, which is not stored", u, p.Of)
		case p.Of == u:
			say("%s is a copy of itself", u)
		case p.Similarity == "exact" && of.Digest != p.Digest:
			say("%s is an exact copy of %s, but their digests differ", u, p.Of)
		}
		if contents[p.Digest] == nil {
			contents[p.Digest] = &content{}
		}
		contents[p.Digest].add(p)
	}
	for d, c := range contents {
		if c.originals > 1 || c.originals == 0 && c.exact > 0 {
			say("content %s has %d originals, %d exact and %d near copies", d, c.originals, c.exact, c.near)
		}
	}
	return faults
}

// content is how the pages with the same bytes were judged. One is the original and the others are its exact copies,
// unless those bytes are a near copy of something else: then all of them are.
type content struct{ originals, exact, near int }

func (c *content) add(p Record) {
	switch p.Similarity {
	case "":
		c.originals++
	case "exact":
		c.exact++
	default:
		c.near++
	}
}

// Differs lists where the results differ from those of another crawl of the same web. Which of several copies is
// the original depends on the order of the crawl; the bytes do not, but for pages that change.
func (r *Results) Differs(calm *Results, web *fakeweb.Web) (faults []string) {
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for u, want := range calm.Outcomes {
		if got, ok := r.Outcomes[u]; !ok || got != want {
			say("%s ended with %v (known: %v); undisturbed, with %v", u, got, ok, want)
		}
	}
	for u, got := range r.Outcomes {
		if _, ok := calm.Outcomes[u]; !ok {
			say("%s ended with %v; undisturbed, it was never heard of", u, got)
		}
	}
	for u, want := range calm.Pages {
		p, _ := web.Page(u)
		if got, ok := r.Pages[u]; !ok || p.ChangeEvery == 0 && (got.Digest != want.Digest || got.Title != want.Title) {
			say("%s is stored as %q %v; undisturbed, as %q %v", u, got.Title, got.Digest, want.Title, want.Digest)
		}
	}
	for u := range r.Pages {
		if _, ok := calm.Pages[u]; !ok {
			say("%s is stored; undisturbed, it is not", u)
		}
	}
	return faults
}

// ReadDirectory reads what `whirlpool crawl` left in its directory.
func ReadDirectory(dir string) (*Results, error) {
	r := NewResults()
	err := EachLine(filepath.Join(dir, "pages.jsonl"), func(line []byte) error {
		p, err := jsonl.ParseRecord(line)
		if err == nil {
			r.AddPage(p)
		}
		return err
	})
	return r, errors.Join(err, EachLine(filepath.Join(dir, "crawl.log"), func(line []byte) error {
		l, err := jsonl.ParseLogLine(line)
		if err == nil {
			r.AddLine(l)
		}
		return err
	}))
}

// AddLine notes what a line of crawl.log says about a URL. Robots.txt files and resources are asked for again whenever
// that is needed.
func (r *Results) AddLine(l *crawl.LogLine) {
	switch {
	case !l.Kind.InLedger():
	case l.Verdict == crawl.VerdictInterrupted:
		r.Interrupted++
	case l.Verdict.Final():
		r.AddOutcome(l.URL.String(), l.Verdict, l.Status)
	}
}

// EachLine calls use for each line of a file.
func EachLine(file string, use func(line []byte) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if err := use(lines.Bytes()); err != nil {
			return fmt.Errorf("%s, line %d: %w", file, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
