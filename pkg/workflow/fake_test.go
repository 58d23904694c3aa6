package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/sqlite"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// fakeJob is what the fake engine knows of a job.
type fakeJob struct {
	Job       *crawl.Job
	Progress  workflow.Progress
	Submits   int
	Discarded string
}

// fakeEngine is an engine that does what a test says: it injects faults. With a file it survives its process.
type fakeEngine struct {
	mu   sync.Mutex
	file string
	jobs map[crawl.JobID]*fakeJob

	fail    map[string]error // by method
	work    int              // a job that runs ends after so many looks at it; 0: never
	looks   map[crawl.JobID]int
	stats   workflow.Stats
	audit   workflow.AuditSummary
	block   chan struct{} // Audit waits for it
	braked  string
	drained bool // a stop and a hold leave nothing in flight
}

func newFake(file string) *fakeEngine {
	f := &fakeEngine{file: file, jobs: map[crawl.JobID]*fakeJob{}, fail: map[string]error{}, looks: map[crawl.JobID]int{},
		drained: true, audit: workflow.AuditSummary{OK: true}, stats: workflow.Stats{Pages: 25}}
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &f.jobs); err != nil {
			panic(err)
		}
	}
	return f
}

// with changes a job, durably where there is a file.
func (f *fakeEngine) with(id crawl.JobID, method string, do func(*fakeJob)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fail[method]; err != nil {
		return err
	}
	j := f.jobs[id]
	if j == nil {
		j = &fakeJob{}
		if method == "Submit" {
			f.jobs[id] = j
		}
	}
	do(j)
	if f.file == "" {
		return nil
	}
	data, err := json.Marshal(f.jobs)
	if err == nil {
		err = os.WriteFile(f.file+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(f.file+".new", f.file)
	}
	return err
}

func (f *fakeEngine) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *fakeEngine) Submit(_ context.Context, job *crawl.Job) error {
	return f.with(job.ID, "Submit", func(j *fakeJob) {
		j.Job, j.Progress.Known, j.Progress.Stopped, j.Progress.Held = job, true, false, false
		j.Progress.Ended, j.Progress.Revised = false, false
		j.Progress.InFlight = 2
		j.Submits++
	})
}

func (f *fakeEngine) Hold(_ context.Context, id crawl.JobID, held bool) error {
	return f.with(id, "Hold", func(j *fakeJob) {
		j.Progress.Held = held
		if held && f.drained {
			j.Progress.InFlight = 0
		}
	})
}

func (f *fakeEngine) Stop(_ context.Context, id crawl.JobID) error {
	return f.with(id, "Stop", func(j *fakeJob) {
		j.Progress.Stopped = true
		if f.drained {
			j.Progress.InFlight = 0
		}
	})
}

func (f *fakeEngine) Progress(_ context.Context, id crawl.JobID) (p workflow.Progress, err error) {
	err = f.with(id, "Progress", func(j *fakeJob) {
		if j.Progress.Known && !j.Progress.Held && !j.Progress.Stopped && f.braked == "" {
			f.looks[id]++
			j.Progress.Pages = max(j.Progress.Pages, int64(f.looks[id])*5)
			if f.work > 0 && f.looks[id] >= f.work {
				j.Progress.Ended, j.Progress.InFlight = true, 0
			}
		}
		p = j.Progress
		if p.Braked = f.braked; p.Braked != "" {
			p.InFlight = 0
		}
	})
	return p, err
}

func (f *fakeEngine) Stats(context.Context, crawl.JobID) (*workflow.Stats, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	return &s, f.fail["Stats"]
}

func (f *fakeEngine) Audit(ctx context.Context, _ crawl.JobID) (*workflow.AuditSummary, error) {
	f.mu.Lock()
	block, a, err := f.block, f.audit, f.fail["Audit"]
	f.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &a, err
}

func (f *fakeEngine) Discard(_ context.Context, id crawl.JobID, keepRecords bool) error {
	return f.with(id, "Discard", func(j *fakeJob) {
		if !j.Progress.Stopped && !j.Progress.Ended && j.Progress.Known {
			panic("a job is discarded that may crawl")
		}
		if j.Discarded = "all"; keepRecords {
			j.Discarded = "state"
		}
	})
}

var bg = context.Background()

// world is a manager over a store in a file and a fake engine.
type world struct {
	*testing.T
	*workflow.Manager
	store  workflow.Store
	engine *fakeEngine
	clock  *clock
	stop   func()
}

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newWorld(t *testing.T, edit ...func(*workflow.Options)) *world {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "control.db"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, store: s, engine: newFake(""), clock: &clock{at: time.Now()}}
	opt := workflow.Options{Poll: 2 * time.Millisecond, RetryBase: time.Millisecond, Now: w.clock.now}
	for _, e := range edit {
		e(&opt)
	}
	w.Manager = workflow.NewManager(s, w.engine, opt)
	t.Cleanup(func() {
		if w.stop != nil {
			w.stop()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// conduct lets the conductor run until stop or the end of the test.
func (w *world) conduct() {
	ctx, cancel := context.WithCancel(bg)
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.Manager.Run(ctx) })
	w.stop = func() { cancel(); wg.Wait(); w.stop = nil }
}

const simple = "seeds: [http://a.test/]\n"

func (w *world) create(source string) *workflow.Workflow {
	w.Helper()
	flow, err := w.Create(bg, "me", workflow.New{Slug: "flow", Source: source})
	if err != nil {
		w.Fatal(err)
	}
	return flow
}

func (w *world) start() crawl.JobID {
	w.Helper()
	x, err := w.Start(bg, "me", "flow", workflow.Overrides{})
	if err != nil {
		w.Fatal(err)
	}
	return x.ID
}

func (w *world) wish(id crawl.JobID, d workflow.Desired) {
	w.Helper()
	if _, err := w.Wish(bg, "me", id, d, ""); err != nil {
		w.Fatal(err)
	}
}

// until waits for a state.
func (w *world) until(id crawl.JobID, state workflow.State) *workflow.Execution {
	w.Helper()
	return w.when(id, string(state), func(x *workflow.Execution) bool { return x.State == state })
}

func (w *world) when(id crawl.JobID, what string, ok func(*workflow.Execution) bool) *workflow.Execution {
	w.Helper()
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Millisecond) {
		x, err := w.store.Execution(bg, id)
		if err != nil {
			w.Fatal(err)
		}
		if ok(x) {
			return x
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s is never %s: %+v", id, what, x)
		}
	}
}

// story is what the events of an execution say happened, without milestones.
func (w *world) story(id crawl.JobID) (kinds []string) {
	w.Helper()
	events, err := w.Events(bg, workflow.EventFilter{Execution: id}, 0, 1000)
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range events {
		kinds = append(kinds, e.Type)
	}
	if err := consistent(w.store, id); err != nil {
		w.Error(err)
	}
	return kinds
}

var errInjected = errors.New("injected")
