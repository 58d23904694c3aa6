package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// surveyLook is after how many keys a walk asks whether it is still wanted.
const surveyLook = 1024

// EachQueued calls each with the tasks of a job that are in queues as they are at one moment, those that are leased
// among them. pick chooses by a hash which tasks are read; nil: all. The task is valid during the call only.
func (s *Store) EachQueued(ctx context.Context, job crawl.JobID, pick func(hash uint64) bool,
	each func(*crawl.Task) error) error {
	it, err := s.db.NewIterWithContext(ctx,
		&pebble.IterOptions{LowerBound: []byte{kindQueue}, UpperBound: []byte{kindQueue + 1}})
	if err != nil {
		return fmt.Errorf("walk the queues of job %q: %w", job, err)
	}
	ok := it.First()
	for n := 0; ok && err == nil; n++ {
		if n%surveyLook == 0 && ctx.Err() != nil {
			err = context.Cause(ctx)
			break
		}
		name, _, e := splitQueueKey(it.Key())
		if e != nil {
			err = e
			break
		}
		if of, e := crawl.ParseQueueName(name); e == nil && of.Job != "" && of.Job != job {
			q := queue{name: name}
			ok = it.SeekGE(after(q.prefix()))
			continue
		}
		if pick == nil || pick(xxh3.Hash(it.Key())) {
			var t crawl.Task
			if err = crawl.DecodeTask(it.Value(), &t); err == nil && t.Job == job {
				err = each(&t)
			}
		}
		ok = it.Next()
	}
	if err = errors.Join(err, it.Error(), it.Close()); err != nil {
		return fmt.Errorf("walk the queues of job %q: %w", job, err)
	}
	return nil
}

// EachLeftOut calls each with what a job left out, as it is at one moment, and which of it is there; pick chooses as in
// EachQueued. Of each URL it is told whether it had been claimed, as the store knows it when the walk passes by.
func (s *Store) EachLeftOut(ctx context.Context, job crawl.JobID, pick func(hash uint64) bool,
	each func(*crawl.LeftOut) error) error {
	num, known := s.jobs.find(job)
	if !known {
		return nil
	}
	it, err := s.db.NewIterWithContext(ctx,
		&pebble.IterOptions{LowerBound: appendJob(nil, kindLeftOut, num), UpperBound: afterJob(kindLeftOut, num)})
	if err != nil {
		return fmt.Errorf("walk what job %q left out: %w", job, err)
	}
	w := leftOutWalk{ctx: ctx, urls: s.urls, num: num, each: each}
	for n, ok := 0, it.First(); ok && err == nil; n, ok = n+1, it.Next() {
		if n%surveyLook == 0 && ctx.Err() != nil {
			err = context.Cause(ctx)
		} else if pick == nil || pick(xxh3.Hash(it.Key())) {
			err = w.add(it.Value(), job)
		}
	}
	if err == nil {
		err = w.flush()
	}
	if err = errors.Join(err, it.Error(), it.Close()); err != nil {
		return fmt.Errorf("walk what job %q left out: %w", job, err)
	}
	return nil
}

// leftOutWalk hands on what was left out, a chunk at a time.
type leftOutWalk struct {
	ctx   context.Context //nolint:containedctx // of the one walk
	urls  *URLs
	num   jobNum
	chunk []crawl.LeftOut
	each  func(*crawl.LeftOut) error
}

func (w *leftOutWalk) add(value []byte, job crawl.JobID) error {
	var l crawl.LeftOut
	if err := decodeLeftOut(value, job, &l); err != nil {
		return err
	}
	if w.chunk = append(w.chunk, l); len(w.chunk) < surveyLook {
		return nil
	}
	return w.flush()
}

func (w *leftOutWalk) flush() error {
	if err := w.urls.tellDismissed(w.num, w.chunk); err != nil {
		return err
	}
	for i := range w.chunk {
		if err := w.each(&w.chunk[i]); err != nil {
			return err
		}
	}
	w.chunk = w.chunk[:0]
	return context.Cause(w.ctx)
}
