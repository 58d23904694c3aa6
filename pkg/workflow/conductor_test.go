package workflow_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func TestFromStartToEnd(t *testing.T) {
	w := newWorld(t)
	w.engine.work = 3
	w.create(simple)
	w.conduct()
	x := w.until(w.start(), workflow.Succeeded)
	want := []string{"execution.created", "execution.starting", "execution.started", "milestone.pages", "milestone.pages",
		"execution.draining", "execution.succeeded"}
	if got := w.story(x.ID); !reflect.DeepEqual(got, want) {
		t.Errorf("events %q\nwant   %q", got, want)
	}
	if x.Stats == nil || x.Stats.Pages != 25 || x.Audit == nil || !x.Audit.OK || x.Started.IsZero() || x.Outcome != "" {
		t.Errorf("at its end it is %+v", x)
	}
	steps, err := w.Steps(bg, x.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"stats", "audit", "then", "retention"} {
		if len(steps) != 4 || steps[i].Name != name || steps[i].State != workflow.StepDone {
			t.Fatalf("steps %+v", steps)
		}
	}
}

func TestLostWorkIsPartial(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(*fakeEngine)
		want string
	}{
		"dead letters": {func(f *fakeEngine) { f.stats.Letters = 2 }, "2 messages were given up"},
		"faults": {func(f *fakeEngine) { f.audit = workflow.AuditSummary{Faults: []string{"x"}} },
			"the audit found 1 faults"},
		"open URLs":          {func(f *fakeEngine) { f.stats.Open = 3 }, "3 URLs are open though no budget is spent: resume"},
		"an audit that ails": {func(f *fakeEngine) { f.fail["Audit"] = errInjected }, "step audit failed: injected"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.engine.work = 1
			tt.edit(w.engine)
			w.create(simple)
			w.conduct()
			if x := w.until(w.start(), workflow.Partial); !strings.Contains(x.Reason, tt.want) {
				t.Errorf("reason %q, want one with %q", x.Reason, tt.want)
			}
		})
	}
}

// What a budget, or somebody, left open is no lost work.
func TestOpenURLsThatAreWanted(t *testing.T) {
	w := newWorld(t)
	w.engine.work = 1
	w.engine.stats.Open, w.engine.stats.Bound = 3, "max_pages"
	w.create(simple)
	w.conduct()
	if x := w.until(w.start(), workflow.Succeeded); !strings.Contains(x.Reason, "max_pages is met: 3 URLs are left") {
		t.Errorf("reason %q", x.Reason)
	}
	w.engine.set(func() { w.engine.work, w.engine.stats.Bound = 0, "" })
	id := w.start()
	w.until(id, workflow.Running)
	w.wish(id, workflow.Stop)
	if x := w.until(id, workflow.Stopped); strings.Contains(x.Reason, "open") {
		t.Errorf("one that was stopped: reason %q", x.Reason)
	}
}

// An execution that fetched nothing says so: its seeds may be wrong.
func TestNoPageIsSaid(t *testing.T) {
	w := newWorld(t)
	w.engine.work, w.engine.stats.Pages, w.engine.stats.Verdicts = 1, 0, map[string]int64{"failed": 2, "blocked": 1}
	w.create(simple)
	w.conduct()
	if x := w.until(w.start(), workflow.Succeeded); x.Reason != "no page was fetched; of its URLs: blocked 1, failed 2" {
		t.Errorf("reason %q", x.Reason)
	}
}

func TestPauseStopResume(t *testing.T) {
	w := newWorld(t)
	w.create(simple)
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.wish(id, workflow.Pause)
	w.wish(id, workflow.Pause) // no event
	w.until(id, workflow.Paused)
	if !w.engine.jobs[id].Progress.Held {
		t.Error("what is paused is not held")
	}
	w.wish(id, workflow.Run)
	w.until(id, workflow.Running)
	w.wish(id, workflow.Stop)
	x := w.until(id, workflow.Stopped)
	if x.Stats == nil || x.Audit == nil {
		t.Error("what is stopped has no figures")
	}
	w.engine.set(func() { w.engine.work = 1 })
	w.wish(id, workflow.Run)
	x = w.until(id, workflow.Succeeded)
	if x.Attempt != 2 {
		t.Errorf("attempt %d", x.Attempt)
	}
	got := slices.DeleteFunc(w.story(id), func(s string) bool { return strings.HasPrefix(s, "milestone") })
	want := strings.Fields(`execution.created execution.starting execution.started execution.wished execution.pausing execution.paused
		execution.wished execution.resumed execution.wished execution.stopping execution.draining execution.stopped
		execution.wished execution.reopened execution.starting execution.started execution.draining execution.succeeded`)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("events %q\nwant   %q", got, want)
	}
}

