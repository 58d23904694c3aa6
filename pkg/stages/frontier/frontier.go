package frontier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
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
	Judge    Judge    // nil: what was queued is wanted
	Resolver Resolver // nil: no host's address is known beforehand
	// Ring tells which hosts are this node's; nil: all are. With it, Following is told of the pages whose links are on their way.
	Ring      Ring
	Following crawl.Following
	// Places remembers the pages that were taken back where their records may be stored and stay; nil: the store of the
	// records takes these back.
	Places crawl.Places
	Log    *slog.Logger
}

// Frontier schedules fetches. Make it with New, call Recover, then Run; In and Outcomes are its handlers.
//
// mu guards the fields below it. The dispatcher (Run) alone draws, pulls, activates hosts and leases; outcomes free hosts
// and take them off the workbench.
type Frontier struct {
	cfg    Config
	deps   Deps
	wake   chan struct{}
	duties duties
	links  links
	places placeKeeper

	storing   sync.Mutex // held while records of hosts that left the workbench are stored
	mu        sync.Mutex
	bench     workbench
	hosts     hosts
	stock     stock
	leases    leases
	robots    robotsDesk
	jobs      jobs
	resolving int // hosts whose addresses are being looked up
	doubted   doubted
	trouble   trouble
	paused    bool
	random    *rand.Rand

	gather       gather      // of outcomes
	unsaid       atomic.Bool // there are leases in unsent
	unproven     atomic.Bool // queues were filled since the last probe
	resolves     sync.WaitGroup
	resolveSlots chan struct{}

	// The dispatcher's.
	drawn     []crawl.Delivery // drawn, but their hosts found no place yet
	unsent    []bus.Message    // leases to be published
	unsettled []crawl.Delivery // to be settled, once what is unsent was published
	strays    []crawl.Delivery // found in the back queues of others, to be moved
	waits     bus.Waits
	probed    time.Time // when queues were last looked into
}

// New returns a frontier that knows nothing yet.
func New(cfg Config, deps Deps) (*Frontier, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	f := &Frontier{
		cfg: cfg, deps: deps, wake: make(chan struct{}, 1),
		bench: newWorkbench(cfg.Window), stock: stock{later: map[int]*laterQueue{}, log: deps.Log},
		jobs: newJobs(),
		leases: leases{
			byID:    map[crawl.MessageID]*lease{},
			last:    rand.Int64N(1 << 62), // leases of another process have other numbers
			tracked: deps.Ring != nil || deps.Following != nil,
		},
		resolveSlots: make(chan struct{}, cfg.Resolvers),
		random:       rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}
	f.hosts = newHosts(&f.jobs)
	f.robots = robotsDesk{&f.leases, cfg.RobotsPatience}
	f.duties, f.links, f.places = newDuties(deps.Ring), newLinks(deps.Following), newPlaceKeeper(f, deps.Places)
	return f, nil
}

// Stats is what a frontier holds at a moment.
type Stats struct {
	Queued      int64 // tasks in front, back and later queues and in buffers
	InFlight    int   // leases without outcome
	ActiveHosts int
	Waiting     int64     // retries whose time has not come
	NextDue     time.Time // when the next host may be contacted; zero: none waits
	Leases      int64     // number of the last lease: it grows by one with each
	// Shut counts the tasks that wait for a host to be asked again which could not be had; the first is due at
	// ShutUntil. A crawl need not wait for them.
	Shut      int64
	ShutUntil time.Time
	Trouble   string // for people: why nothing is leased though there is work; empty: there is no reason
}

// Stats returns what the frontier holds.
func (f *Frontier) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Stats{Queued: f.stock.queued, InFlight: f.leases.len(), ActiveHosts: len(f.hosts.active), Leases: f.leases.last}
	now := time.Now()
	s.Trouble = f.trouble.says(now)
	f.stock.waits(&s, now)
	if at, ok := f.bench.due(); ok {
		s.NextDue = at
	}
	return s
}

// Pause stops or resumes leasing, and reports whether that is a change. What is under way goes on.
func (f *Frontier) Pause(paused bool) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed = f.paused != paused
	f.paused = paused
	f.signal()
	return changed
}

// Hold keeps one job's tasks from being leased, or lets them go on, and reports whether that is a change. Other jobs go on meanwhile.
func (f *Frontier) Hold(id crawl.JobID, held bool) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.jobs.hold(id, held) {
		return false
	}
	if !held {
		f.stock.retrieve()
	}
	f.signal()
	return true
}

// Exhausted reports whether a job has spent its page budget and none of its pages is under way.
func (f *Frontier) Exhausted(id crawl.JobID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	js := f.jobs.of(id)
	return js != nil && js.exhausted()
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
	js := f.jobs.of(id)
	var known *crawl.Job
	if js != nil {
		known = js.job
	}
	f.mu.Unlock()
	if js != nil && f.follow(ctx, js, known) {
		return js, nil
	}
	job, err := f.deps.Jobs.Job(ctx, id)
	if errors.Is(err, crawl.ErrDiscarded) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.jobs.meet(id, deadJob(id)), nil
	}
	if err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	tally, err := f.deps.Ledger.Tally(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("frontier: tally of job %s: %w", id, err)
	}
	kept, err := f.places.read(ctx, id)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs.meet(id, &jobState{job: job, pages: int(tally.Pages), places: kept}), nil
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

// Names of the frontier's queues. front.0 holds tasks that were set aside; a restart draws them again.
const (
	frontPrefix = "front."
	backPrefix  = "back."
	laterPrefix = "later."
)

func clampPriority(p int) int {
	if p == 0 {
		return crawl.DefaultPriority
	}
	return min(max(p, crawl.MinPriority), crawl.MaxPriority)
}
