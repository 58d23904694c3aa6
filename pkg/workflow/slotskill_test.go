//go:build unix

package workflow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const (
	envSlots = "WHIRLPOOL_TEST_KILL_SLOTS"
	envRun   = "WHIRLPOOL_TEST_KILL_RUN" // how many processes ran before
)

// Decide implements workflow.Store.
func (s *deadlyStore) Decide(ctx context.Context, d *workflow.Decision) error {
	return s.around(func() error { return s.Store.Decide(ctx, d) })
}

// TestSlotsBeginOnceWhateverIsKilled kills a process with schedules between any two of its steps, or at any moment,
// again and again, while time goes on: each slot is there once, and each that began has one execution.
func TestSlotsBeginOnceWhateverIsKilled(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("some seconds of CPU time")
	}
	const seeds = 4
	for seed := range seeds + 1 {
		name := strconv.Itoa(seed)
		if seed == seeds {
			name = "postgres"
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if seed == seeds {
				usePostgres(t, dir)
			}
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(seed), 3))
			for run := range 8 {
				killedSlots(t, dir, run, 1+rng.IntN(80), seed%3 == 2, rng)
				if err := slotsPossible(dir); err != nil {
					t.Fatal(err)
				}
			}
			killedSlots(t, dir, 8, 0, false, rng)
			if err := slotsPossible(dir); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// killedSlots runs a process that is killed, or ends by itself after some slots where after is 0.