func TestAStopIsNotBelievedBeforeNothingIsInFlight(t *testing.T) {
	w := newWorld(t)
	w.engine.drained = false
	w.create(simple)
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.wish(id, workflow.Stop)
	w.until(id, workflow.Stopping)
	for range 20 { // looks
		if x, _ := w.store.Execution(bg, id); x.State != workflow.Stopping {
			t.Fatalf("it is %s with two in flight", x.State)
		}
		time.Sleep(2 * time.Millisecond)
	}
	w.clock.add(time.Hour) // nobody waits for ever
	w.until(id, workflow.Stopped)
}

func TestStartFails(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		tries int
	}{"five times": {errInjected, 4}, "for good": {crawl.Permanent(errInjected), 0}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.engine.fail["Submit"] = tt.err
			w.create(simple)
			w.conduct()
			ticking := w.run()
			x := w.until(w.start(), workflow.Failed)
			ticking()
			tries := 0
			for _, kind := range w.story(x.ID) {
				if kind == "execution.start_failed" {
					tries++
				}
			}
			if tries != tt.tries || x.Reason != "injected" {
				t.Errorf("%d tries before the last, reason %q", tries, x.Reason)
			}
			w.engine.set(func() { delete(w.engine.fail, "Submit"); w.engine.work = 1 })
			w.wish(x.ID, workflow.Run)
			w.until(x.ID, workflow.Succeeded)
		})
	}
}

// run lets the clock go on quickly until stop is called.
func (w *world) run() (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				w.clock.add(time.Second)
			}
		}
	}()
	return func() { close(done) }
}

func TestABrakeIsShownAndEnds(t *testing.T) {
	w := newWorld(t)
	w.create(simple)
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.engine.set(func() { w.engine.braked = "disk" })
	if x := w.until(id, workflow.Paused); x.BrakedBy != "disk" || x.Desired != workflow.Run {
		t.Errorf("braked it is %+v", x)
	}
	w.engine.set(func() { w.engine.braked = "" })
	if x := w.until(id, workflow.Running); x.BrakedBy != "" {
		t.Errorf("let go it is %+v", x)
	}
	w.story(id)
}

func TestFailsAfterTenMinutesOfErrors(t *testing.T) {
	w := newWorld(t)
	w.create(simple)
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.engine.set(func() { w.engine.fail["Progress"] = errInjected })
	w.when(id, "at fault", func(x *workflow.Execution) bool { return x.Reason == "injected" })
	w.clock.add(9 * time.Minute)
	w.engine.set(func() { delete(w.engine.fail, "Progress") })
	w.when(id, "well again", func(x *workflow.Execution) bool { return x.Reason == "" })
	w.engine.set(func() { w.engine.fail["Progress"] = errInjected })
	w.when(id, "at fault", func(x *workflow.Execution) bool { return x.Reason == "injected" })
	w.clock.add(11 * time.Minute)
	if x := w.until(id, workflow.Failed); x.Reason != "injected" || x.Stats == nil {
		t.Errorf("failed it is %+v", x)
	}
	if !w.engine.jobs[id].Progress.Stopped {
		t.Error("an execution has failed, and its job may crawl")
	}
	w.engine.set(func() { delete(w.engine.fail, "Progress"); w.engine.work = 1 })
	w.wish(id, workflow.Run)
	w.until(id, workflow.Succeeded)
	w.story(id)
}

