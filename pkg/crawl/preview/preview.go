// Package preview counts what an edit of a job would do to the URLs that the job knows: what of the queue would be
// dropped, what of the left-out would come back, and what was fetched and stays.
package preview

import (
	"cmp"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// Bounds of an answer. What is beyond maxNames is counted under Others.
const (
	Examples = 20
	maxNames = 10_000 // hosts or rules of a cell that are counted by name
	told     = 20     // of them
	maxShown = 2_000  // bytes of a URL or a rule
)

// Others is the name under which hosts and rules are counted that are too many.
const Others = "others"

// Answer is what an edit would do.
type Answer struct {
	Job     crawl.JobID    `json:"execution"`
	Epoch   uint32         `json:"epoch"` // of the revision that is edited
	Changes []crawl.Change `json:"changes"`
	// Exact says that all URLs were judged. If not, the figures are an estimate by a uniform sample.
	Exact    bool     `json:"exact"`
	Sampled  int64    `json:"sampled,omitempty"` // URLs that the estimate is made of
	Looked   int64    `json:"looked"`            // URLs that were judged for the exact answer, so far
	Of       int64    `json:"of"`                // about so many there are
	TookMS   int64    `json:"took_ms"`
	Queued   Row      `json:"queued"`
	LeftOut  Row      `json:"left_out"`
	Fetched  Row      `json:"fetched"`
	InFlight int64    `json:"in_flight"` // they are finished by the settings under which they were begun
	NewSeeds int      `json:"new_seeds,omitempty"`
	Warnings []string `json:"warnings"`
}

// Row is what would become of the URLs in one place.
type Row struct {
	URLs  int64 `json:"urls"`
	Stays Cell  `json:"stays"`
	// Drops are the queued URLs that would be dropped. Of fetched ones: what would not be wanted any more; they are kept.
	Drops  Cell `json:"drops"`
	Admits Cell `json:"admits"` // of what was left out; budgets count still
}

// Cell is what is alike.
type Cell struct {
	URLs     int64     `json:"urls"`
	Rules    []Count   `json:"rules"` // that decide; of what comes back: that had left it out. The largest first
	Hosts    []Count   `json:"hosts"`
	Examples []Example `json:"examples"` // by chance, always the same ones
}

// Count counts URLs.
type Count struct {
	Name string `json:"name"`
	URLs int64  `json:"urls"`
}

// Example is a URL.
type Example struct {
	URL  string `json:"url"`
	Rule string `json:"rule,omitempty"`
}

// Place is where a URL is.
type Place int

// The places.
const (
	Queued Place = iota
	LeftOut
	Fetched
	places
)

// Fate is what becomes of it.
type Fate int

// The fates.
const (
	Stays Fate = iota
	Drops
	Admits
	fates
)

// Tally counts URLs by place and fate. It is not for several goroutines at once.
type Tally struct {
	cells [places][fates]cell
	n     int64
}

type cell struct {
	urls         int64
	rules, hosts map[string]int64
	examples     []example // by hash, ascending
}

type example struct {
	hash uint64
	Example
}

// Add counts a URL. rule is what decides; empty: nothing does.
func (t *Tally) Add(p Place, f Fate, host, url, rule string) {
	t.n++
	c := &t.cells[p][f]
	c.urls++
	if c.hosts == nil {
		c.hosts, c.rules = map[string]int64{}, map[string]int64{}
	}
	name(c.hosts, host)
	if rule != "" {
		name(c.rules, rule)
	}
	c.keep(xxh3.HashString(url), url, rule)
}

// N is how many URLs were counted.
func (t *Tally) N() int64 { return t.n }

func name(m map[string]int64, key string) {
	if _, ok := m[key]; !ok && len(m) >= maxNames {
		key = Others
	}
	m[key]++
}

// keep keeps the URLs with the smallest hashes: a sample that does not depend on the order.
func (c *cell) keep(hash uint64, url, rule string) {
	full := len(c.examples) == Examples
	if full && hash >= c.examples[Examples-1].hash {
		return
	}
	at, known := slices.BinarySearchFunc(c.examples, hash, func(e example, h uint64) int { return cmp.Compare(e.hash, h) })
	if known {
		return
	}
	if full {
		c.examples = c.examples[:Examples-1]
	}
	c.examples = slices.Insert(c.examples, at,
		example{hash, Example{plaintext.Of(url, maxShown), plaintext.Of(rule, maxShown)}})
}

// Fill writes the counts into an answer. scale is what a counted URL of a place stands for: 1 if all were counted.
func (t *Tally) Fill(a *Answer, scale [3]float64) {
	for p, r := range []*Row{&a.Queued, &a.LeftOut, &a.Fetched} {
		row := Row{}
		for f, to := range []*Cell{&row.Stays, &row.Drops, &row.Admits} {
			*to = t.cells[p][f].told(scale[p])
			row.URLs += to.URLs
		}
		*r = row
	}
	a.Warnings = warnings(a)
}

func (c *cell) told(scale float64) Cell {
	out := Cell{URLs: scaled(c.urls, scale), Rules: counts(c.rules, scale), Hosts: counts(c.hosts, scale),
		Examples: []Example{}}
	for _, e := range c.examples {
		out.Examples = append(out.Examples, e.Example)
	}
	return out
}

func scaled(n int64, scale float64) int64 { return int64(float64(n)*scale + 0.5) }

func counts(m map[string]int64, scale float64) []Count {
	out := make([]Count, 0, len(m))
	for name, n := range m {
		out = append(out, Count{name, scaled(n, scale)})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Name, b.Name))
	})
	out = out[:min(len(out), told)]
	for i := range out {
		out[i].Name = plaintext.Of(out[i].Name, maxShown)
	}
	return out
}

// warnings says what should be thought of before the edit is applied.
func warnings(a *Answer) []string {
	out := []string{}
	if q := &a.Queued; q.URLs > 0 && 2*q.Drops.URLs > q.URLs {
		out = append(out, "More than half of the queue would be dropped.")
	}
	if q := &a.Queued; q.URLs > 0 && q.Drops.URLs == q.URLs && a.LeftOut.Admits.URLs == 0 && a.NewSeeds == 0 {
		out = append(out, "Nothing would be left to fetch: the crawl would end.")
	}
	return out
}

// Took notes how long it took.
func (a *Answer) Took(d time.Duration) { a.TookMS = d.Milliseconds() }
