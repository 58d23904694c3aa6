package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// sweeper lets in what older revisions of a job left out and the one that applies does not. It walks what was left out
// in the order of the keys, a chunk at a time: judges it, publishes what is let in as the filter would, and waits until
// that was claimed before it notes how far it is. So it may be killed anywhere, and goes on with the chunk; what was
// published twice is claimed once.
//
// A page of an older revision may still be under way when the sweep passes by the URLs that its links name. So a sweep
// is done only when a pass over everything, with nothing of the job under way, lets in nothing: at the end of the job.
type sweeper struct {
	jobs  crawl.JobStore
	left  crawl.LeftOuts
	look  crawl.Ledger
	bus   bus.Bus
	judge *urlfilter.Judge
	log   *slog.Logger
	// patience is how long a chunk is waited for until it is published again; 0: claimPatience.
	patience time.Duration

	mu sync.Mutex // held by a pass
}

// Bounds of a sweep.
const (
	sweepChunk = 512
	// claimPatience is how long a chunk is waited for, which is published sweepTries times at most.
	claimPatience = 30 * time.Second
	sweepTries    = 3
	claimLook     = 2 * time.Millisecond // doubled up to claimLookMax
	claimLookMax  = 250 * time.Millisecond
)

// pass goes on with the sweep of a job, if one is due, up to the last URL.
func (s *sweeper) pass(ctx context.Context, id crawl.JobID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, err := s.jobs.Sweep(ctx, id)
	if err != nil || !state.Due() || state.Passed {
		return err
	}
	_, err = s.over(ctx, id, state, false)
	return err
}

// lastPass reports whether the sweep of a job is done: nothing of the job is under way, and a pass over everything lets
// in nothing. Whether something is under way is asked while no other pass runs: what such a pass let in is.
func (s *sweeper) lastPass(ctx context.Context, id crawl.JobID,
	still func(context.Context) (bool, error)) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok, err := still(ctx); err != nil || !ok {
		return false, err
	}
	state, err := s.jobs.Sweep(ctx, id)
	if err != nil || !state.Due() {
		return err == nil, err
	}
	return s.over(ctx, id, state, true)
}

// over walks a job's URLs, with mu held. done: nothing is under way, nothing was let in, and no newer revision asks for
// a sweep of its own.
func (s *sweeper) over(ctx context.Context, id crawl.JobID, state crawl.Sweep, still bool) (done bool, err error) {
	job, err := s.jobs.JobAt(ctx, id, state.Epoch)
	if err != nil {
		return false, err
	}
	letIn := 0
	for whole := false; !whole && err == nil; {
		// Where it goes on with a pass that was cut off, what lies before is still to be looked at.
		whole = !still || state.After == weburl.Key{}
		var n int
		n, err = s.walk(ctx, job, &state)
		letIn += n
	}
	if err == nil {
		state.Done = still && letIn == 0
		err = s.jobs.SetSweep(ctx, id, state)
	}
	switch {
	case errors.Is(err, crawl.ErrSweepOver): // a newer revision begins anew
		return false, nil
	case err != nil:
		return false, fmt.Errorf("what job %s left out, judged by its revision %d: %w", id, job.Epoch, err)
	case letIn > 0:
		s.log.Info("URLs that were left out are let in", "job", id, "revision", job.Epoch, "urls", letIn)
	}
	return state.Done, nil
}

// walk judges the URLs from the state's place to the last.
func (s *sweeper) walk(ctx context.Context, job *crawl.Job, state *crawl.Sweep) (letIn int, err error) {
	for last := false; !last && err == nil; {
		var n int
		n, last, err = s.chunk(ctx, job, state)
		letIn += n
	}
	return letIn, err
}

// chunk judges the next URLs and moves the state behind them; last says that there are no more.
func (s *sweeper) chunk(ctx context.Context, job *crawl.Job, state *crawl.Sweep) (letIn int, last bool, err error) {
	list, err := s.left.LeftOut(ctx, job.ID, state.After, sweepChunk)
	if err != nil {
		return 0, false, err
	}
	var tasks []crawl.Task
	var dismissed []weburl.Key
	for i := range list {
		l := &list[i]
		if l.Task.JobEpoch() >= job.Epoch {
			continue // this revision itself left it out
		}
		t, in, err := s.judge.LetIn(ctx, s.jobs, job, l)
		switch {
		case err != nil:
			return 0, false, err
		case in && l.Dismissed:
			dismissed = append(dismissed, t.URL.Key())
		}
		if in {
			tasks = append(tasks, t)
		}
	}
	if len(tasks) > 0 {
		if err := s.letIn(ctx, job, tasks, dismissed); err != nil {
			return 0, false, err
		}
	}
	if last = len(list) < sweepChunk; last {
		state.After, state.Passed = weburl.Key{}, true
	} else {
		state.After = list[len(list)-1].Task.URL.Key()
	}
	return len(tasks), last, s.jobs.SetSweep(ctx, job.ID, *state)
}

// letIn hands tasks to the DUE and waits until it has decided on all of them.
func (s *sweeper) letIn(ctx context.Context, job *crawl.Job, tasks []crawl.Task, dismissed []weburl.Key) error {
	if err := s.left.Release(ctx, job.ID, dismissed...); err != nil {
		return err
	}
	m := bus.Message{ID: chunkID(job, tasks),
		Event: &crawl.Filtered{Batch: crawl.Batch{Job: job.ID, Tasks: tasks, Epoch: job.Epoch}}}
	for range sweepTries {
		if err := s.bus.Publish(ctx, m); err != nil {
			return err
		}
		if taken, err := s.taken(ctx, job, tasks); taken || err != nil {
			return err
		}
		s.log.Warn("URLs that are let in were not claimed in time: they are sent again", "job", job.ID, "urls", len(tasks),
			"first", tasks[0].URL)
	}
	return fmt.Errorf("%d URLs, the first %s, were not claimed: see the dead letters", len(tasks), tasks[0].URL)
}

// chunkID is the cause of a chunk's claims.
func chunkID(job *crawl.Job, tasks []crawl.Task) crawl.MessageID {
	h := xxh3.New()
	_, _ = h.WriteString("sweep\n" + string(job.ID) + "\n" + strconv.FormatUint(uint64(job.Epoch), 10))
	for i := range tasks {
		k := tasks[i].URL.Key()
		_, _ = h.Write(k[:])
	}
	return crawl.MessageID(h.Sum128().Bytes())
}

// taken waits until none of the tasks' URLs is left out by an older revision any more.
func (s *sweeper) taken(ctx context.Context, job *crawl.Job, tasks []crawl.Task) (bool, error) {
	keys := make([]weburl.Key, len(tasks))
	for i := range tasks {
		keys[i] = tasks[i].URL.Key()
	}
	deadline := time.Now().Add(cmp.Or(s.patience, claimPatience))
	for wait := claimLook; ; wait = min(2*wait, claimLookMax) {
		entries, err := s.look.Lookup(ctx, job.ID, keys...)
		if err != nil {
			return false, err
		}
		open := keys[:0]
		for _, e := range entries {
			if e.State == crawl.StateExcluded && crawl.EpochOf(e.Epoch) < job.Epoch {
				open = append(open, e.Key)
			}
		}
		if keys = open; len(keys) == 0 {
			return true, nil
		}
		if time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}
