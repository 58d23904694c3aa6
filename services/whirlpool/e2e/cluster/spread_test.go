package cluster_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// The ledger is on three servers beside that with the jobs. The node is killed, and now one, now another of them cannot
// be reached for some seconds: nothing is lost or doubled. A row that one of them loses is missed.
func TestALedgerOnThreeServersSurvivesKills(t *testing.T) {
	w := serve(t)
	spread := crawltest.NewSpread(t, ready(t).env, 3)
	c := newCluster(t, w.Srv, w.Job(), spread.Setting())
	p := c.startNode()
	c.seed()
	c.tormented(w, max(harness.Number(t, "WHIRLPOOL_E2E_KILLS", 6), 3), func(i int) {
		if i%3 == 2 {
			c.killed("node", p)
			return
		}
		c.During("a server of the ledger away", func() {
			spread.Cut(i%3, func() { <-time.After(time.Second + rand.N(3*time.Second)) })
		})
	})
	c.judge(w)
	urls, main := spread.URLs(), crawltest.Value[int](t, c.Ledger, "SELECT count(*) FROM urls")
	t.Logf("URLs by server: %v", urls)
	if slices.Min(urls) == 0 || main != 0 {
		t.Errorf("the servers have %v URLs and the main one %d: the ledger is not spread", urls, main)
	}
	if len(c.Troubles) < 2 {
		t.Errorf("only %d troubles came before the job had ended: the test proves nothing", len(c.Troubles))
	}
	crawltest.SQL(t, spread.Servers[1], "DELETE FROM urls WHERE (tableoid, ctid) IN "+
		"(SELECT tableoid, ctid FROM urls WHERE verdict = 1 AND kind = 0 AND status = 200 LIMIT 1)")
	if code, text := c.exitCode("audit", "--cluster", "--job", string(c.job.ID)); code != 1 {
		t.Errorf("a row is gone, and audit ends with %d:\n%s", code, text)
	}
}
