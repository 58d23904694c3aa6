package tables

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Count is a row of the reports of media types and status codes: how many URLs were answered so, and with how many
// bytes.
type Count struct {
	URLs  int64  `json:"urls"`
	Bytes int64  `json:"bytes"`
	Name  string `json:"name"`
}

func (c *Count) cells() []string { return []string{number(c.URLs), number(c.Bytes), c.Name} }

// Reason is a row of the report of reasons.
type Reason struct {
	URLs    int64  `json:"urls"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Example string `json:"example"` // one of the URLs
}

func (r *Reason) cells() []string { return []string{number(r.URLs), r.Verdict, r.Reason, r.Example} }

// Seed is a row of the report of seeds.
type Seed struct {
	Code     int    `json:"code"`   // HTTP status; 0: none
	Status   string `json:"status"` // crawled or not-crawled
	Verdict  string `json:"verdict,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Seed     string `json:"seed"`
	Redirect string `json:"redirect,omitempty"`
}

func (s *Seed) cells() []string {
	return []string{strconv.Itoa(s.Code), s.Status, s.Verdict, s.Reason, s.Seed, s.Redirect}
}

// counts adds up by name. Servers choose the names: beyond maxNames of them the others share one row.
type counts map[string]*Count

const (
	maxNames   = 10_000
	otherNames = "(others)"
	noName     = "(none)"
)

func (c counts) add(name string, bytes int64) {
	name = cmp.Or(name, noName)
	row := c[name]
	if row == nil && len(c) >= maxNames {
		name = otherNames
		row = c[name]
	}
	if row == nil {
		row = &Count{Name: name}
		c[name] = row
	}
	row.URLs, row.Bytes = row.URLs+1, row.Bytes+bytes
}

// sorted are the rows, the most URLs first, then by name.
func (c counts) sorted() []*Count {
	out := make([]*Count, 0, len(c))
	for _, row := range c {
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b *Count) int { return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Name, b.Name)) })
	return out
}

type reasonKey struct {
	verdict crawl.Verdict
	reason  string
}

type reasons map[reasonKey]*Reason

func (r reasons) add(e *entry) {
	k := reasonKey{e.verdict, e.reason}
	row := r[k]
	if row == nil {
		row = &Reason{Verdict: e.verdict.String(), Reason: e.reason, Example: e.url}
		r[k] = row
	}
	row.URLs++
	row.Example = min(row.Example, e.url) // the same in every order of the lines
}

func (r reasons) sorted() []*Reason {
	out := make([]*Reason, 0, len(r))
	for _, row := range r {
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b *Reason) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// seeds are the rows of seeds by the keys of their URLs.
type seeds map[weburl.Key]*Seed

func newSeeds(urls []weburl.URL) seeds {
	out := make(seeds, len(urls))
	for _, u := range urls {
		out[u.Key()] = &Seed{Seed: u.String(), Status: notCrawled}
	}
	return out
}

// As Heritrix says it.
const (
	crawled    = "crawled"
	notCrawled = "not-crawled"
)

func (s seeds) outcome(e *entry) {
	row := s[e.key]
	if row == nil {
		return
	}
	row.Code, row.Verdict, row.Reason, row.Redirect = e.status, e.verdict.String(), e.reason, e.location
	if e.verdict == crawl.VerdictDone {
		row.Status = crawled
	}
}

// sorted are the seeds as Heritrix sorts them: those without a status first, then the highest status codes, then by
// URL.
func (s seeds) sorted() []*Seed {
	out := make([]*Seed, 0, len(s))
	for _, row := range s {
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b *Seed) int {
		none := func(s *Seed) int { return min(s.Code, 1) }
		return cmp.Or(cmp.Compare(none(a), none(b)), cmp.Compare(b.Code, a.Code), cmp.Compare(a.Seed, b.Seed))
	})
	return out
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
