package crawl

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Lists are read a page at a time, by cursor: a call takes no more memory than its page, and no store keeps anything
// between calls. What is stored meanwhile may be in a later page or not.

// EntryList reads a job's ledger.
type EntryList interface {
	// EntriesAfter returns up to limit entries whose keys come behind after, in the order of the keys; the zero key
	// comes before all. Fewer than limit: there are no more.
	EntriesAfter(ctx context.Context, job JobID, after weburl.Key, limit int) ([]LedgerRow, error)
}

// LogList reads crawl.log about in the order in which it was written. An offset is the store's own number of a
// place in the log; 0 is its beginning.
type LogList interface {
	// LinesFrom returns up to limit lines of a job from an offset on, and the offset to go on from. Fewer than limit:
	// there are no more for now.
	LinesFrom(ctx context.Context, job JobID, from int64, limit int) (lines []LogLine, next int64, err error)
	// AttemptsFrom does so with the lines about one URL.
	AttemptsFrom(ctx context.Context, job JobID, u weburl.URL, from int64,
		limit int) (lines []LogLine, next int64, err error)
}

// RecordList reads the stored pages of one job.
type RecordList interface {
	// RecordsAfter returns up to limit records of URLs whose keys come behind after, in the order of the keys; the zero
	// key comes before all. Fewer than limit: there are no more. One that cannot be read is an error.
	RecordsAfter(ctx context.Context, after weburl.Key, limit int) ([]*Record, error)
}
