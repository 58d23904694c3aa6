package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/pace"
)

// Options say what an Explorer reads.
type Options struct {
	Dir string // of the indexes: search/, a file an execution
	// Source finds an execution; ErrNotFound where there is none. What it returns is kept until Refresh or Forget.
	Source func(ctx context.Context, id crawl.JobID) (*Source, error)
	Log    *slog.Logger
	Ring   *Ring // of the program's log; nil: it is not shown
	// Eager indexes at full speed, without pauses for the crawl: for tests, and where nothing crawls.
	Eager bool
	// Beside says that the crawls run in other programs, as on a cluster: see pace.Pace.
	Beside bool
}

// Explorer answers questions about executions. Its methods may be called by many goroutines.
type Explorer struct {
	opt  Options
	pace pace.Pace

	mu     sync.Mutex
	open   map[crawl.JobID]*index
	series map[crawl.JobID]*series

	comparisons comparisons
}

var _ Reader = (*Explorer)(nil)

// Open makes an Explorer. Call Run, or no index grows.
func Open(opt Options) *Explorer {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Ring == nil {
		opt.Ring = NewRing()
	}
	return &Explorer{opt: opt, pace: pace.Pace{Beside: opt.Beside}, open: map[crawl.JobID]*index{},
		series: map[crawl.JobID]*series{}}
}

// How long an index stays open that nobody asks and that has nothing to read; how many such ones do so, beyond which
// they stay as long as one whose execution has just ended; and how often files are looked at.
const (
	idleClose  = 5 * time.Minute
	maxIdle    = 16
	endedClose = 30 * time.Second // longer than an answer takes
	lookEvery  = 300 * time.Millisecond
	// afterFault is how long an index rests that does not go on: its disk is full, or a file is damaged.
	afterFault = 10 * time.Second
)

// Run follows the executions that were asked for, and samples those that run, until ctx is done. Then it closes the
// indexes.
func (x *Explorer) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { x.sampleAll(ctx) })
	look, looked := lookEvery, time.Now()
	if x.opt.Eager {
		look /= 20
	}
	for ctx.Err() == nil {
		busy := false
		for _, ix := range x.indexes() {
			busy = x.follow(ctx, ix) || busy
		}
		if now := time.Now(); !busy || now.Sub(looked) > look {
			x.closeIdle()
			looked = now
		}
		if !busy {
			x.wait(ctx, look)
		}
	}
	wg.Wait()
	return x.closeAll()
}

// follow indexes a batch of an execution, and rests in proportion.
func (x *Explorer) follow(ctx context.Context, ix *index) (more bool) {
	if ctx.Err() != nil || ix.caughtUp() && ix.noted() {
		ix.touchUntil()
		return false
	}
	began := time.Now()
	if began.Before(ix.again) {
		return false
	}
	x.pace.Begin(began)
	before := ix.Index().Fault
	more, err := ix.step(ctx)
	if err != nil && ctx.Err() == nil {
		if ix.again = began.Add(afterFault); ix.Index().Fault != before {
			x.opt.Log.Warn("the search index of an execution cannot continue; it is tried again", "execution", ix.source().ID,
				"error", err)
		}
		return false
	}
	if more && !x.opt.Eager {
		x.wait(ctx, x.pace.Rest(time.Since(began)))
	}
	return more
}

func (x *Explorer) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func (x *Explorer) indexes() (list []*index) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, ix := range x.open {
		list = append(list, ix)
	}
	return list
}

// index returns the index of an execution, which is followed from then on.
func (x *Explorer) index(ctx context.Context, id crawl.JobID) (*index, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ix := x.open[id]; ix != nil {
		ix.used.Store(time.Now().UnixNano())
		return ix, nil
	}
	src, err := x.opt.Source(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("execution %q: %w", id, err)
	}
	ix, err := openIndex(context.WithoutCancel(ctx), x.opt.Dir, src)
	if err != nil {
		return nil, fmt.Errorf("search index of execution %q: %w", id, err)
	}
	x.open[id] = ix
	return ix, nil
}

// Follow indexes and samples an execution until Unfollow, even if no request asks for it. It is called for running
// ones.
func (x *Explorer) Follow(ctx context.Context, id crawl.JobID) error {
	ix, err := x.index(ctx, id)
	if err == nil {
		ix.pinned.Store(true)
	}
	return err
}

// Unfollow ends what Follow began, for an execution that has ended. Its index is completed, and its series has its end.
func (x *Explorer) Unfollow(id crawl.JobID) {
	x.mu.Lock()
	ix := x.open[id]
	x.mu.Unlock()
	if ix == nil || !ix.pinned.Swap(false) {
		return
	}
	ix.used.Store(time.Now().Add(endedClose - idleClose).UnixNano())
	if ix.source().Live == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	x.sample(ctx, ix, time.Now())
}

// Refresh reads the source of an execution again, after a revision of its job.
func (x *Explorer) Refresh(ctx context.Context, id crawl.JobID) error {
	x.mu.Lock()
	ix := x.open[id]
	x.mu.Unlock()
	if ix == nil {
		return nil
	}
	src, err := x.opt.Source(ctx, id)
	if err == nil {
		ix.src.Store(src)
	}
	return err
}

// Forget deletes the index of an execution that is deleted. It is made anew if the execution is asked for again.
func (x *Explorer) Forget(id crawl.JobID) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	if ix := x.open[id]; ix != nil {
		err = ix.close()
	}
	delete(x.open, id)
	delete(x.series, id)
	return errors.Join(err, removeIndex(indexName(x.opt.Dir, id)))
}

// closeIdle closes indexes that are whole and that nobody has asked for a while, or more than a few of those.
func (x *Explorer) closeIdle() {
	x.mu.Lock()
	defer x.mu.Unlock()
	var idle []crawl.JobID
	for id, ix := range x.open {
		if !ix.pinned.Load() && ix.caughtUp() {
			idle = append(idle, id)
		}
	}
	slices.SortFunc(idle, func(a, b crawl.JobID) int { return cmp.Compare(x.open[b].used.Load(), x.open[a].used.Load()) })
	for i, id := range idle { // those that were asked last come first
		ix, stay := x.open[id], idleClose
		if i >= maxIdle {
			stay = endedClose
		}
		if time.Since(time.Unix(0, ix.used.Load())) < stay {
			continue
		}
		delete(x.open, id)
		if err := ix.close(); err != nil {
			x.opt.Log.Warn("close a search index", "execution", id, "error", err)
		}
	}
}

func (x *Explorer) closeAll() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, ix := range x.open {
		delete(x.open, id)
		err = errors.Join(err, ix.close())
	}
	return err
}

// Index implements Reader.
func (x *Explorer) Index(ctx context.Context, id crawl.JobID) (*Index, error) {
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	return ix.Index(), nil
}

// noted reports whether it is known until when the files are indexed.
func (x *index) noted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.state.Until.IsZero()
}

// touchUntil notes that there was nothing new.
func (x *index) touchUntil() {
	now := time.Now().UTC()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.state.Until, x.state.Share, x.state.Building = now, 1, false
}
