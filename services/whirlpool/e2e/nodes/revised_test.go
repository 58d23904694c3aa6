package nodes_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// The job of three nodes is narrowed to half of the hosts and widened again, with another version of a plug-in each
// time, and nodes are killed around each revision. In the end all is found that one machine finds, once, and each
// record went through the version of the plug-in that its revision names.
func TestRevisionsOfThreeNodesSurviveKills(t *testing.T) {
	p := calm(t)
	w := serve(t, harness.Times(p.slowness, 600*time.Millisecond))
	c := newCluster(t, w.Srv, p, "WHIRLPOOL_PLUGINS_STORE=postgres",
		"WHIRLPOOL_PLUGINS_DIR="+filepath.Join(t.TempDir(), "plugins"))
	c.start(1, 2, 3)
	versions := []string{"1.0.0", "1.1.0", "1.0.1"}
	for _, v := range versions {
		c.whirlpool(c.alive()[0], "plugin", "push", "--untested", "--cluster", wasmtest.Version(t, "shop/v@"+v, v))
		c.whirlpool(c.alive()[0], "plugin", "approve", "--cluster", "shop/v@"+v)
	}
	until(t, patience, "a ring of three nodes", func() bool { return c.history.settled(3) || c.stuck() })
	job := jobFor(w.Srv, w.Delay)
	through := func(version string) crawl.Pipeline {
		return crawl.Pipeline{Nodes: []crawl.PluginNode{{ID: "v", At: crawl.AtDocument, Use: "shop/v@" + version,
			Timeout: crawl.Duration(crawl.MaxPluginTime)}}} // the machine is busy with starts
	}
	job.Pipeline = through(versions[0])
	c.seed(job)
	kills := harness.Number(t, "WHIRLPOOL_E2E_KILLS", 4)
	for i, exclude := range [][]string{{`^https?://[^/]*site-\d*[13579]\.test`}, nil} {
		target := w.Requests * (i + 1) / 4
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= target || c.Ended(job.ID) || c.stuck() })
		job.Pipeline, job.Exclude = through(versions[i+1]), exclude
		file, revised := crawltest.WriteJob(t, c.Dir, job), make(chan error, 1)
		go func() {
			_, err := c.command(c.alive()[0], "seed", "-c", file, "--job", string(job.ID), "--cluster")
			revised <- err
		}()
		for range max(kills/2, 1) { // while it is stored, when it applies, when queued tasks are judged again, in the sweep
			time.Sleep(rand.N(harness.Times(p.slowness, 1500*time.Millisecond))) // an instant of its own
			m := c.alive()[rand.IntN(3)]
			c.During(m.name+" killed", func() {
				for _, p := range m.programs {
					p.Kill(t)
				}
				for _, p := range m.programs {
					p.Start(t)
				}
			})
		}
		check(t, <-revised)
	}
	c.wait(job.ID)
	c.judge(w)
	faults, records := c.Swapped(job.ID, versions...)
	report(t, "plug-ins", faults)
	t.Logf("records by version %v, %d kills", records, len(c.Troubles))
	if records[versions[0]] == 0 || records[versions[2]] == 0 {
		t.Error("the revisions came before or after the crawl: the test proves nothing")
	}
}