func killedSlots(t *testing.T, dir string, run, after int, anyMoment bool, rng *rand.Rand) {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProcessWithSlots$")
	limit := after
	if anyMoment {
		limit = 0
	}
	cmd.Env = append(os.Environ(), envSlots+"="+dir, envAfter+"="+strconv.Itoa(limit), envRun+"="+strconv.Itoa(run))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if anyMoment && after > 0 {
		shot := time.AfterFunc(time.Duration(30+rng.IntN(150))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		defer shot.Stop()
	}
	err := cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if err != nil && (!ok || status.Signal() != syscall.SIGKILL) || ctx.Err() != nil {
		t.Fatalf("the process ended with %v\n%s", err, out.Bytes())
	}
}

// slotsPossible says what is impossible about what a process left.
func slotsPossible(dir string) error {
	s, err := openKilled(dir)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	began := map[string]int{}
	for p := (workflow.Page{Limit: 200}); ; {
		list, err := s.Executions(bg, workflow.ExecutionFilter{}, p)
		if err != nil {
			return err
		}
		for i := range list.Items {
			x := &list.Items[i]
			if err := consistent(s, x.ID); err != nil {
				return err
			}
			began[fmt.Sprint(x.Cause.Schedule, " ", x.Cause.Slot, " ", x.ID)]++
		}
		if p.Cursor = list.Next; p.Cursor == "" {
			return slotsMatch(s, began)
		}
	}
}

// slotsMatch compares slots with the executions that say that they began by one.
func slotsMatch(s workflow.Store, began map[string]int) error {
	var bad []error
	last := map[workflow.ScheduleID]time.Time{}
	for p := (workflow.Page{Limit: 200}); ; {
		list, err := s.Slots(bg, workflow.SlotFilter{}, p)
		if err != nil {
			return err
		}
		for i := range list.Items {
			slot := &list.Items[i]
			key := fmt.Sprint(slot.Schedule, " ", slot.Label, " ", slot.Execution)
			if slot.State == workflow.SlotStarted {
				if began[key] != 1 {
					bad = append(bad, fmt.Errorf("%s began %d executions", key, began[key]))
				}
				delete(began, key)
			}
			if before := last[slot.Schedule]; !before.IsZero() && before.Sub(slot.At) != time.Minute {
				bad = append(bad, fmt.Errorf("slots of %s at %s and %s", slot.Schedule, slot.At, before))
			}
			last[slot.Schedule] = slot.At
		}
		if p.Cursor = list.Next; p.Cursor == "" {
			break
		}
	}
	for key := range began {
		bad = append(bad, fmt.Errorf("%s has no slot", key))
	}
	return errors.Join(bad...)
}

// slotClock is the clock of the n-th process: seven minutes after that of the one before it, and it goes on for five
// minutes, of which each takes 50 ms.
func slotClock(run int) (now func() time.Time, end time.Time) {
	base, began := time.Date(2026, 11, 24, 1, 0, 30, 0, time.UTC).Add(time.Duration(run)*7*time.Minute), time.Now()
	end = base.Add(5 * time.Minute)
	return func() time.Time { return base.Add(min(1200*time.Since(began), 5*time.Minute)) }, end
}

// TestProcessWithSlots is what TestSlotsBeginOnceWhateverIsKilled kills.
func TestProcessWithSlots(t *testing.T) {
	dir := os.Getenv(envSlots)
	if dir == "" {
		t.Skip("TestSlotsBeginOnceWhateverIsKilled runs it")
	}
	after, err1 := strconv.Atoi(os.Getenv(envAfter))
	run, err2 := strconv.Atoi(os.Getenv(envRun))
	s, err3 := openKilled(dir)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	deadly := &deadly{after: int64(after)}
	engine := newFake(filepath.Join(dir, "engine.json"))
	engine.work = 2
	now, over := slotClock(run)
	m := workflow.NewManager(&deadlyStore{s, deadly}, &deadlyEngine{engine, deadly},
		workflow.Options{Poll: 2 * time.Millisecond, Now: now})
	ctx, cancel := context.WithTimeout(bg, 15*time.Minute)
	defer cancel()
	if err := scheduled(ctx, m); err != nil {
		t.Fatal(err)
	}
	go func() { _ = m.Run(ctx) }()
	for ; ; time.Sleep(2 * time.Millisecond) { // polls
		due, err := s.DueSlots(ctx, now())
		if err != nil {
			t.Fatal(err)
		}
		if !now().Before(over) && (after > 0 || len(due) == 0) {
			return
		}
	}
}

// scheduled makes a workflow with a schedule of each kind, where they are not there.
func scheduled(ctx context.Context, m *workflow.Manager) error {
	for i, overlap := range []workflow.Overlap{workflow.OverlapSkip, workflow.OverlapQueue, workflow.OverlapReplace,
		workflow.OverlapAllow} {
		slug := string(overlap)
		if _, err := m.Workflow(ctx, slug); errors.Is(err, workflow.ErrNotFound) {
			if _, err := m.Create(ctx, "me", workflow.New{Slug: slug, Source: simple}); err != nil {
				return err
			}
		}
		rule := cron("* * * * *")
		rule.Overlap, rule.CatchUpMax = overlap, 2
		rule.CatchUp = []workflow.CatchUp{"", workflow.CatchUpAll, workflow.CatchUpNone, workflow.CatchUpAll}[i]
		if _, err := m.AddSchedule(ctx, "me", slug, "s", rule); err != nil && !errors.Is(err, workflow.ErrNameTaken) {
			return err
		}
	}
	return nil
}

// TestNegativeControlSlots: what TestSlotsBeginOnceWhateverIsKilled looks for is found where a slot begins by two
// statements, and the process dies between them.
func TestNegativeControlSlots(t *testing.T) {
	dir := t.TempDir()
	s, err := openKilled(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := workflow.NewManager(s, newFake(""), workflow.Options{})
	if err := scheduled(bg, m); err != nil {
		t.Fatal(err)
	}
	list, err := m.Schedules(bg, "allow", workflow.Page{})
	if err != nil {
		t.Fatal(err)
	}
	slot := list.Items[0].Next
	x := &workflow.Execution{Workflow: slot.Workflow, Version: 1, State: workflow.Pending, Desired: workflow.Run,
		Attempt: 1, Epoch: 1, Cause: workflow.Cause{Kind: "schedule", Schedule: slot.Schedule, Slot: slot.Label},
		Created: time.Now()}
	job, err := s.Job(bg, "x")
	if err == nil {
		t.Fatal(job)
	}
	v, err := m.Start(bg, "me", "allow", workflow.Overrides{}) // for its job
	if err == nil {
		job, err = s.Job(bg, v.ID)
	}
	if err == nil {
		err = s.CreateExecution(bg, x, job, "",
			workflow.Event{At: time.Now(), Type: "execution.created", Data: []byte(`{"to":"pending"}`)})
	}
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := slotsPossible(dir); err == nil {
		t.Error("an execution without its slot went unnoticed")
	}
}
