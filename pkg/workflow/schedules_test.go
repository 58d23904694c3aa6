package workflow_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// at is a clock that stands still at an instant.
func at(w *world, text string) {
	w.Helper()
	t, err := time.Parse("2006-01-02T15:04", text)
	if err != nil {
		w.Fatal(err)
	}
	w.clock.mu.Lock()
	defer w.clock.mu.Unlock()
	w.clock.at = t
}

func (w *world) schedule(r workflow.ScheduleRule) *workflow.Schedule {
	w.Helper()
	s, err := w.AddSchedule(bg, "me", "flow", "nightly", r)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func cron(line string) (r workflow.ScheduleRule) {
	r.Cron = line
	return r
}

// slots are the slots of the schedule that are decided on, as "hh:mm state", the earliest first.
func (w *world) slots() (out []string, all []workflow.Slot) {
	w.Helper()
	for p := (workflow.Page{Limit: 200}); ; {
		list, err := w.Slots(bg, workflow.SlotFilter{}, p)
		if err != nil {
			w.Fatal(err)
		}
		for _, s := range list.Items {
			if s.State != workflow.SlotPlanned {
				out, all = append(out, s.At.Format("15:04 ")+string(s.State)), append(all, s)
			}
		}
		if p.Cursor = list.Next; p.Cursor == "" {
			break
		}
	}
	slices.Reverse(out)
	slices.Reverse(all)
	return out, all
}

// settled waits until nothing that is due is undecided, and so many slots are in a state.
func (w *world) settled(want ...string) []workflow.Slot {
	w.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		got, all := w.slots()
		if slices.Equal(got, want) {
			return all
		}
		if time.Now().After(deadline) {
			w.Fatalf("slots %q, want %q", got, want)
		}
	}
}

func TestASlotBeginsAnExecution(t *testing.T) {
	w := newWorld(t)
	at(w, "2026-11-24T01:00")
	w.create(simple)
	s := w.schedule(cron("30 2 * * *"))
	if s.Next == nil || s.Next.Label != "2026-11-24T02:30[UTC]" || s.Words != "every day at 02:30, UTC" {
		t.Fatalf("%+v", s)
	}
	w.conduct()
	at(w, "2026-11-24T02:30")
	slot := w.settled("02:30 started")[0]
	x := w.until("flow-1", workflow.Running)
	if slot.Execution != "flow-1" ||
		x.Cause != (workflow.Cause{Kind: "schedule", By: "nightly", Schedule: s.ID, Slot: slot.Label}) {
		t.Errorf("slot %+v, cause %+v", slot, x.Cause)
	}
	next, err := w.Upcoming(bg, s.ID, 3)
	if err != nil || len(next) != 3 || next[2].Label != "2026-11-27T02:30[UTC]" {
		t.Errorf("%v, %v", next, err)
	}
}

// A year's clock is moved over both changes of daylight saving, hour by hour: each slot begins one execution.
func TestSlotsOverDaylightSaving(t *testing.T) {
	for _, c := range []struct {
		from         string // local midnight, in UTC
		hours        int
		daily, every int
	}{{"2026-10-24T22:00", 25, 1, 25}, {"2027-03-27T23:00", 23, 1, 23}} {
		t.Run(c.from, func(t *testing.T) {
			w := newWorld(t)
			w.engine.work = 1
			at(w, c.from)
			w.create(simple)
			daily := cron("30 2 * * *")
			daily.Zone, daily.Overlap = "Europe/Copenhagen", workflow.OverlapAllow
			w.schedule(daily)
			hourly := cron("15 * * * *")
			hourly.Zone, hourly.Overlap = "Europe/Copenhagen", workflow.OverlapAllow
			if _, err := w.AddSchedule(bg, "me", "flow", "hourly", hourly); err != nil {
				t.Fatal(err)
			}
			w.conduct()
			for i := 0; i < c.hours*4; i++ {
				w.clock.add(15 * time.Minute)
				w.decided()
			}
			count := map[string]int{}
			_, all := w.slots()
			for _, s := range all {
				if s.State == workflow.SlotStarted {
					count[s.Name]++
				}
			}
			if count["nightly"] != c.daily || count["hourly"] != c.every || len(all) != c.daily+c.every {
				t.Errorf("daily %d, hourly %d of %d slots, want %d and %d", count["nightly"], count["hourly"], len(all), c.daily,
					c.every)
			}
			list, err := w.Executions(bg, workflow.ExecutionFilter{}, workflow.Page{Limit: 200})
			if err != nil || len(list.Items) != len(all) {
				t.Errorf("%d executions for %d slots, %v", len(list.Items), len(all), err)
			}
		})
	}
}

