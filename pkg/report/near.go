package report

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Bounds of what is compared.
const (
	maxNear = 4_000_000 // records, about 100 bytes each and their URLs
	// records that share a quarter of their simhash and are compared, each with the 2,000 before it
	maxNearBlock = 2000
)

// NearPage is a page of a cluster of near-duplicates.
type NearPage struct {
	Job      string `json:"job"`
	URL      string `json:"url"`
	Distance int    `json:"distance"` // bits in which its simhash differs from the first page's
}

// NearCluster are pages whose texts are nearly the same.
type NearCluster struct {
	Size  int        `json:"size"`
	Jobs  int        `json:"jobs"`  // that have some of them
	Pages []NearPage `json:"pages"` // the first ones: one of each job first
}

// Near finds which pages of which jobs are near-duplicates. Pages are near where their simhashes differ in at most so
// many bits, 0 to 3, and a cluster is what is near by links of one page to the next: so its ends may differ in more.
// Simhashes tell less than the crawl's own judgement, which also asks what the texts share (Clusters of one job).
type Near struct {
	distance int
	jobs     []string
	pages    []nearPage
	skipped  int64
	full     bool
}

type nearPage struct {
	job     int32
	simhash uint64
	url     string
}

// NewNear begins a search.
func NewNear(distance int) (*Near, error) {
	if distance < 0 || distance > 3 {
		return nil, fmt.Errorf("distance %d: want 0 to 3 bits", distance)
	}
	return &Near{distance: distance}, nil
}

// Add adds the records of a job, a line each. A URL that a job visits again counts once, by its last record.
func (n *Near) Add(job string, lines io.Reader) error {
	at := int32(len(n.jobs))
	n.jobs = append(n.jobs, job)
	last := map[string]int{}
	return jsonl.EachRecord(lines, func(r *crawl.Record) error {
		url := r.URL.String()
		i, again := last[url]
		switch {
		case r.Simhash == 0: // it has no words
			n.skipped++
		case again:
			n.pages[i].simhash = r.Simhash
		case len(n.pages) >= maxNear:
			n.full = true
		default:
			last[url] = len(n.pages)
			n.pages = append(n.pages, nearPage{at, r.Simhash, url})
		}
		return nil
	})
}

// Pages is how many pages are compared, and how many are not, as they have no words.
func (n *Near) Pages() (compared, skipped int64) { return int64(len(n.pages)), n.skipped }

// Partial reports whether there were more records than can be compared.
func (n *Near) Partial() bool { return n.full }

// Clusters returns clusters of at least two pages, those with most pages first, of each so many pages at most. With
// across, only those that have pages of several jobs.
func (n *Near) Clusters(across bool, most, members int) []NearCluster {
	parent := n.unite()
	groups := map[int32][]int32{}
	for i := range n.pages {
		root := rootOf(parent, int32(i))
		groups[root] = append(groups[root], int32(i))
	}
	var out []NearCluster
	for _, g := range groups {
		if len(g) < 2 {
			continue
		}
		if c := n.cluster(g, members); !across || c.Jobs > 1 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b NearCluster) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Pages[0].URL, b.Pages[0].URL),
			cmp.Compare(a.Pages[0].Job, b.Pages[0].Job))
	})
	return out[:min(most, len(out))]
}

// unite joins pages that are near. Two simhashes that differ in at most three bits share a quarter of 16 bits.
func (n *Near) unite() []int32 {
	parent := make([]int32, len(n.pages))
	for i := range parent {
		parent[i] = int32(i)
	}
	order := make([]int32, len(n.pages))
	for quarter := range 4 {
		block := func(i int32) uint64 { return n.pages[i].simhash >> (16 * quarter) & 0xffff }
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortFunc(order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(block(a), block(b)), cmp.Compare(n.pages[a].simhash, n.pages[b].simhash),
				cmp.Compare(a, b))
		})
		for i := range order {
			for j := i - 1; j >= 0 && i-j <= maxNearBlock && block(order[j]) == block(order[i]); j-- {
				if bits.OnesCount64(n.pages[order[i]].simhash^n.pages[order[j]].simhash) <= n.distance {
					join(parent, order[i], order[j])
					if n.pages[order[i]].simhash == n.pages[order[j]].simhash {
						break // what is near to this one was found when it was looked at
					}
				}
			}
		}
	}
	return parent
}

func rootOf(parent []int32, i int32) int32 {
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}

// join makes the lower number the root, so that the same pages have the same clusters.
func join(parent []int32, a, b int32) {
	a, b = rootOf(parent, a), rootOf(parent, b)
	parent[max(a, b)] = min(a, b)
}

// cluster tells of a group, whose pages are in the order in which they were added.
func (n *Near) cluster(group []int32, members int) NearCluster {
	c := NearCluster{Size: len(group)}
	first := n.pages[group[0]].simhash
	var rest []NearPage
	seen := map[int32]bool{}
	for _, i := range group {
		p := &n.pages[i]
		page := NearPage{Job: n.jobs[p.job], URL: p.url, Distance: bits.OnesCount64(p.simhash ^ first)}
		if !seen[p.job] {
			seen[p.job] = true
			c.Pages = append(c.Pages, page)
		} else if len(rest) < members {
			rest = append(rest, page)
		}
	}
	c.Jobs = len(seen)
	c.Pages = append(c.Pages, rest...)
	c.Pages = c.Pages[:min(len(c.Pages), members)]
	return c
}
