package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// bounds are quotas that a test sets.
type bounds struct {
	mu sync.Mutex
	of map[string]workflow.Quota
}

func (b *bounds) set(account string, q workflow.Quota) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of[account] = q
}

func (b *bounds) get(_ context.Context, account string) (*workflow.Quota, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.of[account]
	return &q, nil
}

func newBounded(t *testing.T) (*world, *bounds) {
	t.Helper()
	b := &bounds{of: map[string]workflow.Quota{}}
	return newWorld(t, func(o *workflow.Options) { o.Quota = b.get }), b
}

var ann, bob = workflow.WithAccount(bg, "ann"), workflow.WithAccount(bg, "bob")

// over checks that a quota forbids something, and that its text says what to do.
func over(t *testing.T, err error, quota string) {
	t.Helper()
	var o *workflow.OverQuota
	if !errors.As(err, &o) || o.Quota != quota || !strings.Contains(err.Error(), ":") {
		t.Errorf("error %v, want that the quota %s forbids it", err, quota)
	}
}

func (w *world) startAs(ctx context.Context) (crawl.JobID, error) {
	x, err := w.Start(ctx, "me", "flow", workflow.Overrides{})
	if err != nil {
		return "", err
	}
	return x.ID, nil
}

func TestRunningExecutionsAreBounded(t *testing.T) {
	w, b := newBounded(t)
	b.set("ann", workflow.Quota{Running: 2})
	w.create(simple)
	w.conduct()
	first, err := w.startAs(ann)
	if err != nil {
		t.Fatal(err)
	}
	w.until(first, workflow.Running)
	w.wish(first, workflow.Pause)
	w.until(first, workflow.Paused)
	if _, err := w.startAs(ann); err != nil {
		t.Fatal(err)
	}
	_, err = w.startAs(ann) // a paused one counts too
	over(t, err, workflow.QuotaRunning)
	if _, err := w.startAs(bob); err != nil {
		t.Errorf("another account: %v", err)
	}
	w.wish(first, workflow.Cancel)
	w.until(first, workflow.Cancelled)
	third, err := w.startAs(ann)
	if err != nil {
		t.Errorf("after the end of one: %v", err)
	}
	// One that has ended counts again when it is reopened: not more run than may.
	w.until(third, workflow.Running)
	w.wish(third, workflow.Stop)
	w.until(third, workflow.Stopped)
	if _, err := w.startAs(ann); err != nil {
		t.Fatal(err)
	}
	_, err = w.Wish(bob, "me", third, workflow.Run, "")
	over(t, err, workflow.QuotaRunning)
	w.when(third, "as it was", func(x *workflow.Execution) bool { return x.State == workflow.Stopped && x.Attempt == 1 })
}

// Of many who ask at the same time no more begin than may.
func TestRunningExecutionsAreBoundedForManyAtOnce(t *testing.T) {
	w, b := newBounded(t)
	b.set("ann", workflow.Quota{Running: 3})
	w.create(simple)
	var wg sync.WaitGroup
	var mu sync.Mutex
	began := 0
	for range 20 {
		wg.Go(func() {
			_, err := w.startAs(ann)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				began++
			} else {
				over(t, err, workflow.QuotaRunning)
			}
		})
	}
	wg.Wait()
	if u, err := w.Usage(bg, "ann"); began != 3 || u.Running != 3 || err != nil {
		t.Errorf("%d began, want 3: %+v, %v", began, u, err)
	}
	var told []workflow.Event
	events, err := w.Events(bg, workflow.EventFilter{Types: []string{"quota.refused"}}, 0, 100)
	for _, e := range events {
		if e.Execution == "" && e.Workflow != "" && strings.Contains(string(e.Data), `"quota":"running"`) {
			told = append(told, e)
		}
	}
	if len(told) != 1 || err != nil {
		t.Errorf("17 refusals in a moment are told by %d events, want 1: %v", len(told), err)
	}
}

