package fakeweb

import (
	"math"
	"sort"
)

// What the draws of package hash are for; each is independent of the others.
const (
	purposePool uint64 = iota + 1
	purposeHost
	purposeClass
	purposeDetail
	purposeCopy
	purposeLinks
	purposeText
	purposeTrap
	purposeChange
	purposeRetry
)

// Web is the description of a synthetic web. It is immutable and safe for concurrent use.
type Web struct {
	cfg    Config
	port   int // 0: none in URLs
	starts []int
	pools  []*pool
	sizes  [256]float64
	limits [numClasses]uint64 // upper ends of the classes in the range of a hash
}

// New makes the web of a configuration. It does not fail: [Config.Validate], which [Serve] and [Main] call, reports bad
// configurations. With too few hosts or pages it makes one of each.
func New(cfg Config) *Web {
	cfg.Hosts = max(cfg.Hosts, 1)
	cfg.Pages = max(cfg.Pages, cfg.Hosts)
	w := &Web{cfg: cfg, starts: spread(cfg.Hosts, cfg.Pages, cfg.PagesZipf), sizes: sizes()}
	langs := languages()
	for i := range langs {
		w.pools = append(w.pools, newPool(cfg.Seed, &langs[i]))
	}
	w.limits = w.classLimits()
	return w
}

// Config is what the web was made of.
func (w *Web) Config() Config { return w.cfg }

// WithPort is the same web with this port in every URL; 0 leaves the port out.
func (w *Web) WithPort(port int) *Web {
	v := *w
	v.port = port
	return &v
}

// spread gives every host one page and shares the others out in proportion to 1/rank^x. It returns the number of the
// first page of each host and, at the end, the number of pages.
func spread(hosts, pages int, x float64) []int {
	weight := make([]float64, hosts+1)
	for i := range hosts {
		weight[i+1] = weight[i] + math.Pow(float64(i+1), -x)
	}
	starts := make([]int, hosts+1)
	rest := float64(pages - hosts)
	for i := range starts {
		starts[i] = i + int(math.Round(rest*weight[i]/weight[hosts]))
	}
	return starts
}

// pageRef names a page of an ordinary host: its p-th.
type pageRef struct{ host, p int }

// id is the number of a page over all hosts.
func (w *Web) id(r pageRef) int { return w.starts[r.host] + r.p }

// page is the inverse of id.
func (w *Web) page(id int) pageRef {
	h := sort.SearchInts(w.starts, id+1) - 1
	return pageRef{h, id - w.starts[h]}
}

// pages is the number of pages of an ordinary host.
func (w *Web) pages(host int) int { return w.starts[host+1] - w.starts[host] }

// branch is how many pages an indexing page lists, and how many hosts a host. A million pages are six levels then.
const branch = 12

// internal reports whether other pages of the host are linked only from this one. Such pages are ordinary, so that
// every page stays reachable.
func (w *Web) internal(r pageRef) bool { return branch*r.p+1 < w.pages(r.host) }

// leaves is how many pages of a host hold no others up and are not its index.
func leaves(pages int) int {
	if pages < 2 {
		return 0
	}
	return pages - 1 - (pages-2)/branch
}

// level is the number of steps from the root of a tree to node n.
func level(n int) int {
	d := 0
	for ; n > 0; n = (n - 1) / branch {
		d++
	}
	return d
}

// section is the child of the host's index that leads to page p.
func section(p int) int {
	for p > branch {
		p = (p - 1) / branch
	}
	return p
}

// maxSeeds is how many hosts a crawl starts at: enough that it does not begin one host wide.
const maxSeeds = 16

// Seeds are the URLs from which every page that may be crawled is reachable by links, within 20 hops.
func (w *Web) Seeds() []string {
	var seeds []string
	for h := 0; h < w.cfg.Hosts && len(seeds) < maxSeeds; h++ {
		if !w.blocked(h) {
			seeds = append(seeds, w.Home(h))
		}
	}
	return seeds
}

// Home is the address of the index page of ordinary host h.
func (w *Web) Home(h int) string {
	return string(append(w.appendOrigin(nil, hostRef{ordinary, h}), '/'))
}

// HostName is the name of ordinary host h, without port.
func (w *Web) HostName(h int) string { return string(appendHost(nil, hostRef{ordinary, h})) }

func (w *Web) draw(purpose uint64, r pageRef) uint64 {
	return hash(w.cfg.Seed, purpose, uint64(r.host)<<40^uint64(r.p))
}
