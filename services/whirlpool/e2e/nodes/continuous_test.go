package nodes_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/livingweb"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// Nodes visit pages again: one joins, one dies for good and comes back as an empty one. No visit is made twice, no page
// is forgotten, and the records are what was fetched last.
func TestContinuousWhileNodesComeAndGo(t *testing.T) {
	long(t)
	ready(t)
	at := docsSite
	if errNoSpace != nil {
		at = "127.0.0.1"
	}
	p := quick(t)
	srv := crawltest.Living(t, at, p.slowness)
	c := newCluster(t, listen(t, fakeweb.Plain(1, 1), 0), p)
	c.startContinuous(srv, 1, 2)
	until(t, patience, "a ring of two nodes", func() bool { return c.history.settled(2) || c.stuck() })
	job := crawltest.LivingJob(srv, 120)
	c.seed(job)
	crawltest.Fetched(t, srv, 2, c.stuck)
	c.startContinuous(srv, 3)
	until(t, patience, "a ring of three nodes", func() bool { return c.history.settled(3) || c.stuck() })
	crawltest.Fetched(t, srv, 2, c.stuck)
	dead := c.nodes[2]
	for _, p := range dead.programs {
		p.Kill(t)
	}
	until(t, patience, "a ring without the dead node", func() bool { return c.history.settled(2) || c.failed(dead) })
	crawltest.Fetched(t, srv, 2, func() bool { return c.failed(dead) })
	for _, p := range dead.programs { // what its broker holds is old by now
		p.Start(t)
	}
	until(t, patience, "a ring of three nodes again", func() bool { return c.history.settled(3) || c.stuck() })
	crawltest.Fetched(t, srv, 2, c.stuck)
	c.whirlpool(c.alive()[0], "pause", "--cluster", "--job", string(job.ID))
	<-time.After(3 * time.Second) // the frontiers look for that each two seconds
	until(t, patience, "a moment in which nothing is under way",
		func() bool { return len(crawltest.OnTheWay(c.queued())) == 0 || c.stuck() })
	faults, visits := c.VisitedOnce(job.ID, srv)
	report(t, "visits", faults)
	if visits < 8*len(srv.URLs()) {
		t.Errorf("%d visits of %d pages: too few to prove much", visits, len(srv.URLs()))
	}
	// The audit may not prove everything: not all brokers need answer where it is asked.
	text, _ := c.command(c.alive()[0], "audit", "--cluster", "--job", string(job.ID))
	if !strings.Contains(text, "no page is forgotten") || strings.Contains(text, "WRONG") {
		t.Errorf("audit:\n%s", text)
	}
	c.whirlpool(c.alive()[0], "resume", "--cluster", "--job", string(job.ID))
	crawltest.Fetched(t, srv, 1, c.stuck) // none is forgotten
}

// startContinuous makes nodes and starts a program on each whose calendar is that of the web.
func (c *cluster) startContinuous(srv *livingweb.Server, ns ...int) {
	c.t.Helper()
	self, err := os.Executable()
	check(c.t, err)
	for _, n := range ns {
		c.add(c.node(n), "node", self, nil, crawltest.CalendarEnv(srv.Calendar())).Start(c.t)
	}
}

// failed is stuck while a node is down.
func (c *cluster) failed(down *machine) bool {
	down.gone = true
	defer func() { down.gone = false }()
	return c.stuck()
}
