package workflow

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Options of a Manager. The zero value is good.
type Options struct {
	MaxRunning int                    // executions that crawl at once; 0: 10
	Check      func(*crawl.Job) error // what a definition has to pass besides Job.Validate, as of rules; nil: nothing
	// Quota is what bounds an account; nil: there are no quotas.
	Quota func(ctx context.Context, account string) (*Quota, error)
	// gives the plug-ins that a definition names by name alone their digests; nil: nobody does
	Pin func(*crawl.Job) error
	Log *slog.Logger // nil: none

	// Notify sends alerts; nil: nothing is sent. DiskUsed tells which part of the disk is full; nil: it is not watched.
	Notify   Notified
	DiskUsed func() (float64, error)

	// Times, for tests.
	Poll       time.Duration    // between two looks at everything; 0: 2 s
	RetryBase  time.Duration    // before the second try of a start, doubled each time; 0: 1 s
	FaultAfter time.Duration    // after which an engine that only fails has failed; 0: 10 min
	DrainMax   time.Duration    // after which what is still in flight is not waited for; 0: 5 min
	Now        func() time.Time // nil: time.Now
}

const (
	defaultMaxRunning = 10
	startTries        = 5
)

func (o *Options) fill() {
	for _, d := range []struct {
		at        *time.Duration
		otherwise time.Duration
	}{{&o.Poll, 2 * time.Second}, {&o.RetryBase, time.Second}, {&o.FaultAfter, 10 * time.Minute},
		{&o.DrainMax, 5 * time.Minute}} {
		if *d.at <= 0 {
			*d.at = d.otherwise
		}
	}
	if o.MaxRunning <= 0 {
		o.MaxRunning = defaultMaxRunning
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Manager is the Service of a process. Its conductor drives the engine while Run runs.
type Manager struct {
	store      Store
	engine     Engine
	opt        Options
	maxRunning atomic.Int64

	mu   sync.Mutex
	busy map[crawl.JobID]context.CancelFunc // executions with work under way
	memo map[crawl.JobID]*memo
	wake chan struct{}
	post chan struct{}        // there may be something to deliver
	told map[string]time.Time // when it was last told that a quota refused runs, by account and workflow
}

var _ Service = (*Manager)(nil)

// NewManager returns a manager over a store and an engine. It does not own them.
func NewManager(store Store, engine Engine, opt Options) *Manager {
	opt.fill()
	m := &Manager{store: store, engine: engine, opt: opt, busy: map[crawl.JobID]context.CancelFunc{},
		memo: map[crawl.JobID]*memo{}, wake: make(chan struct{}, 1), post: make(chan struct{}, 1),
		told: map[string]time.Time{}}
	m.maxRunning.Store(int64(opt.MaxRunning))
	return m
}

// MaxRunning is how many executions crawl at once.
func (m *Manager) MaxRunning() int { return int(m.maxRunning.Load()) }

// SetMaxRunning changes it. Those that crawl go on.
func (m *Manager) SetMaxRunning(n int) {
	m.maxRunning.Store(int64(max(n, 1)))
	m.nudge()
}

// nudge makes the conductor look at everything now.
func (m *Manager) nudge() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *Manager) now() time.Time { return m.opt.Now().UTC().Truncate(time.Microsecond) }

// event returns an event; data is what JSON makes of it.
func (m *Manager) event(actor, kind string, data any) Event {
	e := Event{At: m.now(), Type: kind, Actor: actor}
	if data != nil {
		e.Data, _ = json.Marshal(data) // plain structs and maps
	}
	return e
}

// Record stores an event of another part of the program, such as a revision of what runs.
func (m *Manager) Record(ctx context.Context, e Event) error {
	if e.At.IsZero() {
		e.At = m.now()
	}
	return m.store.AddEvent(ctx, e)
}

// Events implements Service.
func (m *Manager) Events(ctx context.Context, f EventFilter, after int64, limit int) ([]Event, error) {
	return m.store.Events(ctx, f, after, limit)
}

// Subscribe implements Service.
func (m *Manager) Subscribe(ctx context.Context) <-chan struct{} { return m.store.Subscribe(ctx) }

// Folded counts, by type, the events of an execution that are not kept any more.
func (m *Manager) Folded(ctx context.Context, id crawl.JobID) (map[string]int64, error) {
	return m.store.Folded(ctx, id)
}
