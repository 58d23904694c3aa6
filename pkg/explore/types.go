package explore

import (
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Page bounds a list; see workflow.Page.
type Page = workflow.Page

// List is a part of a list. Where Next is given, there may be more, even where Items is empty: the scan met its bound.
type List[T any] struct {
	Items   []T    `json:"items"`
	Next    string `json:"next,omitempty"`    // cursor; empty: there are no more
	Total   int64  `json:"total,omitempty"`   // of all that match, where that is cheap to know
	Scanned int64  `json:"scanned,omitempty"` // rows that were looked at for this page, where that is more than its items
	Index   *Index `json:"index,omitempty"`   // how current the answer is; nil: it is as current as can be
}

// Index says how far the index of an execution is.
type Index struct {
	// what happened until then is in it; none while records are still to be copied
	Until time.Time `json:"indexed_until,omitzero"`
	// of crawl.log and pages.jsonl that is in it; 1: all
	Share   float64 `json:"share"`
	URLs    int64   `json:"urls"`
	Records int64   `json:"records"`
	// it lags behind by more than a batch
	Building bool `json:"building,omitempty"`
	// why it does not go on
	Fault string `json:"fault,omitempty"`
}

// The errors that callers tell apart by errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrCursor   = errors.New("the cursor is of another list: start without one")
	ErrInvalid  = errors.New("invalid")
)

// The states of a task.
const (
	Scheduled   = "scheduled"   // waits in a queue, also for its next attempt
	Active      = "active"      // is being fetched
	Done        = "done"        // answered
	Failed      = "failed"      // failed, gone, refused or blocked
	TimedOut    = "timed_out"   // failed by time
	Interrupted = "interrupted" // its attempt was lost; it is fetched again
	Excluded    = "excluded"    // never asked for
)

// Task is a URL of an execution.
type Task struct {
	URL      string    `json:"url"`
	Key      string    `json:"key"` // of the URL; the key of its record, too
	Host     string    `json:"host"`
	Kind     string    `json:"kind"` // page, robots, sitemap or asset
	State    string    `json:"state"`
	Verdict  string    `json:"verdict,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Detail   string    `json:"detail,omitempty"` // of its last attempt
	Status   int       `json:"status,omitempty"`
	Depth    int       `json:"depth"`
	Attempts int       `json:"attempts,omitempty"`
	At       time.Time `json:"at,omitzero"` // of the last attempt, or when it was left out
	MS       float64   `json:"ms,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"`
	Epoch    uint32    `json:"epoch,omitempty"` // revision that decided
	Priority int       `json:"priority,omitempty"`
	Referrer string    `json:"referrer,omitempty"`
	Record   bool      `json:"record,omitempty"` // there is a record of it
}

// TaskFilter picks tasks; empty: all.
type TaskFilter struct {
	State   string
	Host    string
	Verdict string
	Reason  string
	Kind    string
	Depth   *int
	Status  int    // a status, or 2 to 5 for a class
	Query   string // start of a URL, with its scheme; else a part of one
}

// Count is a value and how often it is there.
type Count struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// TaskCounts are how many tasks are in which state, and why, as far as the index knows.
type TaskCounts struct {
	States   []Count `json:"states"`
	Verdicts []Count `json:"verdicts"`
	Reasons  []Count `json:"reasons"` // the hundred most frequent
	Statuses []Count `json:"statuses"`
	Depths   []Depth `json:"depths"`
	Index    *Index  `json:"index"`
}

// Depth counts what lies so many hops from a seed.
type Depth struct {
	Depth    int   `json:"depth"`
	Done     int64 `json:"done"`
	Failed   int64 `json:"failed"`
	Excluded int64 `json:"excluded"`
	Queued   int64 `json:"queued"`
}

// Change says how the records of two executions differ.
type Change string

// The changes.
const (
	New     Change = "new"     // in the second only
	Gone    Change = "gone"    // in the first only
	Changed Change = "changed" // another text
	Touched Change = "touched" // other bytes, the same text
	Same    Change = "same"
)

// Comparison counts how the second of two executions differs from the first.
type Comparison struct {
	First   crawl.JobID `json:"first"`
	Second  crawl.JobID `json:"second"`
	New     int64       `json:"new"`
	Gone    int64       `json:"gone"`
	Changed int64       `json:"changed"`
	Touched int64       `json:"touched"`
	Same    int64       `json:"same"`
	Indexes [2]*Index   `json:"indexes"`
}

// Compared is a URL in two executions.
type Compared struct {
	URL    string  `json:"url"`
	Key    string  `json:"key"`
	Change Change  `json:"change"`
	Before *Brief  `json:"before,omitempty"`
	After  *Brief  `json:"after,omitempty"`
	Share  float64 `json:"share,omitempty"` // of the text that differs, roughly, by the simhashes
}

// Brief is the short form of a record in lists.
type Brief struct {
	Title     string    `json:"title"`
	Status    int       `json:"status"`
	Bytes     int64     `json:"bytes"`
	Words     int       `json:"words"`
	FetchedAt time.Time `json:"fetched_at"`
	Digest    string    `json:"digest"`
}
