// Package control says what can be done with the jobs of crawls. A Service does it; control/directory has the one for a
// crawl's directory, control/cluster the one for a cluster. The commands of whirlpool know no other.
package control

import (
	"context"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// Service does things with jobs. Where a job is named by its id, "" means the only one. What is asked for in a way that
// cannot be is a *Misuse.
type Service interface {
	// List lists the jobs, the oldest first.
	List(ctx context.Context) ([]Listed, error)
	// Submit gives a job to be crawled, or further seeds to one that is known. What was done before an error is returned
	// beside it.
	Submit(ctx context.Context, s Submission) (*Submitted, error)
	// Retry queues URLs again that have ended.
	Retry(ctx context.Context, job crawl.JobID, r Retry) (*Retried, error)
	// Revise makes a new revision of a job: what change makes of the present one.
	Revise(ctx context.Context, job crawl.JobID, change Change) (*Revised, error)
	// Order pauses a job, lets it go on or stops it.
	Order(ctx context.Context, job crawl.JobID, o Order) (*Ordered, error)
	// Delete deletes a job with all that it found. One that runs is refused, unless force is given.
	Delete(ctx context.Context, job crawl.JobID, force bool) (*Deleted, error)
	// Letters lists the dead letters of a job; "": of all jobs. Where some cannot be reached it returns the others beside
	// report.ErrUnreachable.
	Letters(ctx context.Context, job crawl.JobID) ([]report.Letter, error)
	// Replay puts those of the Letters back that choose returns. What was done before an error is returned beside it.
	Replay(ctx context.Context, job crawl.JobID, choose Choose) (*Replayed, error)
	// Events hands the lines of a job's log to each, about in the order in which they were written.
	Events(ctx context.Context, job crawl.JobID, s Selection, each EachLine) error
	io.Closer
}

// Change returns what a job is to become. It must not change the job that it is given.
type Change func(job *crawl.Job) (*crawl.Job, error)

// Choose picks some of the letters.
type Choose func(all []report.Letter) ([]report.Letter, error)