// decided waits until nothing is due.
func (w *world) decided() {
	w.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		due, err := w.store.DueSlots(bg, w.clock.now())
		if err != nil {
			w.Fatal(err)
		}
		if len(due) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("undecided: %+v", due)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		rule workflow.Overlap
		want []string
		end  []string // after the first execution has ended
	}{
		{"", []string{"02:00 started", "03:00 skipped", "04:00 skipped"}, nil},
		{workflow.OverlapAllow, []string{"02:00 started", "03:00 started", "04:00 started"}, nil},
		{workflow.OverlapQueue, []string{"02:00 started", "03:00 waiting", "04:00 skipped"},
			[]string{"02:00 started", "03:00 started", "04:00 skipped"}},
		{workflow.OverlapReplace, []string{"02:00 started", "03:00 started", "04:00 started"}, nil},
	} {
		t.Run("overlap "+string(c.rule), func(t *testing.T) {
			w := newWorld(t)
			at(w, "2026-11-24T01:30")
			w.create(simple)
			rule := cron("0 * * * *")
			rule.Overlap = c.rule
			w.schedule(rule)
			w.conduct()
			for i, hour := range []string{"02", "03", "04"} {
				at(w, "2026-11-24T"+hour+":00")
				w.settled(c.want[:i+1]...)
				if i == 0 {
					w.until("flow-1", workflow.Running)
				}
			}
			if c.end != nil {
				w.wish("flow-1", workflow.Stop)
				w.settled(c.end...)
			}
			if c.rule == workflow.OverlapReplace {
				w.until("flow-1", workflow.Stopped)
				w.until("flow-2", workflow.Stopped)
				w.until("flow-3", workflow.Running)
			}
		})
	}
}

// One that is paused is in the way as well, and is replaced as well.
func TestReplaceAPausedExecution(t *testing.T) {
	w := newWorld(t)
	at(w, "2026-11-24T01:30")
	w.create(simple)
	rule := cron("0 * * * *")
	rule.Overlap = workflow.OverlapReplace
	w.schedule(rule)
	w.conduct()
	id := w.start()
	w.until(id, workflow.Running)
	w.wish(id, workflow.Pause)
	w.until(id, workflow.Paused)
	at(w, "2026-11-24T02:00")
	x := w.until(id, workflow.Stopped)
	w.settled("02:00 started")
	w.until("flow-2", workflow.Running)
	if x.Outcome != "" {
		t.Errorf("%+v", x)
	}
}

func TestCatchUp(t *testing.T) {
	for _, c := range []struct {
		rule workflow.CatchUp
		most int
		now  string
		want []string
	}{
		{workflow.CatchUpNone, 0, "05:30", []string{"02:00 missed", "03:00 missed", "04:00 missed", "05:00 missed"}},
		{"", 0, "05:30", []string{"02:00 missed", "03:00 missed", "04:00 missed", "05:00 started"}},
		{"", 0, "05:00", []string{"02:00 missed", "03:00 missed", "04:00 missed", "05:00 started"}},
		{workflow.CatchUpNone, 0, "05:00", []string{"02:00 missed", "03:00 missed", "04:00 missed", "05:00 started"}},
		{workflow.CatchUpAll, 2, "05:30", []string{"02:00 missed", "03:00 missed", "04:00 started", "05:00 started"}},
		{workflow.CatchUpAll, 0, "05:00", []string{"02:00 started", "03:00 started", "04:00 started", "05:00 started"}},
	} {
		t.Run(fmt.Sprint(c.rule, c.most, c.now), func(t *testing.T) {
			w := newWorld(t)
			w.engine.work = 1
			at(w, "2026-11-24T01:30")
			w.create(simple)
			rule := cron("0 * * * *")
			rule.CatchUp, rule.CatchUpMax = c.rule, c.most
			w.schedule(rule)
			at(w, "2026-11-24T"+c.now) // nobody conducts meanwhile
			w.conduct()
			w.settled(c.want...)
		})
	}
}

// Of a long absence the last slots are listed, and the others are counted.
func TestALongAbsence(t *testing.T) {
	w := newWorld(t)
	w.engine.work = 1
	at(w, "2026-01-01T00:00")
	w.create(simple)
	w.schedule(cron("* * * * *"))
	at(w, "2026-11-24T01:30")
	w.conduct()
	w.decided()
	_, all := w.slots()
	last := all[len(all)-1]
	if len(all) > 400 || last.State != workflow.SlotStarted || last.Label != "2026-11-24T01:30Z[UTC]" {
		t.Errorf("%d slots, the last %+v", len(all), last)
	}
	// 327 days and 90 minutes have passed.
	var more int
	_, err := fmt.Sscanf(all[0].Reason,
		"the server did not run when it was due; so it was with %d more that are not listed", &more)
	if err != nil || more+len(all) != 327*24*60+90 {
		t.Errorf("%s; %d are listed", all[0].Reason, len(all))
	}
}

