package report

import (
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// HitsBy says what links are counted by.
type HitsBy string

// What links can be counted by.
const (
	ByHost   HitsBy = "host"
	ByDomain HitsBy = "domain" // registrable, as in example.co.uk
	ByURL    HitsBy = "url"
)

// maxHitKeys is of how many hosts, domains or URLs links are counted at once. With more, counts are those of the
// Space-Saving algorithm (Metwally, Agrawal and El Abbadi, Efficient Computation of Frequent and Top-k Elements in Data
// Streams, 2005): too high by Hit.Error at most, and none that has more than a maxHitKeys-th of all hits is missing.
const maxHitKeys = 1 << 19

// Hit is how often stored pages link to something.
type Hit struct {
	Key    string `json:"key"`
	Hits   int64  `json:"hits"`            // pages that link to it; a page counts once
	Others int64  `json:"others"`          // of them, pages of other hosts (of a domain: other domains)
	Error  int64  `json:"error,omitempty"` // Hits may be too high by so much
	Pages  int64  `json:"pages"`           // stored pages of it
}

// Hits are the most linked of all.
type Hits struct {
	By    HitsBy `json:"by"`
	Pages int64  `json:"pages"` // that were read
	Links int64  `json:"links"` // hits of all
	Keys  int64  `json:"keys"`  // that were hit; 0: more than can be counted
	Top   []Hit  `json:"top"`   // the most linked first
}

// CountHits reads records, a line each, and counts which hosts, domains or URLs their links lead to. It returns the top
// most linked. Memory is bounded: about 200 MB for URLs of any number.
func CountHits(lines io.Reader, by HitsBy, top int) (*Hits, error) {
	return countHits(lines, by, top, maxHitKeys)
}

func countHits(lines io.Reader, by HitsBy, top, room int) (*Hits, error) {
	if by != ByHost && by != ByDomain && by != ByURL {
		return nil, fmt.Errorf("hits by %q: want host, domain or url", by)
	}
	c := &hitCount{by: by, room: room, at: map[string]*counted{}, pages: map[string]int64{}}
	err := jsonl.EachRecord(lines, func(r *crawl.Record) error { c.add(r); return nil })
	return &Hits{By: by, Pages: c.read, Links: c.all, Keys: c.keys(), Top: c.top(top)}, err
}

// hitCount counts. Its heap has what has least first.
type hitCount struct {
	by        HitsBy
	room      int
	at        map[string]*counted
	heap      leastHits
	pages     map[string]int64
	read, all int64
	full      bool
	seen      map[string]bool // of the page
}

type counted struct {
	Hit
	place int
}

func (c *hitCount) key(u weburl.URL) string {
	switch c.by {
	case ByHost:
		return u.HostKey()
	case ByDomain:
		return u.RegistrableDomain()
	}
	return u.String()
}

func (c *hitCount) add(r *crawl.Record) {
	c.read++
	if own := c.key(r.URL); len(c.pages) < c.room || c.pages[own] > 0 {
		c.pages[own]++
	}
	c.seen = make(map[string]bool, len(r.Links))
	for i := range r.Links {
		u := r.Links[i].URL
		key := c.key(u)
		if u.IsZero() || key == "" || c.seen[key] {
			continue
		}
		c.seen[key] = true
		other := u.HostKey() != r.URL.HostKey()
		if c.by == ByDomain {
			other = u.RegistrableDomain() != r.URL.RegistrableDomain()
		}
		c.hit(key, other)
	}
}

func (c *hitCount) hit(key string, other bool) {
	c.all++
	e := c.at[key]
	switch {
	case e != nil:
	case len(c.at) < c.room:
		e = &counted{Hit: Hit{Key: key}}
		c.at[key] = e
		heap.Push(&c.heap, e)
	default: // it takes the place of what has least, with its count
		c.full = true
		e = c.heap[0]
		delete(c.at, e.Key)
		e.Key, e.Error, e.Others = key, e.Hits, 0
		c.at[key] = e
	}
	if e.Hits++; other {
		e.Others++
	}
	heap.Fix(&c.heap, e.place)
}

func (c *hitCount) keys() int64 {
	if c.full {
		return 0
	}
	return int64(len(c.at))
}

func (c *hitCount) top(n int) []Hit {
	out := make([]Hit, 0, len(c.heap))
	for _, e := range c.heap {
		out = append(out, e.Hit)
	}
	slices.SortFunc(out, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.Key, b.Key)) })
	out = out[:min(n, len(out))]
	for i := range out {
		out[i].Pages = c.pages[out[i].Key]
	}
	return out
}

// leastHits is a heap.
type leastHits []*counted

func (h leastHits) Len() int           { return len(h) }
func (h leastHits) Less(i, j int) bool { return h[i].Hits < h[j].Hits }
func (h leastHits) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *leastHits) Push(x any) {
	e, _ := x.(*counted)
	e.place = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *leastHits) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}
