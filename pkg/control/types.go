package control

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
)

// Order is what a job is told to do.
type Order string

// The orders.
const (
	Pause  Order = "pause"  // finish what is in flight, and lease nothing more
	Resume Order = "resume" // go on
	Stop   Order = "stop"   // finish what is in flight, and end
)

// Ordered is what became of an order.
type Ordered struct {
	Job   crawl.JobID `json:"job,omitempty"` // empty: the only one
	State string      `json:"state"`
	Text  string      `json:"text"` // for people
}

// Listed is a job in the list.
type Listed struct {
	ID      crawl.JobID `json:"job"`
	State   string      `json:"state"`
	Pages   int64       `json:"pages"`
	Open    int64       `json:"open"`
	Created time.Time   `json:"created,omitzero"`
	Epoch   uint32      `json:"epoch"`           // of the settings that apply
	Fault   string      `json:"fault,omitempty"` // why its settings cannot be read
}

// Submission is a job to be crawled.
type Submission struct {
	Job   *crawl.Job
	Fresh bool // delete the job first, if there is one
	// Known makes of a job that is known already what it is to become; nil: Job.
	Known Change
	// List has further seeds, which are read now; nil: there is none. A directory's crawl reads its list itself.
	List *seedlist.List
	// Bad is told of what nodes of the job's pipeline give that is no seed; nil: nobody wants to know.
	Bad func(node string, line int, err error)
}

// Submitted is what became of a submission.
type Submitted struct {
	Job     *crawl.Job     // as it is now; nil: it did not come to that
	Deleted *Deleted       // the job that was there before; nil: none was deleted
	Changes []crawl.Change // none: the job is new, or as it was
	Stored  bool           // Job is what applies; the seeds may not be queued, after an error
	Queued  int            // seeds that were not known, but for those of the list
	List    seedlist.Count // what was in the list
	// Provided is what the nodes of the job's pipeline gave, by their names.
	Provided map[string]seedlist.Count
	State    string  // of the job
	Ended    []Ended // where no seed was queued: how those that are no pages ended
}

// Ended counts URLs that have ended in one way.
type Ended struct {
	Verdict crawl.Verdict
	Reason  string
	URLs    int
}

// Revised is what a revision of a job changed. Nothing: it was the same specification.
type Revised struct {
	Job     crawl.JobID    `json:"job"`
	Epoch   uint32         `json:"epoch"`
	Changes []crawl.Change `json:"changes"`
	Applies string         `json:"applies"` // when it applies, for people
	GoesOn  bool           `json:"-"`       // the job goes on by it, also where it had ended
}

// Deleted says what was deleted with a job.
type Deleted struct {
	Job     crawl.JobID `json:"job"`
	Records int64       `json:"records"` // negative: nobody counted them
	Erased  []Erased    `json:"erased,omitempty"`
}

// Erased counts what was deleted of one kind.
type Erased struct {
	What string `json:"what"` // such as rows of urls
	N    int64  `json:"n"`
}

// Replayed says how many of the letters that were meant were put back.
type Replayed struct {
	Put   int    `json:"put"`
	Meant int    `json:"meant"`
	Then  string `json:"then,omitempty"` // when they are handled, for people; empty: at once
}

// Selection says which lines of a log are meant, and where to begin.
type Selection struct {
	crawl.LogSelection
	// From is a place that each was told before; 0: the beginning.
	From int64
	// Follow goes on with lines as they are written, until ctx is done: that is no error then.
	Follow bool
}

// EachLine is given a line of a log, JSON with a line feed at its end, which is valid until it returns, and the place
// behind it.
type EachLine func(line []byte, next int64) error