func TestPlacesAndOrder(t *testing.T) {
	w := newWorld(t, func(o *workflow.Options) { o.MaxRunning = 2 })
	w.create(simple)
	w.conduct()
	var ids []crawl.JobID
	for range 4 {
		ids = append(ids, w.start())
		w.clock.add(time.Second)
	}
	w.until(ids[0], workflow.Running)
	w.until(ids[1], workflow.Running)
	states := func() (out []workflow.State) {
		for _, id := range ids {
			x, _ := w.store.Execution(bg, id)
			out = append(out, x.State)
		}
		return out
	}
	if got := states(); got[2] != workflow.Pending || got[3] != workflow.Pending {
		t.Errorf("two places: %v", got)
	}
	w.wish(ids[0], workflow.Pause) // what is paused gives its place away
	w.until(ids[2], workflow.Running)
	if got := states(); got[3] != workflow.Pending {
		t.Errorf("the oldest comes first: %v", got)
	}
	w.wish(ids[0], workflow.Run) // and waits for one to go on
	w.wish(ids[1], workflow.Cancel)
	w.until(ids[1], workflow.Cancelled)
	w.until(ids[0], workflow.Running)
	if got := states(); got[3] != workflow.Pending {
		t.Errorf("the oldest comes first: %v", got)
	}
	w.SetMaxRunning(3)
	w.until(ids[3], workflow.Running)
}

func TestCancelWhileFiguresAreMade(t *testing.T) {
	w := newWorld(t)
	w.engine.work, w.engine.block = 1, make(chan struct{})
	w.create(simple)
	w.conduct()
	id := w.start()
	w.until(id, workflow.Finalizing)
	w.wish(id, workflow.Cancel)
	if x := w.until(id, workflow.Cancelled); x.Audit != nil {
		t.Errorf("cancelled it has %+v", x.Audit)
	}
	w.story(id)
}

// The settings of an execution are changed after its job has ended and before its figures are made: it goes on.
func TestARevisionThatComesWhileItEnds(t *testing.T) {
	for _, note := range []bool{true, false} { // false: whoever revised it was killed before it was noted
		w := newWorld(t)
		w.engine.work, w.engine.block = 1, make(chan struct{})
		w.create(simple)
		w.conduct()
		id := w.start()
		w.until(id, workflow.Finalizing)
		before := 0
		w.engine.set(func() { before, w.engine.jobs[id].Progress.Revised = w.engine.jobs[id].Submits, true })
		if note {
			if _, err := w.Revised(bg, "me", id, &workflow.RevisionEvent{Epoch: 2}); err != nil {
				t.Fatal(err)
			}
		}
		close(w.engine.block)
		w.when(id, "it has gone on and ended",
			func(x *workflow.Execution) bool { return x.Attempt == 2 && x.State == workflow.Succeeded })
		w.engine.set(func() {
			if w.engine.jobs[id].Submits == before {
				t.Error("its job was not submitted again")
			}
		})
		w.story(id)
	}
}

// It is revised, and goes by that already, while its figures are made: it ends, once they are made again.
func TestARevisionThatIsNotedWhileFiguresAreMade(t *testing.T) {
	w := newWorld(t)
	w.engine.work, w.engine.block = 1, make(chan struct{})
	w.create(simple)
	w.conduct()
	id := w.start()
	w.until(id, workflow.Finalizing)
	if _, err := w.Revised(bg, "me", id, &workflow.RevisionEvent{Epoch: 2}); err != nil {
		t.Fatal(err)
	}
	close(w.engine.block)
	if x := w.until(id, workflow.Succeeded); x.Attempt != 1 || x.Epoch != 2 {
		t.Errorf("it ended as %+v", x)
	}
}

func TestMaxDuration(t *testing.T) {
	w := newWorld(t)
	w.create(simple + "lifecycle: {max_duration: 1h}\n")
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.clock.add(61 * time.Minute)
	x := w.until(id, workflow.Stopped)
	if !strings.Contains(x.Reason, "max_duration") || x.Desired != workflow.Stop {
		t.Errorf("at its bound it is %+v", x)
	}
	w.wish(id, workflow.Run) // has an hour of its own
	w.until(id, workflow.Running)
}

