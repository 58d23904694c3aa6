package nodes_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// startAPI starts two copies of the program that conducts workflows, in the network that all nodes reach, with the
// broker of the first.
func (c *cluster) startAPI() *crawltest.API {
	c.t.Helper()
	return c.StartAPI(func(name string, env ...string) *harness.Process {
		p := &harness.Process{Name: name, Exe: filepath.Join(programs, "api"), Env: slices.Concat(c.nodes[1].env, env),
			Log: filepath.Join(c.Dir, name+".log")}
		c.t.Cleanup(p.CleanUp)
		return p
	})
}

// An execution of a workflow that three nodes crawl is paused, resumed, stopped and resumed, while nodes and the
// programs that conduct are killed: it ends as a crawl that nobody disturbed. While a broker does not answer, all else
// is shown.
func TestAWorkflowOfThreeNodesSurvivesKills(t *testing.T) {
	p := calm(t)
	if errNoSpace != nil {
		t.Skip("brokers of one network have several ports, and the programs take them to have one:", errNoSpace)
	}
	w := serve(t, harness.Times(p.slowness, 600*time.Millisecond))
	c := newCluster(t, w.Srv, p)
	c.start(1, 2, 3)
	until(t, patience, "a ring of three nodes", func() bool { return c.history.settled(3) || c.stuck() })
	a := c.startAPI()
	const workers = 37
	crawltest.Ask(a, "a setting of one node", func(cl *client.Client) (any, error) {
		return nil, cl.ChangeSetting(t.Context(), "workers.fetcher@"+c.nodes[2].name, strconv.Itoa(workers))
	})
	until(t, patience, "the second node goes by a setting of its own", func() bool {
		have := map[string]int{}
		for _, g := range crawltest.Ask(a, "agents",
			func(cl *client.Client) ([]api.Agent, error) { return cl.Agents(t.Context()) }) {
			have[g.Node] = g.Workers["fetcher"]
		}
		return have["n2"] == workers && have["n1"] > 0 && have["n1"] != workers && have["n3"] == have["n1"]
	})
	job := jobFor(w.Srv, w.Delay)
	job.ID = "wished"
	id := a.Create(job)
	wisher := crawltest.Wish(t, crawltest.Wished{id: {workflow.Pause, workflow.Run, workflow.Stop, workflow.Run}},
		a.Clients...)
	mend := cutFromManagement(t, 2)
	until(t, patience, "the execution is shown, though a broker does not answer", func() bool {
		x := a.Execution(id)
		return x.Progress != nil && x.Progress.Away == c.nodes[2].name
	})
	mend()
	kills := harness.Number(t, "WHIRLPOOL_E2E_KILLS", 6)
	for i := range kills {
		target := w.Requests * (i + 1) / (kills + 2)
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= target || wisher.Over() || c.stuck() })
		<-time.After(rand.N(harness.Times(p.slowness, 500*time.Millisecond))) // off the beat of the server's log
		victims, what := a.Copies, "both copies of the api"
		if i%2 == 0 {
			m := c.alive()[rand.IntN(3)]
			victims, what = m.programs, m.name
		}
		c.During(what+" killed", func() {
			for _, p := range victims {
				p.Kill(t)
			}
			for _, p := range victims {
				p.Start(t)
			}
		})
	}
	until(t, patience, "the execution to end", func() bool { return wisher.Over() || c.stuck() })
	c.judgeJob(w, id)
	a.Judge(id, len(c.Results(id).Pages))
	t.Logf("%d kills, wishes %v", len(c.Troubles), wisher.Met())
	if n := len(wisher.Met()); n < 4 {
		t.Errorf("only %d wishes were met: the test proves little", n)
	}
}
