package cluster_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/appweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// appSize is how many pages the application has: some 100 requests.
const appSize = 16

// Whenever the renderer, its browser, or all programs are killed, an application is found whole: with the texts and
// links that one machine finds. No request is made but the fetcher's, and no browser is left.
func TestRenderingSurvivesKills(t *testing.T) {
	long(t)
	harness.NeedBrowser(t)
	ready(t)
	want := crawltest.AppAlone(t, filepath.Join(programs, "whirlpool"), "127.0.0.1", appSize)
	w := crawltest.ServeApp(t, "127.0.0.1", appSize)
	c := newCluster(t, crawltest.Listen(t, fakeweb.Plain(1, 1), fakeweb.Options{}), w.Job(0))
	c.startSeven()
	c.seed()
	const browser, all = "browser", "all programs"
	victims := []string{"renderer", browser, all}
	done := map[string]int{}
	c.killedDuring(w, harness.Number(t, "WHIRLPOOL_E2E_RENDER_KILLS", len(victims)), func(i int) {
		switch victim := victims[i%len(victims)]; victim {
		case browser: // it is started with the first page
			until(t, patience, "a browser", func() bool {
				n := harness.KillBrowsers(c.program("renderer").PID())
				done[victim] += n
				return n > 0 || c.ended() || c.stuck()
			})
		case all:
			c.killed(victim, c.programs...)
			done[victim]++
		default:
			c.killed(victim, c.program(victim))
			done[victim]++
		}
	})
	report(t, "pages", want.Differs(c.AppPages(w, c.job.ID)))
	report(t, "requests that nobody may make", w.Faults("whirlpool-e2e", 0))
	report(t, "final state", c.leftovers())
	t.Log(c.whirlpool("audit", "--cluster", "--job", string(c.job.ID)))
	for _, p := range c.programs {
		p.Stop(t)
	}
	if left := harness.LostBrowsers(time.Minute); len(left) > 0 {
		t.Errorf("browsers are left: %v", left)
	}
	t.Logf("killed: %v", done)
}

// killedDuring acts so many times during a crawl of an application, each time after a random part of its requests, and
// waits until the job has ended and nothing of it is under way.
func (c *cluster) killedDuring(w *appweb.Web, times int, act func(i int)) {
	c.t.Helper()
	var targets []int
	for range times {
		targets = append(targets, 1+rand.IntN(6*appSize))
	}
	slices.Sort(targets)
	for i, target := range targets {
		until(c.t, patience, "requests", func() bool { return w.Requests() >= target || c.ended() || c.stuck() })
		if c.t.Failed() || c.ended() {
			break
		}
		<-time.After(rand.N(100 * time.Millisecond)) // off the beat of the server's log
		act(i)
	}
	c.wait()
	within(patience, c.settled)
}
