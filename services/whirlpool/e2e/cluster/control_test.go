package cluster_test

import (
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
	last, since := -1, time.Now()
	until(c.t, patience, "a standstill", func() bool {
		if n := srv.Log().Count(); n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > still
	})
}

// The control of the tests that kill: a node that acknowledges messages before their effects, or a root before what
// grew from it, loses URLs, and the same checks find that.
func TestNegativeControlAckBeforeTheEffect(t *testing.T) {
	for _, fault := range []string{faultAck, faultEarly} {
		t.Run(fault, func(t *testing.T) { t.Parallel(); acknowledgesTooSoon(t, fault) })
	}
}

// lostWords say in a node's log that URLs or pages were lost: it takes them back from the ledger by and by.
const lostWords = " were lost "

func acknowledgesTooSoon(t *testing.T, fault string) {
	long(t)
	ready(t)
	const pages, delay = 500, 20 * time.Millisecond
	w := &world{Srv: listen(t, webOf(pages, delay), 0), Delay: delay}
	c := newCluster(t, w.Srv, w.Job())
	p := c.startBroken(fault)
	c.seed()
	const most = 16 // a kill does harm only where a message was under way: most do, on a busy machine fewer
	for i := 0; i < most && (i < 4 || c.inLogs(lostWords) == 0); i++ {
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() > (i+1)*pages/(most+4) || c.stuck() })
		c.killed(fault, p)
	}
	c.standstill(w.Srv, harness.Times(c.Slowness, 6*time.Second))
	faults := slices.Concat(c.Results(c.job.ID).Untrue(w.Srv.Web()), c.leftovers())
	lost := 0
	for _, f := range faults {
		if strings.Contains(f, "lost") {
			lost++
		}
	}
	repaired := c.inLogs(lostWords)
	t.Logf("%d faults found, %d URLs lost, %d losses taken back", len(faults), lost, repaired)
	if lost+repaired == 0 {
		t.Errorf("%d kills did no harm that the checks would see: %q", len(c.Troubles), faults)
	}
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
			for _, v := range fakeweb.CheckPoliteness(harness.EndWithTheClient(w.Srv.Log().Entries(), c.deaths), w.Srv.Web().Rules(delay, 0, harness.Times(c.Slowness, crawltest.Tolerance))) {
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
