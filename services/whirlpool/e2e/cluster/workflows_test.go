package cluster_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// startAPI starts two copies of the program that conducts workflows.
func (c *cluster) startAPI() *crawltest.API {
	return c.StartAPI(func(name string, env ...string) *harness.Process {
		return c.add(name, filepath.Join(programs, "api"), nil, env...)
	})
}

// Two executions of workflows are crawled by eight programs, of which each is killed, that which conducts as well: one
// is paused, resumed, stopped and resumed, the other is widened by a revision. Both end as crawls that nobody
// disturbed, their events have neither gaps nor doubles, and no host is hurried.
func TestWorkflowsSurviveKills(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startSeven()
	a := c.startAPI()
	wished, widened := w.Job(), w.Job()
	wished.ID, widened.ID = "wished", "widened"
	widened.Exclude = []string{`^https?://[^/]*site-\d*[13579]\.test`}
	all := []crawl.JobID{a.Create(wished), a.Create(widened)}
	wisher := crawltest.Wish(t, crawltest.Wished{all[0]: {workflow.Pause, workflow.Run, workflow.Stop, workflow.Run},
		all[1]: nil}, a.Clients...)

	const everything = "all programs"
	victims := append(slices.Clone(harness.Names), a.Copies[0].Name, a.Copies[1].Name, everything)
	rand.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	kills := harness.Number(t, "WHIRLPOOL_E2E_KILLS", len(victims))
	for i := range kills {
		target := 2 * w.Requests * (i + 1) / (kills + 3) // of those that both make
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= target || wisher.Over() || c.stuck() })
		<-time.After(rand.N(200 * time.Millisecond)) // off the beat of the server's log
		switch name := victims[i%len(victims)]; {
		case i == kills/3:
			c.reviseBesideAKill(a, all[1])
		case name == everything:
			c.killed(name, c.programs...)
		default:
			c.killed(name, c.program(name))
		}
	}
	until(t, patience, "both executions to end", func() bool { return wisher.Over() || c.stuck() })
	for _, id := range all {
		c.job.ID = id
		c.judge(w)
		a.Judge(id, len(c.Results(id).Pages))
	}
	t.Logf("%d kills, wishes %v", len(c.Troubles), wisher.Met())
	if n := len(wisher.Met()); n < 4 {
		t.Errorf("only %d wishes were met: the test proves little", n)
	}
	if n := a.Revisions(all[1]); n != 2 {
		t.Errorf("there are %d revisions; want 2", n)
	}
}

// reviseBesideAKill takes away what an execution excludes, while the copy of the api that is asked is killed.
func (c *cluster) reviseBesideAKill(a *crawltest.API, id crawl.JobID) {
	c.t.Helper()
	revised := make(chan struct{})
	go func() {
		defer close(revised)
		_, _ = a.Clients[0].Revise(c.t.Context(), id, everywhere) // whatever comes of it: what is stored is looked at
	}()
	<-time.After(rand.N(150 * time.Millisecond))
	c.killed(a.Copies[0].Name, a.Copies[0])
	<-revised
	if a.Revisions(id) == 1 {
		crawltest.Ask(a, "revise", func(cl *client.Client) (any, error) { return cl.Revise(c.t.Context(), id, everywhere) })
	}
}

// everywhere is a revision that excludes nothing.
var everywhere = api.NewRevision{Edit: api.Edit{Patch: map[string]any{"exclude": []string{}}}}

// Of two parsers of a node that have nothing to do, one ends by itself when the cluster is told to release what is
// idle. The programs that nobody else stands in for stay, and crawl.
func TestAnIdleProgramIsReleased(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	c.startSeven()
	second := c.add("parser2", filepath.Join(programs, "parser"), nil)
	second.Start(t)
	a := c.startAPI()
	crawltest.Ask(a, "a setting", func(cl *client.Client) (any, error) {
		return nil, cl.ChangeSetting(t.Context(), "idle_release", "1m")
	})
	first := c.program("parser")
	until(t, patience, "one parser ends", func() bool { return first.Dead() || second.Dead() })
	gone, stays := first, second
	if second.Dead() {
		gone, stays = second, first
	}
	if !gone.Said("another program does the same") {
		t.Errorf("it ended so: %s", gone.LastWords())
	}
	c.programs = slices.DeleteFunc(c.programs, func(p *harness.Process) bool { return p == gone })
	until(t, patience, "the others hear of one parser less", func() bool {
		all := crawltest.Ask(a, "agents", func(cl *client.Client) ([]api.Agent, error) { return cl.Agents(t.Context()) })
		parsers := slices.DeleteFunc(all, func(g api.Agent) bool { return g.Program != "parser" })
		return len(parsers) == 1 || stays.Dead()
	})
	c.seed()
	c.wait()
	c.judge(w)
}
