package e2e_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A crawl that is killed around the end of its page budget has at no time more records than the budget, and in the end
// a record of each page that it fetched, and of no other.
func TestKilledAroundThePageBudget(t *testing.T) {
	long(t)
	t.Parallel()
	const budget, killsARound = 60, 4
	kills, wanted := 0, harness.Number(t, "WHIRLPOOL_E2E_BUDGET_KILLS", 20)
	for round := 0; kills < wanted && round < 3*wanted; round++ {
		cfg := variedWeb(400)
		cfg.Delay = 5 * time.Millisecond
		srv := serve(t, cfg, 0)
		c := newCrawler(t, srv, jobFor(srv), "--max-pages", "60", "--host-connections", "8")
		for range killsARound {
			p := c.start(t)
			target := srv.Log().Count() + 1 + rand.IntN(budget+budget/2)
			p.poll(t, "requests", func() bool { return srv.Log().Count() >= target })
			select {
			case <-p.ended:
			case <-time.After(rand.N(30 * time.Millisecond)):
			}
			if p.kill(t) {
				kills++
			}
			if n := bytes.Count(wholeFile(t, filepath.Join(c.dir, "pages.jsonl")), []byte("\n")); n > budget {
				t.Fatalf("round %d: %d records after a kill, the budget is %d", round, n, budget)
			}
		}
		c.start(t).wait(t)
		checkBudget(t, c.dir, srv.Web(), budget)
		if t.Failed() {
			t.Fatalf("after %d rounds, %d kills", round+1, kills)
		}
	}
	t.Logf("%d kills", kills)
	if kills < wanted {
		t.Errorf("only %d of %d kills came before the crawl had ended", kills, wanted)
	}
}

func wholeFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return data
}

// checkBudget compares a crawl's records with its ledger, both ways.
func checkBudget(t *testing.T, dir string, web *fakeweb.Web, budget int64) {
	t.Helper()
	if r := audit(t, dir); len(r.Faults) > 0 || r.DeadLetters > 0 {
		t.Errorf("audit: %q, %d dead letters", r.Faults, r.DeadLetters)
	}
	s, err := local.Open(dir, local.Default())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stored := context.Background(), map[string]bool{}
	for line := range bytes.Lines(wholeFile(t, filepath.Join(dir, "pages.jsonl"))) {
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		if stored[r.URL.String()] {
			t.Errorf("%s is stored twice", r.URL)
		}
		stored[r.URL.String()] = true
		e, err := s.URLs().Lookup(ctx, "e2e", r.URL.Key())
		if err != nil || e[0].State != crawl.StateDone || e[0].Status != 200 {
			t.Errorf("%s has a record, and the ledger says %v %d (%v)", r.URL, e[0].State, e[0].Status, err)
		}
	}
	tally, err := s.URLs().Tally(ctx, "e2e")
	if err != nil {
		t.Fatal(err)
	}
	kept := int64(0)
	for p := range web.Pages {
		e, err := s.URLs().Lookup(ctx, "e2e", urlOf(t, p.URL).Key())
		if err != nil {
			t.Fatal(err)
		}
		if e[0].State == crawl.StateDone && e[0].Status == 200 && e[0].Kind == crawl.KindPage {
			kept++
			if !p.NoIndex && !stored[p.URL] {
				t.Errorf("%s was fetched and has no record", p.URL)
			}
		}
	}
	if tally.Pages != budget || kept > budget || int64(len(stored)) > budget {
		t.Errorf("%d pages by the tally, %d by the ledger, %d records; the budget is %d", tally.Pages, kept, len(stored),
			budget)
	}
}

func urlOf(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
