package ringbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// links is how many links the pages have whose splitting is measured.
const links = 40

// splits measures what the host splitter takes for a URL, all of Handle, in nanoseconds of CPU time: of pages of which
// ten links lead to five other hosts, and of pages whose links all lead to hosts of their own.
func (s *web) splits(t *ring.Table, r *Result) error {
	h := hostsplitter.New(routerOf(t), nil)
	for _, c := range []struct {
		others int
		to     *float64
		shares *float64
	}{{5, &r.Split, &r.Shares}, {links, &r.Scattered, &r.ScatteredShares}} {
		pages, err := s.pages(c.others)
		if err != nil {
			return err
		}
		if *c.to, *c.shares, err = handleAll(h, pages); err != nil {
			return err
		}
	}
	return nil
}

// handleAll is the median of rounds.
func handleAll(h *hostsplitter.Handler, pages []*crawl.Filtered) (perURL, shares float64, err error) {
	const rounds = 7
	var took []float64
	n := 0
	for range rounds {
		began := cpuTime()
		for _, p := range pages {
			out, err := h.Handle(context.Background(), p)
			if err != nil {
				return 0, 0, err
			}
			n += len(out)
		}
		took = append(took, float64((cpuTime()-began).Nanoseconds())/float64(len(pages)*links))
	}
	slices.Sort(took)
	return took[rounds/2], float64(n) / float64(rounds*len(pages)), nil
}

// pages are as many as fit a processor's caches no more than real ones do. Ten links of each, or all, lead to so many
// other hosts.
func (s *web) pages(others int) ([]*crawl.Filtered, error) {
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([]*crawl.Filtered, 2000)
	for i := range out {
		own := s.hosts[rnd.IntN(len(s.hosts))]
		page, err := weburl.Parse(fmt.Sprintf("http://%s/%d", own, i))
		if err != nil {
			return nil, err
		}
		out[i] = &crawl.Filtered{Batch: crawl.Batch{Job: "bench", Page: page}}
		outside := max(others, 10)
		host := own
		for k := range links {
			if left := links - k; left <= outside && left%(outside/others) == 0 {
				host = s.hosts[rnd.IntN(len(s.hosts))]
			}
			u, err := weburl.Parse(fmt.Sprintf("http://%s/a/page-%d-%d", host, i, k))
			if err != nil {
				return nil, err
			}
			out[i].Tasks = append(out[i].Tasks,
				crawl.Task{Job: "bench", URL: u, Priority: crawl.DefaultPriority, Depth: 3, Referrer: page})
		}
	}
	return out, nil
}

// cpuTime is the process's, collection of garbage included.
func cpuTime() time.Duration {
	used, _ := system.ProcessorTime()
	return used
}

// router is what the host splitter asks.
type router struct{ ring.Router }

func routerOf(t *ring.Table) router {
	return router{ring.Router{Self: t.Nodes()[0].Name, Current: func() *ring.Table { return t }}}
}

// View implements hostsplitter.Owners.
func (r router) View() (hostsplitter.View, error) { return r.Router.View() }
