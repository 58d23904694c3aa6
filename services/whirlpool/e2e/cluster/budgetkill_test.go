package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// A node that is killed around the end of the page budget, mostly between pages and their outcomes, leaves at no time
// more records than the budget. In the end each is of a page of the ledger.
func TestNodeIsKilledAroundThePageBudget(t *testing.T) {
	long(t)
	ready(t)
	t.Parallel()
	const budget, killsARound = 60, 5
	kills, wanted := 0, harness.Number(t, "WHIRLPOOL_E2E_BUDGET_KILLS", 6)
	for round := 0; kills < wanted && round < wanted; round++ {
		w := &world{Srv: listen(t, budgetWeb(), 0), Delay: 5 * time.Millisecond}
		job := w.Job()
		job.MaxPages, job.Politeness.HostConnections = budget, 4
		c := newCluster(t, w.Srv, job)
		p := c.startBroken(faultGap)
		c.seed()
		for range killsARound {
			target := w.Srv.Log().Count() + 1 + rand.IntN(budget/2)
			until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= target || c.ended() || c.stuck() })
			if t.Failed() || c.ended() {
				break
			}
			<-time.After(rand.N(150 * time.Millisecond))
			p.Kill(t)
			kills++
			c.withinBudget(budget)
			p.Start(t)
		}
		c.wait()
		c.withinBudget(budget)
		c.spent(budget)
		p.Stop(t)
		if t.Failed() {
			t.Fatalf("after %d rounds, %d kills", round+1, kills)
		}
	}
	t.Logf("%d kills", kills)
	if kills < wanted {
		t.Errorf("only %d of %d kills came before the crawls had ended", kills, wanted)
	}
}

// budgetWeb has more pages than the budget, and every page stays what it is.
func budgetWeb() (cfg fakeweb.Config) {
	cfg = webOf(400, 5*time.Millisecond)
	cfg.Changing, cfg.Unavailable, cfg.DeadHosts, cfg.NXHosts = 0, 0, 0, 0
	return cfg
}

// withinBudget fails the test where more records are stored than the budget allows.
func (c *cluster) withinBudget(budget int64) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n := int64(0)
	check(c.t, c.Mongo.Job(c.job.ID).Each(ctx, func(*crawl.Record) error { n++; return nil }))
	if n > budget {
		c.t.Errorf("%d records, the budget is %d", n, budget)
	}
}

// spent fails the test where the budget is not spent to the last page, or a record is of no page of the ledger. A node
// that was killed shortly before the end takes pages back when it begins again, and fetches them once more, though the
// job had ended: it has time for that.
func (c *cluster) spent(budget int64) {
	c.t.Helper()
	var faults []string
	within(patience/5, func() bool {
		faults = c.unspent(budget)
		return len(faults) == 0 || c.stuck()
	})
	report(c.t, "budget", faults)
}

func (c *cluster) unspent(budget int64) (faults []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tally, err := c.Postgres.URLs().Tally(ctx, c.job.ID)
	check(c.t, err)
	places, err := c.Postgres.Places().Places(ctx, c.job.ID)
	check(c.t, err)
	if tally.Pages != budget || len(places) > 0 || !c.ended() {
		faults = append(faults, fmt.Sprintf("%d pages, and %d places are kept; the budget is %d", tally.Pages, len(places),
			budget))
	}
	r := c.Results(c.job.ID)
	for u := range r.Pages {
		if o := r.Outcomes[u]; o.Status != 200 {
			faults = append(faults, fmt.Sprintf("%s has a record, and the ledger says %v", u, o))
		}
	}
	return faults
}
