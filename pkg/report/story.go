package report

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// PageLines finds stored records: the line of pages.jsonl, without its end.
type PageLines interface {
	PageLine(ctx context.Context, key weburl.Key) (line []byte, found bool, err error)
}

// story is what the story of a URL is told from, of a crawl in a directory and of a cluster's job alike.
type story struct {
	job     *crawl.Job // the revision that applies; see present
	history history
	left    crawl.LeftOuts // nil: not known
	ledger  crawl.Ledger
	hosts   crawl.Hosts
	robots  crawl.RobotsStore
	pages   PageLines
	// templates knows what renders brought; nil: nothing was rendered.
	templates Templates
	// revisits is what is remembered of pages between their visits; nil: they are visited once.
	revisits crawl.Revisits
	running  bool // the crawl runs
	now      func() time.Time
	// attempts returns the last log lines about a URL, at most maxAttempts.
	attempts func(ctx context.Context, u weburl.URL) ([]crawl.LogLine, error)
	// where says where an open URL is: whereQueued, whereInFlight, or nothing where that cannot be told.
	where func(ctx context.Context, u weburl.URL) (string, error)
	// fingerprint returns what content-seen noted of a page; nil: nothing, or it cannot be told.
	fingerprint func(ctx context.Context, u weburl.URL) (*Fingerprint, error)
}

// Where an open URL is.
const (
	whereQueued   = "queued"
	whereInFlight = "in-flight"
)

// maxAttempts is how many lines of a URL are told, the last ones.
const maxAttempts = 20
