package control

import (
	"context"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Retry says which URLs of a job are queued again, and by which settings.
type Retry struct {
	Verdicts []crawl.Verdict
	Reasons  []string
	// Change gives the job other settings first; nil: they were changed just now. It returns nil where nothing changes.
	Change Change
	// Waiting is called before a wait until all programs know the settings; nil: nobody wants to know.
	Waiting func(job crawl.JobID, d time.Duration)
}

// Retried is what became of a Retry.
type Retried struct {
	Job    crawl.JobID `json:"job"`
	Queued int         `json:"queued"`
}

// retryable are the verdicts after which a URL may be queued again. The others are no failure, or are judged anew
// whenever the job changes.
var retryable = []crawl.Verdict{crawl.VerdictRefused, crawl.VerdictFailed, crawl.VerdictBlocked, crawl.VerdictGone}

// Retryable reports whether a URL that ended so may be queued again.
func Retryable(v crawl.Verdict) bool { return slices.Contains(retryable, v) }

// ParseRetry splits words into verdicts and reasons. Reasons alone mean all verdicts.
func ParseRetry(words []string) (r Retry) {
	for _, w := range words {
		i := slices.IndexFunc(retryable, func(v crawl.Verdict) bool { return v.String() == w })
		if i < 0 {
			r.Reasons = append(r.Reasons, w)
		} else {
			r.Verdicts = append(r.Verdicts, retryable[i])
		}
	}
	if len(r.Verdicts) == 0 {
		r.Verdicts = slices.Clone(retryable)
	}
	return r
}

// Sleep waits, unless the context ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
