package deliver

import (
	"context"
	"errors"
	"io"
)

// Remote is where rows go that do not stay on this machine: one of Bucket and Receiver is set.
type Remote struct {
	Bucket   Bucket
	Prefix   string // of the keys in the bucket; it ends with a slash
	Receiver Receiver
	// Where says where it is, for people. It has no secret.
	Where string
	// Owner tells this crawl from others whose job has the same name. Replace takes over what another one has left.
	Owner   string
	Job     string
	Node    string
	Replace bool
	// Rows and Bytes bound a batch; 0: 500 rows, 1 MiB. A row that is longer goes alone.
	Rows  int
	Bytes int
}

// Bucket keeps objects whole under keys. Put replaces what is there. Every method may be called again.
type Bucket interface {
	// Put stores size bytes of body, and returns the object's ETag.
	Put(ctx context.Context, key string, body io.ReadSeeker, size int64, contentType string) (etag string, err error)
	// Get returns an object that is small; nil where there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// Keys lists the keys below a prefix, at most limit; 0: all.
	Keys(ctx context.Context, prefix string, limit int) ([]string, error)
	Delete(ctx context.Context, keys []string) error
	// Tidy removes what uploads below a prefix have left that nobody finishes.
	Tidy(ctx context.Context, prefix string) error
	Close() error
}

// Receiver takes rows in batches. Rows have numbers, from 1 without gaps, in the order in which their records were
// stored: a row that comes again has the number that it had.
type Receiver interface {
	// Begin makes the place this crawl's, and removes the rows behind a number: what was there is taken back. It returns
	// ErrTaken where the place is another crawl's. There may be more rows than what is asked for, not less: of a place
	// that has less, lost is true, and all come again.
	Begin(ctx context.Context, to *Remote, rows int64) (lost bool, err error)
	// Take takes a batch. When it returns, the batch is stored, all of it.
	Take(ctx context.Context, b *Batch) error
	// End notes that the place has all that was stored, and how many rows that are.
	End(ctx context.Context, rows int64) error
	// Same reports whether a batch that is sent again has to be cut as it was before.
	Same() bool
	Close() error
}

// Batch are rows with the numbers First and those behind it.
type Batch struct {
	Job, Node string
	First     int64
	Rows      []Row
}

// Row is what is told of a record.
type Row struct {
	URL       string
	FetchedMS int64  // ms since 1970
	JSON      []byte // an object, of one line
}

// errLost says that a place has lost what it had.
var errLost = errors.New("what was delivered is not there any more: all is delivered again")

// ErrTooLarge is the error of a receiver that has taken nothing of a batch, as it is too large. Smaller ones are tried,
// down to a row.
var ErrTooLarge = errors.New("a batch is too large")

// ErrOther says that a place has what another crawl delivered.
var ErrOther = errors.New("another crawl has delivered there: name another place, remove what is there, or say " +
	"`replace: true`")
