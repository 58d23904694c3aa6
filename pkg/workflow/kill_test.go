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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// What a process that is to be killed is told.
const (
	envDir   = "WHIRLPOOL_TEST_KILL_DIR"
	envAfter = "WHIRLPOOL_TEST_KILL_AFTER" // calls of the store and the engine
)

// wishesOf are what is wanted of each execution, one after the other.
var wishesOf = map[crawl.JobID][]workflow.Desired{
	"flow-2": {workflow.Pause, workflow.Run},
	"flow-3": {workflow.Stop, workflow.Run},
	"flow-4": {workflow.Cancel},
	"flow-5": {workflow.Pause, workflow.Stop},
}

const killedRuns = 5

// TestKilledAnywhere kills a process between any two of its steps, or at any moment, again and again: no state is
// impossible, no event is missing or doubled, and all comes to its end.
func TestKilledAnywhere(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	if os.Getenv(envDir) != "" {
		t.Skip("is the process that is killed")
	}
	const seeds = 6 // some 25 kills each
	for seed := range seeds + 2 {
		name := strconv.Itoa(seed)
		if seed >= seeds {
			name = "postgres " + name
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if seed >= seeds {
				usePostgres(t, dir)
			}
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			kills := 0
			for kills < 60 {
				after := 0
				if kills < 40 {
					after = 1 + rng.IntN(60)
				}
				if killed(t, dir, after, seed%4 == 3, rng) {
					kills++
					looksPossible(t, dir, false)
					continue
				}
				break
			}
			looksPossible(t, dir, true)
			t.Logf("killed %d times", kills)
		})
	}
}

