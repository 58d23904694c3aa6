package crawl

import "context"

// Unremembered finds what is to be visited again and is not, after a job became continuous by a revision: it shares its
// records with Ledger and Revisits.
type Unremembered interface {
	// EachUnremembered hands tasks of a job to a function, some at a time: those of pages and sitemaps that were
	// fetched, with a 2xx, and of which nothing is remembered, whether or not the job still wants them; and those of
	// pages that are remembered, but not due, and whose last visit has its outcome in the ledger and not in what is
	// remembered of them. A task may be told twice, and what is fetched meanwhile may be missing. It ends with the
	// function's first error.
	EachUnremembered(ctx context.Context, job JobID, each func([]Task) error) error
}

// ContinuousSince returns the epoch of the revision with which a job became continuous that visited its URLs once
// before; 0 where the job is not continuous, or always was. Revisions are in the order of their epochs.
func ContinuousSince(revisions []Revision) (epoch uint32) {
	for i := range revisions {
		switch now := revisions[i].Job.Revisits(); {
		case !now:
			epoch = 0
		case i > 0 && !revisions[i-1].Job.Revisits():
			epoch = revisions[i].Job.Epoch
		}
	}
	return epoch
}