func TestThenOnce(t *testing.T) {
	w := newWorld(t)
	w.engine.work = 1
	w.create(simple + "lifecycle: {then: after}\n")
	after, err := w.Create(bg, "me", workflow.New{Slug: "after", Source: simple})
	if err != nil {
		t.Fatal(err)
	}
	w.conduct()
	id := w.start()
	w.until(id, workflow.Succeeded)
	x := w.until("after-1", workflow.Succeeded)
	if x.Workflow != after.ID || x.Cause != (workflow.Cause{Kind: "then", By: string(id)}) {
		t.Errorf("what follows is %+v", x)
	}
	archived := true
	if _, err := w.Update(bg, "me", "after", 0, workflow.Changed{Archived: &archived}); err != nil {
		t.Fatal(err)
	}
	if x := w.until(w.start(), workflow.Partial); !strings.Contains(x.Reason, "the workflow is archived") {
		t.Errorf("reason %q", x.Reason)
	}
}

func TestRetention(t *testing.T) {
	for records, want := range map[string]string{"keep": "state", "drop": "all"} {
		t.Run(records, func(t *testing.T) {
			w := newWorld(t)
			w.engine.work = 1
			w.create(simple + "lifecycle: {retention: {executions: 2, records: " + records + "}}\n")
			w.conduct()
			var ids []crawl.JobID
			for range 4 {
				w.clock.add(time.Second)
				ids = append(ids, w.start())
				w.until(ids[len(ids)-1], workflow.Succeeded)
			}
			for _, id := range ids[:2] {
				w.gone(id, want)
			}
			for _, id := range ids[2:] {
				if got := w.engine.jobs[id].Discarded; got != "" {
					t.Errorf("%s: %s was discarded", id, got)
				}
			}
			if records == "keep" {
				if _, err := w.Wish(bg, "me", ids[0], workflow.Run, ""); !errors.Is(err, workflow.ErrConflict) {
					t.Errorf("one without its state is resumed: %v", err)
				}
			}
		})
	}
}

// gone waits until an execution is trimmed, or deleted.
func (w *world) gone(id crawl.JobID, what string) {
	w.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) {
		x, err := w.store.Execution(bg, id)
		if what == "all" && errors.Is(err, workflow.ErrNotFound) || what == "state" && err == nil && !x.Trimmed.IsZero() {
			break
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s is never gone: %+v, %v", id, x, err)
		}
	}
	w.engine.set(func() {
		if got := w.engine.jobs[id].Discarded; got != what {
			w.Errorf("%s: %q was discarded, want %q", id, got, what)
		}
	})
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	w.engine.work = 1
	w.create(simple)
	w.conduct()
	id := w.start()
	w.until(id, workflow.Succeeded)
	if err := w.Delete(bg, "me", id, false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Execution(bg, id); !errors.Is(err, workflow.ErrNotFound) {
		t.Errorf("a deleted execution: %v", err)
	}
	w.gone(id, "all")
}

// Days pass also where nothing of the workflow runs any more.
func TestRetentionByDays(t *testing.T) {
	w := newWorld(t)
	w.engine.work = 1
	w.create(simple + "lifecycle: {retention: {days: 30}}\n")
	w.conduct()
	id := w.start()
	w.until(id, workflow.Succeeded)
	w.clock.add(31 * 24 * time.Hour)
	w.gone(id, "state")
}

// A process that ends leaves everything as it is, and the next goes on.
func TestTheNextProcessGoesOn(t *testing.T) {
	w := newWorld(t)
	w.engine.block = make(chan struct{})
	w.create(simple)
	w.conduct()
	runs, ends := w.start(), w.start()
	w.until(runs, workflow.Running)
	w.until(ends, workflow.Running)
	w.wish(ends, workflow.Stop)
	w.until(ends, workflow.Finalizing)
	w.stop()
	if x, _ := w.store.Execution(bg, ends); x.State != workflow.Finalizing {
		t.Errorf("at the end of the process it is %s", x.State)
	}
	// the engine lost one
	w.engine.set(func() { w.engine.block = nil; w.engine.jobs[runs].Progress = workflow.Progress{} })
	w.conduct()
	w.until(ends, workflow.Stopped)
	w.engine.set(func() { w.engine.work = 1 })
	w.until(runs, workflow.Succeeded)
	w.engine.set(func() {
		// Once by each process; again is no harm, and happens where the conductor looks before the engine has it.
		if got := w.engine.jobs[runs].Submits; got < 2 {
			t.Errorf("a lost job was submitted %d times", got)
		}
	})
}
