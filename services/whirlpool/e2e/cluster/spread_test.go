package cluster_test

import (
	"math/rand/v2"
	"slices"
	"strings"
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

// A crawl stands still twice, once because its node was killed, and its ledger is moved: to three servers, and to two
// of them in another order. It goes on where it was, and has found the same in the end. Back on one server it is whole.
func TestACrawlGoesOnWithALedgerThatWasMoved(t *testing.T) {
	w := serve(t)
	spread := crawltest.NewSpread(t, ready(t).env, 3)
	c := newCluster(t, w.Srv, w.Job())
	p := c.startNode()
	move := func(servers ...string) {
		t.Helper()
		args, setting := []string{"ledger", "move", "--cluster"}, "WHIRLPOOL_POSTGRES_LEDGER="+strings.Join(servers, ",")
		for _, s := range servers {
			args = append(args, "--to", s)
		}
		if len(servers) == 0 {
			args = append(args, "--to-main")
		}
		c.Move(func() string {
			t.Log(c.whirlpool(args...))
			c.env = append(c.env, setting)
			return setting
		})
	}
	c.seed()
	lists := [][]string{spread.Servers, {spread.Servers[2], spread.Servers[0]}}
	for i, list := range lists {
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= (i+1)*w.Requests/4 || c.stuck() })
		if c.ended() || t.Failed() {
			t.Fatal("the job had ended before the ledger was moved: the test proves nothing")
		}
		c.During("the ledger is moved", func() {
			if i == 0 {
				p.Kill(t)
			} else {
				p.Stop(t)
			}
			move(list...)
			if code, text := c.exitWith("WHIRLPOOL_POSTGRES_LEDGER=", "status", "--cluster"); code == 0 {
				t.Errorf("a program that has the former list is not refused:\n%s", text)
			}
			p.Env = c.env
			p.Start(t)
		})
	}
	c.wait()
	c.judge(w)
	if urls := spread.URLs(); urls[0] == 0 || urls[1] != 0 || urls[2] == 0 {
		t.Errorf("the servers have %v URLs, want some on the first and third alone", urls)
	}
	p.Stop(t)
	move()
	if urls := spread.URLs(); slices.Max(urls) > 0 {
		t.Errorf("the servers have %v URLs, and the ledger was moved away", urls)
	}
	p.Env = c.env
	p.Start(t)
	c.judge(w)
}
