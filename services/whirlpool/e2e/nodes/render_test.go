package nodes_test

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

// Three nodes share an application and plain pages. The node that has the application, and its browser, are killed: the
// application is found whole, with the texts and links that one machine finds.
func TestRenderingOfThreeNodesSurvivesKills(t *testing.T) {
	harness.NeedBrowser(t)
	ready(t)
	const size = 16
	at := docsSite
	if errNoSpace != nil {
		at = "127.0.0.1"
	}
	want := crawltest.AppAlone(t, filepath.Join(programs, "whirlpool"), at, size)
	w := crawltest.ServeApp(t, at, size)
	c := newCluster(t, listen(t, fakeweb.Plain(1, 1), 0), calm(t))
	c.start(1, 2, 3)
	until(t, patience, "a ring of three nodes", func() bool { return c.history.settled(3) || c.stuck() })
	job := w.Job(0)
	owner := vnodeOf(t, c.history.now(), w.URL(appweb.App, "/")).Owner
	i := slices.IndexFunc(c.machines(), func(m *machine) bool { return m.name == owner })
	p := c.machines()[i].programs[0]
	c.seed(job)
	nodes, browsers := 0, 0
	over := func() bool { return c.Ended(job.ID) || c.stuck() }
	crawltest.TroubleApp(t, w, size, harness.Number(t, "WHIRLPOOL_E2E_RENDER_KILLS", 2), over, func(i int) {
		if i%2 == 0 {
			c.During("node killed", func() { p.Kill(t); p.Start(t) })
			nodes++
			return
		}
		until(t, patience, "a browser", func() bool {
			return harness.HasBrowser(p.PID()) ||
				over()
		}) // it is started with the first page
		time.Sleep(rand.N(2 * time.Second)) // an instant of its life, not always its start
		browsers += harness.KillBrowsers(p.PID())
	})
	c.wait(job.ID)
	c.sound(job.ID)
	report(t, "pages", want.Differs(c.AppPages(w, job.ID)))
	report(t, "requests that nobody may make", w.Faults("whirlpool-e2e", 0))
	if t.Logf("%s killed %d times, %d of its browsers", owner, nodes, browsers); nodes == 0 {
		t.Error("no node was killed before the job had ended: the test proves nothing")
	}
}
