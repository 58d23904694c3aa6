package cluster_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// standstill waits until the server has seen no request for so long.
func (c *cluster) standstill(srv *fakeweb.Server, still time.Duration) {
	c.t.Helper()
	c.standstillOr(srv, still, func() bool { return false })
}

// standstillOr is standstill, which ends earlier where something is true.
func (c *cluster) standstillOr(srv *fakeweb.Server, still time.Duration, early func() bool) {
	c.t.Helper()
	last, since := -1, time.Now()
	until(c.t, patience, "a standstill", func() bool {
		if n := srv.Log().Count(); n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > still || early()
	})
}

// The control of the tests that kill: a node that acknowledges messages before their effects, or a root before what
// grew from it, loses URLs, and the same checks find that. Each kill comes when a page is on its way to the parser. A
// node that does neither loses nothing by the same kills.
func TestNegativeControlAckBeforeTheEffect(t *testing.T) {
	for _, fault := range []string{faultAck, faultEarly, faultHeld} {
		t.Run(fault, func(t *testing.T) { t.Parallel(); acknowledges(t, fault) })
	}
}

// lostWords say in a node's log that URLs or pages were lost: it takes them back from the ledger by and by.
const lostWords = " were lost "

func acknowledges(t *testing.T, fault string) {
	long(t)
	ready(t)
	const pages, delay = 500, 20 * time.Millisecond
	w := &world{Srv: listen(t, webOf(pages, delay), 0), Delay: delay}
	c := newCluster(t, w.Srv, w.Job())
	p := c.startBroken(fault)
	c.seed()
	const kills = 4
	for i := range kills {
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() > (i+1)*pages/(2*kills) || c.stuck() })
		c.killedHolding(fault, p)
	}
	// A node looks for losses when it has nothing to do any more, before it ends a job.
	c.standstillOr(w.Srv, harness.Times(c.Slowness, 30*time.Second), func() bool {
		return c.inLogs(lostWords) > 0 || c.ended()
	})
	if fault == faultHeld {
		c.wait()
	}
	faults := slices.Concat(c.Results(c.job.ID).Untrue(w.Srv.Web()), c.leftovers())
	lost := 0
	for _, f := range faults {
		if strings.Contains(f, "lost") {
			lost++
		}
	}
	repaired := c.inLogs(lostWords)
	t.Logf("%d kills, %d faults found, %d URLs lost, %d losses taken back", len(c.Troubles), len(faults), lost, repaired)
	switch {
	case fault == faultHeld && (len(faults) > 0 || repaired > 0):
		t.Errorf("a node without a fault is harmed by %d kills: %d losses taken back, %q", len(c.Troubles), repaired, faults)
	case fault != faultHeld && lost+repaired == 0:
		t.Errorf("%d kills did no harm that the checks would see: %q", len(c.Troubles), faults)
	}
}

// holdFile is the file of holdVariable.
func (c *cluster) holdFile() string { return filepath.Join(c.Dir, "hold") }

// killedHolding kills a node whose bus is holding while a page is on its way to the parser, and starts it again.
func (c *cluster) killedHolding(what string, p *harness.Process) {
	c.t.Helper()
	held := heldName(c.holdFile())
	check(c.t, os.WriteFile(c.holdFile(), nil, 0o644))
	until(c.t, patience, "a page on its way to the parser", func() bool { return isThere(held) || c.stuck() })
	c.During(what+" killed", func() {
		p.Kill(c.t)
		check(c.t, errors.Join(os.Remove(c.holdFile()), os.Remove(held)))
		p.Start(c.t)
	})
}

// inLogs counts how often the programs wrote a text to their logs.
func (c *cluster) inLogs(text string) (n int) {
	c.t.Helper()
	check(c.t, filepath.WalkDir(c.Dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".log") {
			return err
		}
		log, err := os.ReadFile(path)
		n += strings.Count(string(log), text)
		return err
	}))
	return n
}

// The control of the check for politeness: a frontier that leases before what its predecessor leased has ended hurries
// hosts; one that waits does not. All hosts are leased at once here, and a narrow fetcher has begun few of the leases
// when the node is killed. Its successor begins the others at once, and each takes longer than a host's delay.
func TestNegativeControlFrontierThatDoesNotWait(t *testing.T) {
	long(t)
	ready(t)
	for _, fault := range []string{faultNone, faultHaste} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			const hosts, delay = 40, 200 * time.Millisecond
			cfg := fakeweb.Plain(hosts, 10*hosts)
			cfg.Delay, cfg.PageBytes = min(harness.Times(harness.Slowness(t), 2*time.Second), 20*time.Second), 4<<10
			w := &world{Srv: listen(t, cfg, 0), Delay: delay}
			job := w.Job()
			job.Politeness.IPDelay, job.IgnoreRobots = 0, true // a robots.txt is one more request a host
			job.Seeds = seedsOfEach(w.Srv.Web(), 3)
			c := newCluster(t, w.Srv, job, "WHIRLPOOL_FETCH_CONCURRENCY=2")
			p := c.startBroken(fault)
			c.seed()
			until(t, patience, "the first requests", func() bool { return w.Srv.Log().Count() > 0 || c.stuck() })
			p.Env = append(p.Env, "WHIRLPOOL_FETCH_CONCURRENCY=256")
			c.killed(fault, p)
			until(t, patience, "the leases of two frontiers", func() bool { return w.Srv.Log().Count() > 2*hosts || c.stuck() })
			p.CleanUp()
			found := map[fakeweb.ViolationKind]int{}
			for _, v := range fakeweb.CheckPoliteness(harness.EndWithTheClient(w.Srv.Log().Entries(), c.deaths),
				w.Srv.Web().Rules(delay, 0, harness.Times(c.Slowness, crawltest.Tolerance))) {
				found[v.Kind]++
			}
			t.Logf("violations %v", found)
			if fault == faultHaste && found[fakeweb.TooManyAtOnce] < hosts/4 || fault == faultNone && len(found) > 0 {
				t.Errorf("violations %v of a frontier with the fault %q", found, fault)
			}
		})
	}
}

// seedsOfEach returns so many pages of each host.
func seedsOfEach(web *fakeweb.Web, n int) (seeds []string) {
	count := map[string]int{}
	for p := range web.Pages {
		if count[p.Host]++; count[p.Host] <= n {
			seeds = append(seeds, p.URL)
		}
	}
	return seeds
}