func TestPauseAndChange(t *testing.T) {
	w := newWorld(t)
	at(w, "2026-11-24T01:30")
	w.create(simple)
	s := w.schedule(cron("0 * * * *"))
	w.conduct()
	s, err := w.PauseSchedule(bg, "me", s.ID, "holidays")
	if err != nil || s.Next != nil || s.Paused.IsZero() || s.Reason != "holidays" {
		t.Fatalf("%+v, %v", s, err)
	}
	at(w, "2026-11-24T03:30")
	s, err = w.ResumeSchedule(bg, "me", s.ID)
	if err != nil || s.Next.Label != "2026-11-24T04:00Z[UTC]" || !s.Paused.IsZero() {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := w.ChangeSchedule(bg, "me", s.ID, s.Lock-1, cron("@daily")); !errors.Is(err, workflow.ErrStale) {
		t.Errorf("a stale change: %v", err)
	}
	s, err = w.ChangeSchedule(bg, "me", s.ID, s.Lock, cron("5 4 * * *"))
	if err != nil || s.Next.Label != "2026-11-24T04:05[UTC]" {
		t.Fatalf("%+v, %v", s, err)
	}
	at(w, "2026-11-24T04:05")
	w.settled("04:05 started")
	// The slot that has begun does not come again, whatever the rule was meanwhile.
	at(w, "2026-11-24T04:04")
	for _, line := range []string{"5 * * * *", "5 4 * * *"} {
		if s, err = w.ChangeSchedule(bg, "me", s.ID, 0, cron(line)); err != nil {
			t.Fatal(err)
		}
	}
	if s.Next.Label != "2026-11-25T04:05[UTC]" {
		t.Errorf("the next slot is %s", s.Next.Label)
	}
	flow, err := w.Workflow(bg, "flow")
	yes := true
	if err == nil {
		_, err = w.Update(bg, "me", "flow", flow.Lock, workflow.Changed{Archived: &yes})
	}
	if err != nil {
		t.Fatal(err)
	}
	at(w, "2026-11-25T04:05")
	w.decided()
	s, err = w.Schedule(bg, s.ID)
	if err != nil || s.Paused.IsZero() || s.Reason != "the workflow is archived" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := w.ResumeSchedule(bg, "me", s.ID); !errors.Is(err, workflow.ErrArchived) {
		t.Errorf("%v", err)
	}
	if err := w.RemoveSchedule(bg, "me", s.ID, 0); err != nil {
		t.Error(err)
	}
}

func TestScheduleFaults(t *testing.T) {
	w := newWorld(t)
	at(w, "2026-11-24T01:30")
	w.create(simple)
	bad := (*workflow.Invalid)(nil)
	for _, r := range []workflow.ScheduleRule{{}, cron("x"), {Overlap: "maybe"}, {CatchUp: "some"}, {CatchUpMax: 101}} {
		if r.Cron == "" && r.Overlap+workflow.Overlap(r.CatchUp) != "" || r.CatchUpMax > 0 {
			r.Cron = "@daily"
		}
		if _, err := w.AddSchedule(bg, "me", "flow", "", r); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	past := workflow.ScheduleRule{}
	past.Once = "2020-01-01T00:00"
	if _, err := w.AddSchedule(bg, "me", "flow", "", past); !errors.As(err, &bad) {
		t.Errorf("a time that has passed: %v", err)
	}
	if _, err := w.AddSchedule(bg, "me", "flow", "A B", cron("@daily")); !errors.As(err, &bad) {
		t.Errorf("a name: %v", err)
	}
	f, err := w.Forecast(cron("0 8 * * *"), 5)
	if err != nil || len(f.Slots) != 5 || f.Words != "every day at 08:00, UTC" {
		t.Errorf("%+v, %v", f, err)
	}
}

// A slot whose workflow cannot run any more is skipped, and says why.
func TestASlotThatCannotBegin(t *testing.T) {
	broken := false
	w := newWorld(t, func(o *workflow.Options) {
		o.Check = func(*crawl.Job) error {
			if broken {
				return errors.New("a plug-in is gone")
			}
			return nil
		}
	})
	at(w, "2026-11-24T01:30")
	w.create(simple)
	w.schedule(cron("0 2 * * *"))
	broken = true
	w.conduct()
	at(w, "2026-11-24T02:00")
	slot := w.settled("02:00 skipped")[0]
	if slot.Reason != "it cannot begin: a plug-in is gone" {
		t.Error(slot.Reason)
	}
}
