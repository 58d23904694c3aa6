package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// forbidden reports whether an error is the API's that a quota forbids something.
func forbidden(err error, quota string) bool {
	var p *client.Problem
	return errors.As(err, &p) && p.Status == http.StatusForbidden && strings.HasSuffix(p.Type, "/quota") &&
		strings.Contains(p.Detail, "quota "+quota)
}

// userOf makes a key of the role user, and a client of it for each of these servers.
func userOf(t *testing.T, admin *client.Client, more ...*client.Client) (account string, all []*client.Client) {
	t.Helper()
	k, err := admin.NewKey(t.Context(), api.KeyToMake{Name: "user", Role: "user"})
	harness.Check(t, err)
	for _, of := range append([]*client.Client{admin}, more...) {
		c, err := client.New(of.Server(), k.Key)
		harness.Check(t, err)
		all = append(all, c)
	}
	mine, err := all[0].MyQuota(t.Context())
	harness.Check(t, err)
	return mine.Of, all
}

// Of many runs that are asked for at once, by two copies of the API, no more begin than a quota permits.
func TestQuotasHoldOverCopies(t *testing.T) {
	w := newWorld(t)
	w.start("node", "whirlpool", []string{"node"}, nil)
	_, first := w.copyOf("one")
	_, second := w.copyOf("two")
	account, users := userOf(t, first, second)
	source := fmt.Sprintf("id: shop\nseeds: [%q]\nallow_private: true\npoliteness: {delay: 1s}\n", site(t, 1000)+"/")
	_, err := first.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: "shop"})
	harness.Check(t, err)
	harness.Check(t, first.SetQuota(t.Context(), account, workflow.Quota{Running: 3}))
	var mu sync.Mutex
	var wg sync.WaitGroup
	var began []*workflow.Execution
	for i := range 16 {
		wg.Go(func() {
			x, err := users[i%2].Run(t.Context(), "shop", workflow.Overrides{})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				began = append(began, x)
			} else if !forbidden(err, workflow.QuotaRunning) {
				t.Errorf("refused by %v", err)
			}
		})
	}
	wg.Wait()
	if len(began) != 3 {
		t.Fatalf("%d began, want 3", len(began))
	}
	if _, err := second.Run(t.Context(), "shop", workflow.Overrides{}); err != nil {
		t.Errorf("an admin's run: %v", err)
	}
	_, err = users[1].CreateWorkflow(t.Context(), api.NewWorkflow{Source: source + "ignore_robots: true\n", Slug: "rude"})
	if !forbidden(err, workflow.QuotaIgnoreRobots) {
		t.Errorf("a definition that ignores robots.txt: %v", err)
	}
}

// A crawl pauses when the pages of the day are used up, keeps all that it has, and goes on where an admin gives more.
func TestPagesOfADayPauseACrawl(t *testing.T) {
	w := newWorld(t)
	w.start("node", "whirlpool", []string{"node"}, nil)
	_, admin := w.copyOf("one")
	account, users := userOf(t, admin)
	const pages, most = 150, 20
	source := fmt.Sprintf("id: shop\nseeds: [%q]\nallow_private: true\npoliteness: {delay: 200ms}\n", site(t, pages)+"/")
	_, err := admin.CreateWorkflow(t.Context(), api.NewWorkflow{Source: source, Slug: "shop"})
	harness.Check(t, err)
	harness.Check(t, admin.SetQuota(t.Context(), account, workflow.Quota{PagesPerDay: most}))
	x, err := users[0].Run(t.Context(), "shop", workflow.Overrides{})
	harness.Check(t, err)
	var now *api.ExecutionNow
	is := func(state workflow.State) func() bool {
		return func() bool {
			now, err = admin.Execution(t.Context(), x.ID)
			harness.Check(t, err)
			return now.State == state || now.State.Ended()
		}
	}
	harness.Until(t, patience, "it pauses", is(workflow.Paused))
	used, err := users[0].MyQuota(t.Context())
	harness.Check(t, err)
	if now.BrakedBy != workflow.BrakedByQuota || !strings.Contains(now.Reason, "may get 20 a day") ||
		used.Usage.Pages < most {
		t.Fatalf("it is %s by %q (%s): %+v", now.State, now.BrakedBy, now.Reason, used.Usage)
	}
	t.Logf("paused after %d pages of %d", used.Usage.Pages, most)
	if used.Usage.Pages > pages*2/3 {
		t.Errorf("it got %d pages, and may get %d", used.Usage.Pages, most)
	}
	if _, err := users[0].Run(t.Context(), "shop", workflow.Overrides{}); !forbidden(err, workflow.QuotaPagesPerDay) {
		t.Errorf("one more: %v", err)
	}
	harness.Check(t, admin.SetQuota(t.Context(), account, workflow.Quota{PagesPerDay: 10 * pages}))
	harness.Until(t, patience, "it ends", is(workflow.Succeeded))
	if now.State != workflow.Succeeded || now.Stats.Pages != pages || now.Stats.Records != pages || !now.Audit.OK {
		t.Errorf("%s (%s): %+v, %+v", now.State, now.Reason, now.Stats, now.Audit)
	}
	if used, err = users[0].MyQuota(t.Context()); err != nil || used.Usage.Pages != pages {
		t.Errorf("%+v were counted of %d: %v", used.Usage, pages, err)
	}
}
