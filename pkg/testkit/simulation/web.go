package simulation

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// web is hosts, their pages and links, made by a seeded function: nothing of it is kept but where each host's pages
// begin.
type web struct {
	cfg   *Config
	first []uint32 // number of a host's first page; one more, the number of all
}

func newWeb(cfg *Config) *web {
	hosts := cfg.Nodes * cfg.HostsANode
	urls := float64(cfg.Nodes * cfg.URLsANode)
	w := &web{cfg: cfg, first: make([]uint32, hosts+1)}
	largest := largestHost(hosts, urls, float64(cfg.MaxHost))
	for i := range hosts {
		size := min(max(largest/float64(i+1), 1), float64(cfg.MaxHost))
		w.first[i+1] = w.first[i] + uint32(size)
	}
	return w
}

// largestHost is what the first host would have without bound, so that all together have so many.
func largestHost(hosts int, urls, most float64) float64 {
	low, high := 1.0, urls*most
	for range 60 {
		mid, sum := math.Sqrt(low*high), 0.0
		for i := 1; i <= hosts; i = i + 1 + i/64 { // the rest of a step is like its first
			sum += min(max(mid/float64(i), 1), most) * float64(min(1+i/64, hosts-i+1))
		}
		if sum < urls {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

func (w *web) hosts() int { return len(w.first) - 1 }
func (w *web) pages() int { return int(w.first[w.hosts()]) }

// seeds is how many hosts are known at the beginning, and seed which the i-th is: they are of all sizes.
func (w *web) seeds() int     { return min(w.cfg.Nodes*w.cfg.SeedsANode, w.hosts()) }
func (w *web) seed(i int) int { return i * w.hosts() / w.seeds() }

// host returns which host a page is on.
func (w *web) host(page uint32) int {
	i, found := slices.BinarySearch(w.first, page)
	if found {
		return i
	}
	return i - 1
}

// hostNumber is the number of the host with a key.
func hostNumber(key string) int {
	n := 0
	for _, c := range []byte(key[1 : len(key)-len(".example")]) {
		n = 10*n + int(c-'0')
	}
	return n
}

// url is the URL of a page.
func (w *web) url(h int, page uint32) weburl.URL {
	b := append(make([]byte, 0, 48), "http://h"...)
	b = strconv.AppendInt(b, int64(h), 10)
	b = append(b, ".example/"...)
	b = strconv.AppendUint(b, uint64(page-w.first[h]), 10)
	u, err := weburl.ParseStored(b)
	if err != nil {
		panic(err) // this function wrote it
	}
	return u
}

// page is the number of a URL's page.
func (w *web) page(u weburl.URL) uint32 {
	n := uint32(0)
	for _, c := range []byte(u.Path()[1:]) {
		n = 10*n + uint32(c-'0')
	}
	return w.first[hostNumber(u.HostKey())] + n
}

// links are the pages that a page names, each once.
func (w *web) links(page uint32) []uint32 {
	h := w.host(page)
	r := mix(uint64(page) ^ w.cfg.Seed<<40)
	own := uint64(w.first[h+1] - w.first[h])
	out := make([]uint32, 0, w.cfg.Links)
	add := func(p uint32) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for i := range w.cfg.Links - w.cfg.Outside {
		r = mix(r + uint64(i))
		add(w.first[h] + uint32(r%own))
	}
	var other int
	for i := 0; i < w.cfg.Outside; i++ {
		r = mix(r + uint64(i))
		if i%max(w.cfg.Outside/w.cfg.OutsideHosts, 1) == 0 { // a page that is drawn from all: large hosts are linked to more
			other = w.host(uint32(r % uint64(w.pages())))
			r = mix(r)
			if int(r%1000) < w.cfg.Popular {
				add(w.first[w.wellKnown(mix(r))])
				i += max(w.cfg.Outside/w.cfg.OutsideHosts, 1) - 1
				continue
			}
		}
		add(w.first[other] + uint32(r%uint64(w.first[other+1]-w.first[other])))
	}
	return out
}

// wellKnown draws a host whose home page many link to, the k-th in proportion to 1/k. Hosts have their sizes in another
// order.
func (w *web) wellKnown(r uint64) int {
	u := float64(r>>11) / (1 << 53)
	k := uint64(math.Pow(float64(w.cfg.WellKnown+1), u)) - 1
	return int(mix(k^w.cfg.Seed<<42) % uint64(w.hosts()))
}

// answer is how long a request takes and whether it fails: mostly the mean, seldom ten times as long.
func (w *web) answer(page uint32, attempt int) (took time.Duration, fails bool) {
	r := mix(uint64(page)<<8 ^ uint64(attempt) ^ w.cfg.Seed<<41)
	u := (float64(r>>11) + 0.5) / (1 << 53)
	took = min(time.Duration(-math.Log(u)*float64(w.cfg.Answer)),
		10*w.cfg.Answer).Round(time.Millisecond) + time.Millisecond
	return took, int(mix(r)%1000) < w.cfg.Failing
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
