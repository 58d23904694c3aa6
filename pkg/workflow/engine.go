package workflow

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Engine is what the conductor drives: it crawls many jobs at once. Every method may be called again with the same
// arguments.
type Engine interface {
	// Submit stores the job as it is now, seeds it, and lets it run: a new one, one that was stopped, and one that had
	// ended and whose bounds were widened. A faulty job is a permanent error (crawl.IsPermanent).
	Submit(ctx context.Context, job *crawl.Job) error
	// Hold keeps a job from leasing anything, or lets it go on.
	Hold(ctx context.Context, id crawl.JobID, held bool) error
	// Stop ends a job: nothing more is leased, now and after a restart, until it is submitted again.
	Stop(ctx context.Context, id crawl.JobID) error
	// Progress tells how far a job is. It costs little.
	Progress(ctx context.Context, id crawl.JobID) (Progress, error)
	// Stats counts what a job found, and Audit checks its results. Both read all of it: seconds for a million URLs.
	Stats(ctx context.Context, id crawl.JobID) (*Stats, error)
	Audit(ctx context.Context, id crawl.JobID) (*AuditSummary, error)
	// Discard deletes what is stored of a job that is stopped; with keepRecords, all but its records and log.
	Discard(ctx context.Context, id crawl.JobID, keepRecords bool) error
}

// Progress is how far a job is.
type Progress struct {
	Known    bool // to the engine
	Ended    bool // nothing is left to do, or its budget is spent
	Revised  bool // its settings have changed since it ended: submitted again, it goes by them
	Held     bool
	HeldBy   string // of a hold that nobody asked for: what the job's pipeline says; empty: there is none
	Stopped  bool
	InFlight int    // leases and messages on their way
	Braked   string // what holds all jobs: disk; empty: nothing
	Fault    string // an error that the engine cannot get over; empty: none
	Pages    int64
	Queued   int64
	Letters  int64
	Away     string    // nodes whose brokers do not answer, so that what lies there is not counted; empty: all answer
	Troubles []Trouble // of its parts
}

// Trouble is something that is wrong with a part of a job, and does not end it.
type Trouble struct {
	Kind  string // undelivered: an output; tripped: a plug-in; host-blocked: a host
	Of    string // name of the node, or of the host
	Text  string // what is wrong, for people
	Value float64
}

// Kinds of Trouble.
const (
	TroubleUndelivered = "undelivered"
	TroubleTripped     = "tripped"
	TroubleBlocked     = "host-blocked" // Value: the share of its answers that were 403 or 429
)
