package local

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// maxLooked bounds the tasks of other jobs that are passed over for one list.
const maxLooked = 50_000

// TasksOf returns up to limit of a job's tasks, in the order of the queues' names, and where to go on: "" means that
// there are no more. It passes over the tasks of other jobs, so many at most; then it returns fewer.
func (qs *Queues) TasksOf(ctx context.Context, job crawl.JobID, after string, limit int) (tasks []crawl.Task, next string, err error) {
	from, err := hex.DecodeString(after)
	if err != nil {
		return nil, "", crawl.Permanent(fmt.Errorf("place %q in the queues: %w", after, err))
	}
	if len(from) == 0 {
		from = []byte{kindQueue}
	}
	looked, more := 0, false
	err = qs.s.page(ctx, from, []byte{kindQueue + 1}, maxLooked, func(k, v []byte) error {
		if len(tasks) == limit {
			more = true
			return errEnough
		}
		looked++
		var t crawl.Task
		if err := crawl.DecodeTask(v, &t); err != nil {
			return fmt.Errorf("queue entry %q: %w", k, err)
		}
		next = hex.EncodeToString(k)
		if t.Job == job {
			tasks = append(tasks, t)
		}
		return nil
	})
	if err != nil && !more {
		return nil, "", err
	}
	if !more && looked < maxLooked {
		next = ""
	}
	return tasks, next, nil
}
