package local

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// maxLooked bounds the tasks of other jobs that are passed over for one list.
const maxLooked = 50_000

// TasksOf returns up to limit of a job's tasks, in the order of the queues' names, and where to go on: "" means that
// there are no more. It skips queues of other jobs, and passes over their tasks in queues of all jobs, so many at most;
// then it returns fewer.
func (qs *Queues) TasksOf(ctx context.Context, job crawl.JobID, after string,
	limit int) (tasks []crawl.Task, next string, err error) {
	from, err := hex.DecodeString(after)
	if err != nil {
		return nil, "", crawl.Permanent(fmt.Errorf("place %q in the queues: %w", after, err))
	}
	if len(from) == 0 {
		from = []byte{kindQueue}
	}
	it, err := qs.s.db.NewIterWithContext(ctx,
		&pebble.IterOptions{LowerBound: append(from, 0), UpperBound: []byte{kindQueue + 1}})
	if err != nil {
		return nil, "", err
	}
	l := taskList{job: job, limit: limit}
	more, err := l.read(it)
	if err = errors.Join(err, it.Close()); err != nil {
		return nil, "", err
	}
	if more {
		next = hex.EncodeToString(l.last)
	}
	return l.tasks, next, nil
}

// taskList is a page of a job's tasks.
type taskList struct {
	job    crawl.JobID
	limit  int
	tasks  []crawl.Task
	last   []byte // key that was looked at last
	looked int
}

// read reads the page; more: there may be others behind it.
func (l *taskList) read(it iterator) (more bool, err error) {
	for ok := it.First(); ok; {
		if len(l.tasks) == l.limit || l.looked == maxLooked {
			return true, nil
		}
		name, _, err := splitQueueKey(it.Key())
		if err != nil {
			return false, err
		}
		l.looked, l.last = l.looked+1, append(l.last[:0], it.Key()...)
		if of, err := crawl.ParseQueueName(name); err == nil && of.Job != "" && of.Job != l.job {
			q := queue{name: name}
			ok = it.SeekGE(after(q.prefix()))
			continue
		}
		var t crawl.Task
		if err := crawl.DecodeTask(it.Value(), &t); err != nil {
			return false, fmt.Errorf("queue entry %q: %w", it.Key(), err)
		}
		if t.Job == l.job {
			l.tasks = append(l.tasks, t)
		}
		ok = it.Next()
	}
	return false, it.Error()
}