func TestStoredBytesAreBounded(t *testing.T) {
	w, b := newBounded(t)
	b.set("ann", workflow.Quota{Bytes: 1000})
	w.engine.work, w.engine.stats.Bytes = 1, 600
	w.create(simple)
	w.conduct()
	var ids []crawl.JobID
	for range 2 {
		id, err := w.startAs(ann)
		if err != nil {
			t.Fatal(err)
		}
		w.until(id, workflow.Succeeded)
		ids = append(ids, id)
	}
	_, err := w.startAs(ann)
	over(t, err, workflow.QuotaBytes)
	if err := w.Delete(bg, "me", ids[0], false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.startAs(ann); err != nil {
		t.Errorf("after one was deleted: %v", err)
	}
}

// What runs pauses when the pages of the day are used up, and goes on the next day by itself.
func TestPagesOfADay(t *testing.T) {
	w, b := newBounded(t)
	at(w, "2026-11-27T22:00")
	b.set("ann", workflow.Quota{PagesPerDay: 100})
	w.create(simple)
	ids := map[context.Context]crawl.JobID{}
	for _, who := range []context.Context{ann, bob} {
		id, err := w.startAs(who)
		if err != nil {
			t.Fatal(err)
		}
		ids[who] = id
	}
	w.conduct()
	stopClock := w.tick()
	x := w.until(ids[ann], workflow.Paused)
	if x.BrakedBy != workflow.BrakedByQuota || x.Desired != workflow.Run || !strings.Contains(x.Reason, "a day") {
		t.Errorf("it is %+v", x)
	}
	if other := w.until(ids[bob], workflow.Running); other.BrakedBy != "" {
		t.Errorf("another account's is %+v", other)
	}
	if _, err := w.Start(ann, "me", "flow", workflow.Overrides{}); err == nil {
		t.Error("one more begins")
	} else {
		over(t, err, workflow.QuotaPagesPerDay)
	}
	stopClock()
	today, err := w.Usage(bg, "ann")
	if err != nil || today.Pages < 100 || today.Since != "2026-11-27" {
		t.Errorf("usage %+v, %v", today, err)
	}
	at(w, "2026-11-28T00:00")
	stopClock = w.tick()
	w.until(ids[ann], workflow.Running)
	w.until(ids[ann], workflow.Paused) // the next hundred
	p, err := w.engine.Progress(bg, ids[ann])
	if err != nil || !p.Held {
		t.Fatalf("%+v, %v", p, err)
	}
	for all := int64(0); all != p.Pages; time.Sleep(time.Millisecond) { // the last pages are noted within ten seconds
		tomorrow, err := w.Usage(bg, "ann")
		if err != nil || tomorrow.Since != "2026-11-28" {
			t.Fatalf("usage of the next day %+v, %v", tomorrow, err)
		}
		all = today.Pages + tomorrow.Pages
	}
	stopClock()
	want := []string{"execution.pausing", "execution.paused", "execution.resumed", "execution.pausing", "execution.paused"}
	got := slices.DeleteFunc(w.story(ids[ann]), func(kind string) bool { return !slices.Contains(want, kind) })
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// tick lets the clock run a hundred times as fast as it does, until it is stopped.
func (w *world) tick() (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
				w.clock.add(time.Second)
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func TestQuotasOfDefinitions(t *testing.T) {
	for name, c := range map[string]struct {
		quota  workflow.Quota
		source string
		want   string // quota; empty: it is permitted
	}{
		"robots":             {workflow.Quota{}, "ignore_robots: true\n", workflow.QuotaIgnoreRobots},
		"robots that may be": {workflow.Quota{IgnoreRobots: true}, "ignore_robots: true\n", ""},
		"a short delay": {workflow.Quota{MinDelay: crawl.Duration(2 * time.Second)}, "politeness: {delay: 500ms}\n",
			workflow.QuotaMinDelay},
		"enough": {workflow.Quota{MinDelay: crawl.Duration(2 * time.Second)}, "politeness: {delay: 2s}\n", ""},
		"many connections": {workflow.Quota{MinDelay: crawl.Duration(2 * time.Second)},
			"politeness: {delay: 4s, host_connections: 8}\n",
			workflow.QuotaMinDelay},
		"a plug-in": {workflow.Quota{BuiltinOnly: true}, "pipeline: {nodes: [{id: p, at: record, use: shop/price@1.0.0}]}\n",
			workflow.QuotaBuiltinOnly},
		"a builtin": {workflow.Quota{BuiltinOnly: true}, "pipeline: {nodes: [{id: p, at: record, use: builtin/lang@1}]}\n",
			""},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := newBounded(t)
			b.set("ann", c.quota)
			check := func(err error) {
				t.Helper()
				switch {
				case c.want != "":
					over(t, err, c.want)
				case err != nil:
					t.Error(err)
				}
			}
			_, err := w.Create(ann, "ann", workflow.New{Slug: "new", Source: simple + c.source})
			check(err)
			w.create(simple)
			_, err = w.AddVersion(ann, "ann", "flow", simple+c.source, "", 0)
			check(err)
			if _, err := w.AddVersion(bg, "admin", "flow", simple+c.source+"max_pages: 7\n", "", 0); err != nil {
				t.Fatal(err)
			}
			// What somebody wrote who may can be run, and edited, by whoever may not write it anew.
			if _, err := w.startAs(ann); err != nil {
				t.Errorf("a run: %v", err)
			}
			if _, err := w.AddVersion(ann, "ann", "flow", simple+c.source+"max_pages: 8\n", "", 0); err != nil {
				t.Errorf("an edit: %v", err)
			}
			if _, err := w.AddVersion(bg, "admin", "flow", simple, "", 0); err != nil {
				t.Fatal(err)
			}
			_, err = w.Restore(ann, "ann", "flow", 2, "")
			check(err)
		})
	}
}

// A slot that a quota forbids is skipped, and says so; what follows an execution counts for its account.
func TestQuotasOfWhatNobodyAsksFor(t *testing.T) {
	w, b := newBounded(t)
	at(w, "2026-11-27T10:30")
	b.set("ann", workflow.Quota{Running: 1})
	w.create(simple)
	rule := cron("0 * * * *")
	rule.Overlap = workflow.OverlapAllow
	if s, err := w.AddSchedule(ann, "ann", "flow", "hourly", rule); err != nil || s.Account != "ann" {
		t.Fatal(s, err)
	}
	if _, err := w.startAs(ann); err != nil {
		t.Fatal(err)
	}
	at(w, "2026-11-27T11:00")
	w.conduct()
	var slots []workflow.Slot
	for len(slots) == 0 {
		time.Sleep(time.Millisecond)
		_, slots = w.slots()
	}
	if slots[0].State != workflow.SlotSkipped || !strings.Contains(slots[0].Reason, "quota running") {
		t.Errorf("slot %+v", slots[0])
	}
	if _, err := w.Create(bg, "me", workflow.New{Slug: "next", Source: "seeds: [http://b.test/]\n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Create(bg, "me", workflow.New{Slug: "head", Source: simple + "lifecycle: {then: next}\n"}); err != nil {
		t.Fatal(err)
	}
	w.engine.set(func() { w.engine.work = 1 })
	x, err := w.Start(bob, "bob", "head", workflow.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	w.until(x.ID, workflow.Succeeded)
	if next, err := w.store.Execution(bg, "next-1"); err != nil || next.Account != "bob" {
		t.Errorf("what follows is %+v, %v", next, err)
	}
}

func TestAQuotaIsWrittenAsJobFilesWriteIt(t *testing.T) {
	text, err := json.Marshal(workflow.Quota{Running: 2, MinDelay: crawl.Duration(90 * time.Second)})
	if err != nil || string(text) != `{"running":2,"min_delay":"1m30s"}` {
		t.Errorf("%s, %v", text, err)
	}
}
