package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
)

// EngineOptions say how an engine runs.
type EngineOptions struct {
	Dir        string // of the store: state of all jobs
	Executions string // a directory for each job lies below it: pages.jsonl, crawl.log, bodies, warc
	Node       Config
	DNS        dnscache.Config
	Store      local.Options
	Bus        membus.Config
	// WARC says of which jobs WARC files are written; nil: of none.
	WARC func(crawl.JobID) bool
	// Tap is told of the lines of crawl.log when they are written; nil: nobody listens. It must not wait.
	Tap     func([]crawl.LogLine)
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
}

// Engine crawls many jobs at once on one machine: one store, one bus, one frontier.
type Engine struct{}

var errSoon = errors.New("the engine is not merged yet")

// DefaultEngine returns the options of `whirlpool serve` without flags.
func DefaultEngine(dir, executions string, log *slog.Logger) EngineOptions {
	opt := EngineOptions{Dir: dir, Executions: executions, Node: Default(), DNS: dnscache.Default(), Store: local.Default(),
		Bus: membus.Default(), Log: log}
	opt.Store.Logger, opt.Bus.Log = log, log
	return opt
}

// OpenEngine opens the store and prepares the jobs that it holds. They go on when Run is called.
func OpenEngine(context.Context, EngineOptions) (*Engine, error) { return nil, errSoon }

// Run crawls until ctx is done. Then it leases nothing more and finishes what is in flight, within the drain time.
func (e *Engine) Run(context.Context) error { return errSoon }

// Close closes the stores. Call it when Run has returned.
func (e *Engine) Close() error { return nil }

// Store returns the store, for readers.
func (e *Engine) Store() *local.Store { return nil }

// Submit stores the job as it is now, seeds it, and lets it run. See workflow.Engine.
func (e *Engine) Submit(context.Context, *crawl.Job) error { return errSoon }

// Hold keeps a job from leasing anything, or lets it go on.
func (e *Engine) Hold(context.Context, crawl.JobID, bool) error { return errSoon }

// Stop ends a job: nothing more is leased, now and after a restart, until it is submitted again.
func (e *Engine) Stop(context.Context, crawl.JobID) error { return errSoon }

// Discard deletes what is stored of a job that is stopped, or has ended.
func (e *Engine) Discard(context.Context, crawl.JobID, bool) error { return errSoon }

// Revise makes a revision of a job, and returns what it changes. From the next lease on it applies.
func (e *Engine) Revise(context.Context, *crawl.Job) ([]crawl.Change, error) { return nil, errSoon }

// Seeds adds seeds to a job, and returns how many of them it did not know.
func (e *Engine) Seeds(context.Context, crawl.JobID, []string) (int, error) { return 0, errSoon }

// Replay delivers dead letters of a job again: those with the ids, all where none are given.
func (e *Engine) Replay(context.Context, crawl.JobID, ...crawl.MessageID) (int, error) {
	return 0, errSoon
}

// HoldHost keeps a host from being asked by any job. ReleaseHost lets it be asked again. Both last over a restart.
func (e *Engine) HoldHost(context.Context, string) error    { return errSoon }
func (e *Engine) ReleaseHost(context.Context, string) error { return errSoon }

// HeldHosts returns the hosts that are held.
func (e *Engine) HeldHosts() []string { return nil }

// JobState is what an engine knows of a job.
type JobState struct {
	Job      *crawl.Job // as it is now
	Ended    bool
	Held     bool
	Stopped  bool
	InFlight int   // leases, and messages on their way
	Queued   int64 // URLs that wait
	Pages    int64
	Letters  int64
	Bound    string // the bound that is met; empty: none
	Fault    string // what it cannot get over; empty: nothing
	Started  time.Time
}

// State returns what is known of a job; found is false where the store does not hold it.
func (e *Engine) State(context.Context, crawl.JobID) (s JobState, found bool, err error) {
	return s, false, errSoon
}

// Braked says what holds all jobs, such as "disk"; empty: nothing.
func (e *Engine) Braked() string { return "" }

// JobDir is the directory of a job's pages.jsonl, crawl.log, bodies and warc.
func (e *Engine) JobDir(crawl.JobID) string { return "" }

// InFlight returns the tasks of a job that are leased.
func (e *Engine) InFlight(crawl.JobID) []crawl.Task { return nil }

// Queued returns up to limit of the job's queued tasks, in an order that holds between calls, and where to go on; "":
// there are no more.
func (e *Engine) Queued(_ context.Context, _ crawl.JobID, _ string, _ int) (tasks []crawl.Task, next string, err error) {
	return nil, "", errSoon
}

// HostNow is a host as the frontier sees it.
type HostNow struct {
	Key      string
	Queued   int64 // tasks of the job that was asked for; of all jobs where none was
	InFlight int
	Held     bool
	Next     time.Time // when it may be asked
	// Why says why it waits: delay, crawl-delay, retry-after, backoff, robots, address, held, window, budget, trouble,
	// idle. Text says it for people.
	Why     string
	Text    string
	Until   time.Time
	Backoff time.Duration
	Robots  string // ignored, unknown, rules, none or unavailable
	Address string
}

// Hosts returns the hosts that have queued tasks or leases: of a job, or of all where id is empty.
func (e *Engine) Hosts(context.Context, crawl.JobID) ([]HostNow, error) { return nil, errSoon }

// Depths is how many messages wait in each topic of the bus.
func (e *Engine) Depths() map[string]int { return nil }
