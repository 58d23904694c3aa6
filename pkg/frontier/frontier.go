package frontier

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Resolver finds the addresses of a host, so that hosts on one address can share its politeness.
type Resolver interface {
	Lookup(ctx context.Context, host string) ([]netip.Addr, error)
}

// Deps are what a frontier works with.
type Deps struct {
	Queues   crawl.Queues
	Ledger   crawl.Ledger
	Hosts    crawl.Hosts
	Jobs     crawl.Jobs
	Attempts crawl.AttemptLog
	Bus      bus.Bus
	Resolver Resolver // nil: no host's address is known beforehand
	Log      *slog.Logger
}

// Frontier schedules fetches. Make it with New, call Recover, then Run; In and Outcomes are its handlers.
//
// mu guards all fields below it. Buffers of hosts, and what is drawn or pulled, belong to the dispatcher alone.
type Frontier struct {
	cfg  Config
	deps Deps
	wake chan struct{}

	mu        sync.Mutex
	bench     *workbench
	hosts     map[string]*host
	fronts    [crawl.MaxPriority + 1]int64 // tasks in each front queue that were not drawn
	later     map[int]*laterQueue
	backs     backQueues
	inflight  map[crawl.MessageID]lease
	awaiting  map[string][]*host // hosts by the origin whose robots.txt another host is to give
	jobs      map[crawl.JobID]*jobState
	blocked   []*host // hosts whose next task waits for its job's page budget
	queued    int64   // tasks in all queues and buffers
	held      int     // tasks in buffers
	resumedAt time.Time
	pacer     pacer
	random    *rand.Rand

	resolves     sync.WaitGroup
	resolveSlots chan struct{}

	drawn []crawl.Delivery // drawn, but their hosts found no place yet; the dispatcher's
}

// lease is a task on its way.
type lease struct {
	host *host
	task crawl.Task
}

// jobState counts what a job spends.
type jobState struct {
	job     *crawl.Job
	pages   int // answered with 2xx
	leased  int // page leases under way
	stopped bool
}

// New returns a frontier that knows nothing yet.
func New(cfg Config, deps Deps) (*Frontier, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Frontier{
		cfg: cfg, deps: deps, wake: make(chan struct{}, 1),
		bench: newWorkbench(), hosts: map[string]*host{}, later: map[int]*laterQueue{},
		inflight: map[crawl.MessageID]lease{}, awaiting: map[string][]*host{}, jobs: map[crawl.JobID]*jobState{},
		resolveSlots: make(chan struct{}, cfg.Resolvers),
		random:       rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}, nil
}

// Stats is what a frontier holds at a moment.
type Stats struct {
	Queued      int64 // tasks in front, back and later queues and in buffers
	InFlight    int   // leases without outcome
	ActiveHosts int
	Waiting     int64     // retries whose time has not come
	NextDue     time.Time // when the next host may be contacted; zero: none waits
}

// Stats returns what the frontier holds.
func (f *Frontier) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Stats{Queued: f.queued, InFlight: len(f.inflight), ActiveHosts: len(f.hosts)}
	for _, q := range f.later {
		s.Waiting += q.count
	}
	if at, ok := f.bench.due(); ok {
		s.NextDue = at
	}
	return s
}

// Exhausted reports whether a job has spent its page budget and none of its pages is under way.
func (f *Frontier) Exhausted(id crawl.JobID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	js := f.jobs[id]
	return js != nil && js.full() && js.leased == 0
}

// full reports whether no further page may be leased: those under way may all become pages.
func (js *jobState) full() bool {
	return js.job.MaxPages > 0 && js.pages+js.leased >= js.job.MaxPages
}

// signal wakes the dispatcher.
func (f *Frontier) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// jobOf returns the state of a job, loading it at first sight.
func (f *Frontier) jobOf(ctx context.Context, id crawl.JobID) (*jobState, error) {
	f.mu.Lock()
	js := f.jobs[id]
	f.mu.Unlock()
	if js != nil {
		return js, nil
	}
	job, err := f.deps.Jobs.Job(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	tally, err := f.deps.Ledger.Tally(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("frontier: tally of job %s: %w", id, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if js = f.jobs[id]; js == nil {
		js = &jobState{job: job, pages: int(tally.Pages)}
		f.jobs[id] = js
	}
	return js, nil
}

// backQueues hands out the names of back queues.
type backQueues struct {
	free []string
	made int
}

func (b *backQueues) take() string {
	if n := len(b.free); n > 0 {
		name := b.free[n-1]
		b.free = b.free[:n-1]
		return name
	}
	b.made++
	return fmt.Sprintf("%s%d", backPrefix, b.made)
}

func (b *backQueues) give(name string) { b.free = append(b.free, name) }

// Names of the frontier's queues.
const (
	frontPrefix = "front."
	backPrefix  = "back."
	laterPrefix = "later."
)

func frontQueue(priority int) string { return fmt.Sprintf("%s%d", frontPrefix, priority) }

func clampPriority(p int) int {
	if p == 0 {
		return crawl.DefaultPriority
	}
	return min(max(p, crawl.MinPriority), crawl.MaxPriority)
}
