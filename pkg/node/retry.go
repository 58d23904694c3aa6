package node

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Settled is a ledger that finds URLs by their outcomes.
type Settled interface {
	crawl.Ledger
	Settled(ctx context.Context, job crawl.JobID, verdicts []crawl.Verdict, reasons []string,
		each func(crawl.Task) error) error
}

// retryBatch is how many URLs are opened again by one call.
const retryBatch = 200

// Retry opens a job's URLs that ended with one of the verdicts, and for one of the reasons where any are given, again
// and hands them to the frontier, as if they had never been asked for. It returns their number. Interrupted between the
// two, a batch is open in the ledger and in no queue, as after a queue was lost.
func Retry(ctx context.Context, b bus.Bus, ledger Settled, job crawl.JobID, verdicts []crawl.Verdict,
	reasons []string) (n int, err error) {
	var tasks []crawl.Task
	flush := func() error {
		if len(tasks) == 0 {
			return nil
		}
		if err := reopenAll(ctx, b, ledger, job, tasks); err != nil {
			return err
		}
		n += len(tasks)
		tasks = nil
		return nil
	}
	err = ledger.Settled(ctx, job, verdicts, reasons, func(t crawl.Task) error {
		if t.Kind == crawl.KindRobots {
			return nil // asked for when a page of its origin is
		}
		t.Attempt, t.Lease, t.Repeat = 0, 0, true
		if tasks = append(tasks, t); len(tasks) < retryBatch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return n, fmt.Errorf("try URLs of job %s again: %w", job, err)
	}
	return n, nil
}

func reopenAll(ctx context.Context, b bus.Bus, ledger crawl.Ledger, job crawl.JobID, tasks []crawl.Task) error {
	keys := make([]weburl.Key, len(tasks))
	for i := range tasks {
		keys[i] = tasks[i].URL.Key()
	}
	if err := ledger.Reopen(ctx, job, keys...); err != nil {
		return err
	}
	var id crawl.MessageID // of this call: who retries the same URLs twice means it
	_, _ = rand.Read(id[:])
	return b.Publish(ctx, bus.Message{ID: id, Event: &crawl.Fresh{Tasks: tasks}, Redelivered: true})
}
