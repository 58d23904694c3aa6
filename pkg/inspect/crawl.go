package inspect

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// View answers questions about a crawl. Crawl and Client are the two.
type View interface {
	Status(ctx context.Context) (*Status, error)
	// Explain tells the story of a URL; ErrURL where url is none that can be crawled.
	Explain(ctx context.Context, url string) (*Explanation, error)
	// Letters lists the dead letters, oldest first.
	Letters(ctx context.Context) ([]Letter, error)
	// Audit reads the whole state of one moment: seconds for a million URLs.
	Audit(ctx context.Context) (*local.AuditReport, error)
}

// Lengths are the queues of a frontier.
type Lengths interface {
	Lengths(ctx context.Context) (map[string]int64, error)
}

// PageLines finds stored records: the line of pages.jsonl, without its end.
type PageLines interface {
	PageLine(ctx context.Context, key weburl.Key) (line []byte, found bool, err error)
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
	Audit(ctx context.Context) (local.AuditReport, error)
}

// Sources are what a crawl is inspected through.
type Sources struct {
	Dir     string // of the crawl: pages.jsonl, crawl.log
	Job     *crawl.Job
	Ledger  crawl.Ledger
	Hosts   crawl.Hosts
	Robots  crawl.RobotsStore
	Queues  Lengths
	Pages   PageLines
	Journal Journal
	Dead    DeadLetters
	Auditor Auditor
	Live    func() Moment // nil: the crawl does not run
}

// Moment is what only the process that runs a crawl knows.
type Moment struct {
	Frontier frontier.Stats
	Paused   bool
	Started  time.Time // of this process's part of the crawl
	Rate     float64   // pages a second, lately
}

// Crawl inspects a crawl. It is safe for concurrent use if its sources are.
type Crawl struct {
	src Sources
	now func() time.Time
}

var (
	_ View = (*Crawl)(nil)
	_ View = (*Client)(nil)
)

// New returns the view of a crawl. Every source but Live is needed.
func New(src Sources) (*Crawl, error) {
	if src.Job == nil || src.Ledger == nil || src.Hosts == nil || src.Robots == nil || src.Queues == nil || src.Pages == nil ||
		src.Journal == nil || src.Dead == nil || src.Auditor == nil {
		return nil, errors.New("inspect a crawl: a source is missing")
	}
	return &Crawl{src: src, now: time.Now}, nil
}
