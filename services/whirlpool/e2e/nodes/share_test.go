package nodes_test

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// Three nodes of one ring share 300 hosts and a site of documents: together they find what one machine finds, each host
// is fetched by its owner and nobody else, and nothing is left behind on any of them.
func TestThreeNodesShareTheHostsAndFindWhatOneMachineFinds(t *testing.T) {
	w := serve(t, 100*time.Millisecond)
	docs := serveDocs(t)
	alone := crawltest.CrawlAlone(t, filepath.Join(programs, "whirlpool"), docs.job(), w.Srv.DNSAddr())
	t.Logf("one machine found %d documents", len(alone.Pages))
	if len(alone.Pages) < docs.least {
		t.Fatalf("one machine found %d documents, want %d at least", len(alone.Pages), docs.least)
	}
	clear(docs.asked)
	c := newCluster(t, w.Srv, calm(t))
	c.start(1, 2, 3)
	until(t, patience, "a ring of three nodes", func() bool { return c.history.settled(3) || c.stuck() })
	epoch := c.history.now().Epoch()
	began := time.Now()
	c.seed(jobFor(w.Srv, w.Delay))
	c.seed(docs.job())
	c.wait("e2e")
	c.wait("docs")
	t.Logf("three nodes took %v", time.Since(began).Round(time.Millisecond))
	c.judge(w)
	report(t, "documents", c.Results("docs").Differs(alone, w.Srv.Web()))
	c.sound("docs")
	if now := c.history.now().Epoch(); now != epoch {
		t.Errorf("the ring changed from epoch %d to %d, though nothing happened to it", epoch, now)
	}
	c.wantShares(w)
	c.wantConnections(2) // one for each vhost
	docs.wantOneNode(t, c)
	for _, m := range c.alive() {
		for _, p := range m.programs {
			p.Stop(t)
		}
	}
}

// wantShares compares what each node did with its share of the ring: it owns a third of the virtual nodes, to one; it
// fetched each host that the table gives it and no other; and chance alone, which hashing is, tells the number of hosts
// from a third of all (four standard deviations of a binomial distribution).
func (c *cluster) wantShares(w *world) {
	c.t.Helper()
	table := c.history.now()
	assigned, assignedPages := map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	for p := range w.Srv.Web().Pages {
		owner := vnodeOf(c.t, table, p.URL).Owner
		if !seen[p.Host] {
			seen[p.Host] = true
			assigned[owner]++
		}
		if !p.Disallowed {
			assignedPages[owner]++
		}
	}
	fetched, pages := c.fetched(w)
	for name, n := range owners(table) {
		c.t.Logf("%s: %d virtual nodes of %d; %d hosts assigned, %d fetched; %d pages assigned, %d fetched", name, n,
			table.Len(), assigned[name], fetched[name], assignedPages[name], pages[name])
		if n < table.Len()/3 || n > table.Len()/3+1 {
			c.t.Errorf("%s owns %d virtual nodes of %d, want a third", name, n, table.Len())
		}
		if errNoSpace == nil && (fetched[name] != assigned[name] || pages[name] != assignedPages[name]) {
			c.t.Errorf("%s fetched %d hosts and %d pages, want the %d and %d that the ring gives it", name, fetched[name],
				pages[name], assigned[name], assignedPages[name])
		}
		const third = 1. / 3
		if deviation := math.Sqrt(hosts * third * (1 - third)); math.Abs(float64(assigned[name])-hosts*third) > 4*deviation {
			c.t.Errorf("%s has %d hosts of %d, more than chance explains", name, assigned[name], hosts)
		}
	}
}

// fetched counts the hosts of the web that each node contacted, and the different pages that it asked for.
func (c *cluster) fetched(w *world) (hosts, pages map[string]int) {
	hosts, pages = map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	first := func(key string) bool {
		defer func() { seen[key] = true }()
		return !seen[key]
	}
	for _, e := range w.Srv.Log().Entries() {
		who := asker(e)
		if first(who + " " + e.Host) {
			hosts[who]++
		}
		if _, page := w.Srv.Web().Page("http://" + e.Host + e.Path); page && first(who+" "+e.Host+e.Path) {
			pages[who]++
		}
	}
	return hosts, pages
}

// wantOneNode fails the test where another node than the site's owner asked for documents.
func (s *site) wantOneNode(t *testing.T, c *cluster) {
	t.Helper()
	if errNoSpace != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := vnodeOf(t, c.history.now(), s.url).Owner
	for from, n := range s.asked {
		if who := asker(fakeweb.Entry{Remote: from + ":0"}); who != owner {
			t.Errorf("%s asked for documents %d times; they belong to %s", who, n, owner)
		}
	}
	if len(s.asked) == 0 {
		t.Error("nobody asked for documents")
	}
}