// killed runs a process that kills itself after some calls, or is killed at any moment. It reports whether it was.
func killed(t *testing.T, dir string, after int, anyMoment bool, rng *rand.Rand) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProcessThatIsKilled$")
	limit := after
	if anyMoment {
		limit = 0
	}
	cmd.Env = append(os.Environ(), envDir+"="+dir, envAfter+"="+strconv.Itoa(limit))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if anyMoment && after > 0 {
		shot := time.AfterFunc(time.Duration(20+rng.IntN(120))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		defer shot.Stop()
	}
	err := cmd.Wait()
	if err == nil {
		return false
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL ||
		ctx.Err() != nil {
		t.Fatalf("the process ended with %v\n%s", err, out.Bytes())
	}
	return true
}

// looksPossible judges what a process left.
func looksPossible(t *testing.T, dir string, over bool) {
	t.Helper()
	s, err := openKilled(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list, err := s.Executions(bg, workflow.ExecutionFilter{}, workflow.Page{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	followers, succeeded := map[string]int{}, 0
	for _, x := range list.Items {
		if err := consistent(s, x.ID); err != nil {
			t.Error(err)
		}
		if x.Cause.Kind == "then" {
			followers[x.Cause.By]++
		}
		if x.State == workflow.Succeeded && x.Slug == "flow" {
			succeeded++
		}
		if over && !x.State.Ended() {
			t.Errorf("%s is %s at the end", x.ID, x.State)
		}
	}
	for id, n := range followers {
		if n != 1 {
			t.Errorf("%d executions follow %s", n, id)
		}
	}
	if over && (len(followers) != succeeded || succeeded < 3 || len(list.Items) != killedRuns+succeeded) {
		t.Errorf("%d executions, %d succeeded, %d have followers", len(list.Items), succeeded, len(followers))
	}
}

// TestProcessThatIsKilled is what TestKilledAnywhere kills. It goes on where the one before it stood.
func TestProcessThatIsKilled(t *testing.T) {
	dir := os.Getenv(envDir)
	if dir == "" {
		t.Skip("TestKilledAnywhere runs it")
	}
	after, err := strconv.Atoi(os.Getenv(envAfter))
	if err != nil {
		t.Fatal(err)
	}
	deadly := &deadly{after: int64(after)}
	s, err := openKilled(dir)
	if err != nil {
		t.Fatal(err)
	}
	engine := newFake(filepath.Join(dir, "engine.json"))
	engine.work = 8
	m := workflow.NewManager(&deadlyStore{s, deadly}, &deadlyEngine{engine, deadly},
		workflow.Options{Poll: 2 * time.Millisecond})
	ctx, cancel := context.WithTimeout(bg, 10*time.Minute)
	defer cancel()
	go func() { _ = m.Run(ctx) }()
	if err := scenario(ctx, m); err != nil {
		list, _ := s.Executions(bg, workflow.ExecutionFilter{}, workflow.Page{Limit: 100})
		t.Fatalf("%v\n%+v", err, list.Items)
	}
}

// scenario does what is not done yet, and waits for the end of all executions.
func scenario(ctx context.Context, m *workflow.Manager) error {
	for slug, source := range map[string]string{"after": simple, "flow": simple + "lifecycle: {then: after}\n"} {
		if _, err := m.Workflow(ctx, slug); errors.Is(err, workflow.ErrNotFound) {
			if _, err := m.Create(ctx, "me", workflow.New{Slug: slug, Source: source}); err != nil {
				return err
			}
		}
	}
	for {
		flow, err := m.Workflow(ctx, "flow")
		if err != nil {
			return err
		}
		if flow.Executions >= killedRuns {
			break
		}
		if _, err := m.Start(ctx, "me", "flow", workflow.Overrides{}); err != nil {
			return err
		}
	}
	for over := false; !over; time.Sleep(2 * time.Millisecond) { // polls
		over = true
		list, err := m.Executions(ctx, workflow.ExecutionFilter{}, workflow.Page{Limit: 100})
		if err != nil {
			return err
		}
		for i := range list.Items {
			done, err := wishNext(ctx, m, &list.Items[i])
			if err != nil {
				return err
			}
			over = over && done
		}
	}
	return nil
}

// wishNext wishes the next that is to be wished of an execution, once the last wish has come true. It reports whether
// nothing is left to come.
func wishNext(ctx context.Context, m *workflow.Manager, x *workflow.Execution) (bool, error) {
	events, err := m.Events(ctx, workflow.EventFilter{Execution: x.ID, Types: []string{"execution.wished"}}, 0, 100)
	if err != nil {
		return false, err
	}
	left := wishesOf[x.ID]
	if len(events) >= len(left) {
		return x.State.Ended(), nil
	}
	settled := map[workflow.Desired][]workflow.State{workflow.Run: {workflow.Running, workflow.Pending,
		workflow.Succeeded}, workflow.Pause: {workflow.Paused, workflow.Pending},
		workflow.Stop: {workflow.Stopped}}
	for _, state := range settled[x.Desired] {
		if x.State == state {
			_, err := m.Wish(ctx, "me", x.ID, left[len(events)], "test")
			if errors.Is(err, workflow.ErrConflict) && x.State.Ended() {
				return true, nil // it had come to its end before
			}
			if errors.Is(err, workflow.ErrConflict) {
				err = nil // it has moved on since it was read
			}
			return false, err
		}
	}
	return x.State.Ended() && x.State != workflow.Stopped, nil
}

// deadly kills the process at a call.
type deadly struct{ calls, after int64 }

func (d *deadly) step() {
	if d.after > 0 && atomic.AddInt64(&d.calls, 1) == d.after {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal comes
	}
}

// deadlyStore may die before and after each of its changes.
type deadlyStore struct {
	workflow.Store
	d *deadly
}

func (s *deadlyStore) around(do func() error) error {
	s.d.step()
	err := do()
	s.d.step()
	return err
}

func (s *deadlyStore) CreateWorkflow(ctx context.Context, w *workflow.Workflow, v *workflow.Version,
	e workflow.Event) error {
	return s.around(func() error { return s.Store.CreateWorkflow(ctx, w, v, e) })
}

func (s *deadlyStore) CreateExecution(ctx context.Context, x *workflow.Execution, job *crawl.Job, once string,
	e workflow.Event) error {
	return s.around(func() error { return s.Store.CreateExecution(ctx, x, job, once, e) })
}

func (s *deadlyStore) Change(ctx context.Context, x *workflow.Execution, from workflow.State,
	events ...workflow.Event) error {
	return s.around(func() error { return s.Store.Change(ctx, x, from, events...) })
}

func (s *deadlyStore) SetStep(ctx context.Context, id crawl.JobID, attempt int, step workflow.Step) error {
	return s.around(func() error { return s.Store.SetStep(ctx, id, attempt, step) })
}

// deadlyEngine may die before and after each of its orders.
type deadlyEngine struct {
	*fakeEngine
	d *deadly
}

func (e *deadlyEngine) around(do func() error) error {
	e.d.step()
	err := do()
	e.d.step()
	return err
}

func (e *deadlyEngine) Submit(ctx context.Context, job *crawl.Job) error {
	return e.around(func() error { return e.fakeEngine.Submit(ctx, job) })
}

func (e *deadlyEngine) Hold(ctx context.Context, id crawl.JobID, held bool) error {
	return e.around(func() error { return e.fakeEngine.Hold(ctx, id, held) })
}

func (e *deadlyEngine) Stop(ctx context.Context, id crawl.JobID) error {
	return e.around(func() error { return e.fakeEngine.Stop(ctx, id) })
}

// TestTwoConductors: a moment of two is harmless.
func TestTwoConductors(t *testing.T) {
	if err := racing(t, func(s workflow.Store) workflow.Store { return s }); err != nil {
		t.Error(err)
	}
}

// TestNegativeControlCompareAndSet: what TestTwoConductors and TestKilledAnywhere look for is found where a conductor
// overwrites what somebody else stored.
func TestNegativeControlCompareAndSet(t *testing.T) {
	for range 10 {
		if racing(t, func(s workflow.Store) workflow.Store { return &blind{s} }) != nil {
			return
		}
	}
	t.Error("a store that compares nothing went unnoticed ten times")
}

// blind stores whatever it is given.
type blind struct{ workflow.Store }

func (s *blind) Change(ctx context.Context, x *workflow.Execution, from workflow.State,
	events ...workflow.Event) error {
	for {
		err := s.Store.Change(ctx, x, from, events...)
		if !errors.Is(err, workflow.ErrStale) {
			return err
		}
		now, err := s.Execution(ctx, x.ID)
		if err != nil {
			return err
		}
		x.Lock, from = now.Lock, now.State
	}
}

// racing lets two conductors and two people work on the same executions, and returns what is impossible in the end.
func racing(t *testing.T, wrap func(workflow.Store) workflow.Store) error {
	t.Helper()
	w := newWorld(t)
	w.create(simple)
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	var done []<-chan struct{}
	run := func(f func()) {
		c := make(chan struct{})
		done = append(done, c)
		go func() { defer close(c); f() }()
	}
	ids := []crawl.JobID{w.start(), w.start(), w.start()}
	for person := range 2 {
		m := workflow.NewManager(wrap(w.store), w.engine, workflow.Options{Poll: time.Millisecond})
		run(func() { _ = m.Run(ctx) })
		run(func() {
			rng := rand.New(rand.NewPCG(uint64(person), 7))
			for range 150 {
				d := []workflow.Desired{workflow.Run, workflow.Pause, workflow.Run, workflow.Stop}[rng.IntN(4)]
				_, _ = m.Wish(ctx, "me", ids[rng.IntN(3)], d, "") // some are forbidden
			}
		})
	}
	<-done[1]
	<-done[3]
	cancel()
	<-done[0]
	<-done[2]
	var bad []error
	for _, id := range ids {
		if err := consistent(w.store, id); err != nil {
			bad = append(bad, fmt.Errorf("%w", err))
		}
	}
	return errors.Join(bad...)
}
