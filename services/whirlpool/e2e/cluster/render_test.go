package cluster_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// appSize is how many pages the application has.
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
	over := func() bool { return c.ended() || c.stuck() }
	crawltest.TroubleApp(t, w, appSize, harness.Number(t, "WHIRLPOOL_E2E_RENDER_KILLS", len(victims)), over, func(i int) {
		switch victim := victims[i%len(victims)]; victim {
		case browser: // it is started with the first page
			renderer := c.program("renderer").PID()
			until(t, patience, "a browser", func() bool { return harness.HasBrowser(renderer) || over() })
			time.Sleep(rand.N(2 * time.Second)) // an instant of its life, not always its start
			if n := harness.KillBrowsers(renderer); n > 0 {
				done[victim] += n
			}
		case all:
			c.killed(victim, c.programs...)
			done[victim]++
		default:
			c.killed(victim, c.program(victim))
			done[victim]++
		}
	})
	c.wait()
	within(patience, c.settled)
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
	if t.Logf("killed: %v", done); len(done) == 0 {
		t.Error("nothing was killed before the job had ended: the test proves nothing")
	}
}
