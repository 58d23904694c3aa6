package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// View answers questions about a crawl: Crawl and Client about one in a directory, ClusterJob about one of a cluster.
type View interface {
	Status(ctx context.Context) (*Status, error)
	// Explain tells the story of a URL; ErrURL where url is none that can be crawled.
	Explain(ctx context.Context, url string) (*Explanation, error)
	// Letters lists the dead letters, oldest first.
	Letters(ctx context.Context) ([]Letter, error)
	// Audit reads the whole state of one moment: seconds for a million URLs.
	Audit(ctx context.Context) (*crawl.AuditReport, error)
}

// Lengths are the queues of a frontier.
type Lengths interface {
	Lengths(ctx context.Context) (map[string]int64, error)
}

// Journal holds the messages that are not wholly handled.
type Journal interface {
	Load(ctx context.Context, yield func(seq uint64, m bus.Message) error) error
}

// DeadLetters holds the messages that no handler could make sense of.
type DeadLetters interface {
	List(ctx context.Context, yield func(bus.DeadLetter) error) error
	Count(ctx context.Context) (int64, error)
}

// Auditor checks the stores against each other.
type Auditor interface {
	Audit(ctx context.Context) (crawl.AuditReport, error)
}

// Sources are what a crawl is inspected through.
type Sources struct {
	Dir     string // of the crawl, whose files are told with their sizes
	Job     *crawl.Job
	Jobs    crawl.JobStore // the revisions of the job; nil: there is none but Job
	Left    crawl.LeftOuts // nil: no more than the ledger says is known of what was left out
	Ledger  crawl.Ledger
	Hosts   crawl.Hosts
	Robots  crawl.RobotsStore
	Log     crawl.LogList
	Queues  Lengths
	Pages   PageLines
	Journal Journal
	Dead    DeadLetters
	Auditor Auditor
	// Templates knows what the renders of the crawl brought; nil: there were none.
	Templates Templates
	// Spending is what the crawl spends of its bounds; nil: not counted.
	Spending crawl.Spending
	// Revisits is what is remembered of pages between their visits; nil: each URL is visited once.
	Revisits crawl.Revisits
	// Outputs tells how far the outputs of a crawl are that does not run; nil: that is not told.
	Outputs func(context.Context, *crawl.Job) ([]Delivered, error)
	Live    func() Moment // nil: the crawl does not run
}

// Moment is what only the process that runs a crawl knows.
type Moment struct {
	Frontier FrontierState
	Paused   bool
	Why      string    // of a pause that is not a user's wish
	Started  time.Time // of this process's part of the crawl
	Rate     float64   // pages a second, lately
	// Freshness is that of a continuous job; nil: not counted yet.
	Freshness *crawl.Freshness
	Outputs   []Delivered
}

// FrontierState is what a running crawl's frontier holds.
type FrontierState struct {
	Queued      int64 // tasks that wait, retries included
	InFlight    int   // leases without outcome
	ActiveHosts int
	Waiting     int64     // retries whose time has not come
	NextDue     time.Time // when the next host may be contacted; zero: none waits
}

// Crawl inspects a crawl. It is safe for concurrent use if its sources are.
type Crawl struct {
	src Sources
	story
}

var (
	_ View = (*Crawl)(nil)
	_ View = (*Client)(nil)
	_ View = (*ClusterJob)(nil)
)

// New returns the view of a crawl. Every source but Live is needed.
func New(src Sources) (*Crawl, error) {
	if src.Job == nil || src.Ledger == nil || src.Hosts == nil || src.Robots == nil || src.Log == nil ||
		src.Queues == nil || src.Pages == nil || src.Journal == nil || src.Dead == nil || src.Auditor == nil {
		return nil, errors.New("inspect a crawl: a source is missing")
	}
	c := &Crawl{src: src}
	c.story = story{job: src.Job, left: src.Left, history: historyOf(src.Job, src.Jobs), ledger: src.Ledger,
		hosts: src.Hosts, robots: src.Robots, pages: src.Pages, templates: src.Templates, revisits: src.Revisits,
		running: src.Live != nil, now: time.Now, where: c.find}
	c.attempts = func(ctx context.Context, u weburl.URL) ([]crawl.LogLine, error) {
		return lastAttempts(ctx, src.Log, src.Job.ID, u)
	}
	return c, nil
}

// find says where an open URL is: in flight, or else queued.
func (c *Crawl) find(ctx context.Context, u weburl.URL) (string, error) {
	where := whereQueued
	err := c.src.Journal.Load(ctx, func(_ uint64, m bus.Message) error {
		if carries(m.Event, u) {
			where = whereInFlight
		}
		return nil
	})
	return where, err
}

// carries reports whether a message of the journal brings u on its way.
func carries(e crawl.Event, u weburl.URL) bool {
	is := func(t crawl.Task) bool { return t.URL == u }
	switch e := e.(type) {
	case *crawl.Fetch:
		return is(e.Task)
	case *crawl.Fresh:
		return slices.ContainsFunc(e.Tasks, is)
	}
	return false
}
