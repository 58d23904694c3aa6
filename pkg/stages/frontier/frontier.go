package frontier

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier/revisits"
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
	// Ring tells which hosts are this node's; nil: all are. With it, Following is told of the pages whose links are on
	// their way.
	Ring      Ring
	Following crawl.Following
	// Places remembers the pages that were taken back where their records may be stored and stay; nil: the store of the
	// records takes these back.
	Places crawl.Places
	// Quiet reports whether no message of a job is on its way anywhere, and no seed of it is still to come; nil:
	// unknown. With it, jobs may be crawled level by level.
	Quiet func(crawl.JobID) bool
	// Spending counts what jobs spend of their bounds; nil: their time and bytes have none.
	Spending crawl.Spending
	// Nodes is over how many nodes a job's rate and bandwidth are divided; nil: one.
	Nodes func() int
	// Revisits is what is remembered of pages between their visits; nil: each URL is visited once.
	Revisits crawl.Revisits
	// Resources is told of resources that cannot be had; nil: none are fetched.
	Resources crawl.Resources
	// Trials are the hosts that topical jobs judge; nil: none are judged.
	Trials crawl.HostTrials
	// Promise scores what was queued before its job had a model of its topic; nil: nothing is scored.
	Promise Promise
	Log     *slog.Logger
}

// Frontier schedules fetches. Make it with New, call Recover, then Run; In and Outcomes are its handlers.
//
// It joins parts that own what they know: see parts and dispatcher. A method of Frontier is what takes several of them.
type Frontier struct {
	cfg  Config
	deps Deps
	wake chan struct{}

	duties  duties         // to other nodes
	links   links          // that are on their way
	places  placeKeeper    // of pages that are taken back
	doubted doubted        // URLs that may be queued twice
	gather  gather         // of outcomes
	book    *revisits.Book // of pages of continuous jobs
	looks   looks          // into the queues, for audits

	storing  sync.Mutex  // held while records of hosts that left the workbench are stored
	unproven atomic.Bool // queues were filled since the last probe

	parts
	run dispatcher
}

// parts are what mu guards. The dispatcher alone draws, pulls, activates hosts and leases; outcomes free hosts and take
// them off the workbench. No part calls a store: mu is never held while one answers.
type parts struct {
	mu        sync.Mutex
	bench     workbench  // who is the next to be asked
	hosts     hosts      // the active hosts, their records and their clocks
	stock     stock      // the tasks that wait, counted
	leases    leases     // the tasks that are under way
	robots    robotsDesk // robots.txt files before pages
	jobs      jobs       // budgets, and what is held
	guests    guests     // who asks hosts besides
	addresses addresses  // of hosts; its counter of look-ups is what mu guards
	trouble   trouble    // our own
	paused    bool
}

// dispatcher draws tasks and leases them. Only Run calls its methods, and Recover before it: what is its own needs no
// lock.
type dispatcher struct {
	*Frontier
	out    outbox
	drawn  []crawl.Delivery // drawn, but their hosts found no place yet
	strays []crawl.Delivery // found in the back queues of others, to be moved
	waits  bus.Waits
	probed time.Time // when queues were last looked into
	// levelSoon says that nothing is left of a level but messages.
	levelSoon bool
	random    *rand.Rand
	tried     tried
}

// New returns a frontier that knows nothing yet.
func New(cfg Config, deps Deps) (*Frontier, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	f := &Frontier{cfg: cfg, deps: deps, wake: make(chan struct{}, 1)}
	f.duties, f.links, f.places = newDuties(deps.Ring), newLinks(deps.Following), newPlaceKeeper(f, deps.Places)
	f.bench, f.jobs = newWorkbench(cfg.Window), newJobs()
	f.guests = newGuests()
	f.book = newBook(f)
	f.looks.turn.L = &f.looks.mu
	f.hosts = newHosts(&f.jobs, &f.guests)
	f.stock = stock{later: map[int]*laterQueue{}, levels: levels{}, backs: backQueues{most: cfg.MaxBack}, log: deps.Log}
	f.leases = newLeases(deps.Ring != nil || deps.Following != nil, deps.Ring != nil)
	f.robots = robotsDesk{&f.leases, cfg.RobotsPatience}
	f.addresses.init(&cfg, deps.Resolver)
	f.run.Frontier, f.run.out.bus, f.run.out.queues = f, deps.Bus, deps.Queues
	f.run.tried = newTried(deps.Jobs)
	f.run.random = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
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

// signal wakes the dispatcher.
func (f *Frontier) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
