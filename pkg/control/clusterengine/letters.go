package clusterengine

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

const (
	// lettersTime is how long a number of dead letters is believed: to count them is to read them.
	lettersTime = 15 * time.Second
	// countTime bounds a count. A broker that does not answer is given up after 15 seconds.
	countTime = time.Minute
	// glance is how long who wants to know how far a job is waits for a count; then the last one has to do.
	glance = time.Second
)

// letters are the dead letters of a job, as they were counted last.
type letters struct {
	n       int64
	away    string // nodes whose brokers did not answer: n is as large as it was before, at least
	err     error
	until   time.Time     // they are believed
	counted chan struct{} // closed when the count that is under way is over; nil: none is
}

// countLetters is how many dead letters a job has, as of a moment ago, and the nodes whose brokers do not answer, which
// is no error: crawls of the other nodes go on. Where the count takes longer than patience, the one before it is told.
// A patience of 0 waits for the end of the count, or for its error.
func (e *Engine) countLetters(ctx context.Context, id crawl.JobID,
	patience time.Duration) (n int64, away string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.letters[id]
	if l == nil {
		l = &letters{}
		e.letters[id] = l
	}
	if e.now().Before(l.until) {
		return l.n, l.away, l.err
	}
	if l.counted == nil {
		l.counted = make(chan struct{})
		own, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTime)
		go func() {
			defer cancel()
			e.recount(own, id, l)
		}()
	}
	counted := l.counted
	e.mu.Unlock()
	var late <-chan time.Time
	if patience > 0 {
		late = time.After(patience)
	}
	select {
	case <-counted:
	case <-late:
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.mu.Lock()
	if err != nil {
		return l.n, l.away, err
	}
	return l.n, l.away, l.err
}

// recount counts the dead letters of a job. An error is told until a count succeeds, and is not believed for any time.
func (e *Engine) recount(ctx context.Context, id crawl.JobID, l *letters) {
	all, err := e.list(ctx, id)
	away := report.Away(err)
	n := int64(0)
	for i := range all {
		if all[i].Job == id {
			n++
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		l.n, l.away, l.err = n, "", nil
	case away != "":
		l.n, l.away, l.err = max(n, l.n), away, nil
	default:
		l.err = err
	}
	if l.err == nil {
		l.until = e.now().Add(lettersTime)
	}
	close(l.counted)
	l.counted = nil
}
