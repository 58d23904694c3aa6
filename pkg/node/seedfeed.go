package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
)

// seedFeed reads the list of seeds of a crawl in a directory while that runs. How far it is is noted beside the claims,
// in the order in which they are stored: the note never runs ahead of what it speaks of.
type seedFeed struct {
	l     *Local
	stdin io.Reader // nil: there is none
	bad   func(line int, err error)
	stop  context.CancelFunc
	done  chan struct{}
	mu    sync.Mutex
	state SeedState
	err   error
}

// SeedState is what is known of a crawl's list of seeds.
type SeedState struct {
	seedlist.Count
	Name string `json:"name"`
	// Size and Changed are those of the file that was read: another one is read from its beginning.
	Size    int64     `json:"size,omitempty"`
	Changed time.Time `json:"changed,omitzero"`
}

// noteOfList is the name of the note of how far a list was read.
func noteOfList(job *crawl.Job) string { return "seeds " + job.SeedList }

// StoredSeeds returns how far the list of a job was read; found is false where it has none, or nobody began to.
func (l *Local) storedSeeds(ctx context.Context) (s SeedState, found bool, err error) {
	data, found, err := l.Store.Meta().Get(ctx, noteOfList(l.Job))
	if err == nil && found {
		err = json.Unmarshal(data, &s)
	}
	return s, found, err
}

// Seeds returns how far the list of seeds was read by now, and what ended the reading but its end or the crawl's. ok is
// false where the job has no list.
func (l *Local) Seeds() (s SeedState, ok bool, err error) {
	if l.feed == nil {
		return s, false, nil
	}
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	return l.feed.state, true, l.feed.err
}

// startSeeds begins to read the job's list of seeds, if it has one that was not read to its end.
func (l *Local) startSeeds(ctx context.Context, opt LocalOptions) error {
	if l.Job.SeedList == "" {
		return nil
	}
	f := &seedFeed{l: l, stdin: opt.Stdin, bad: opt.BadSeed, done: make(chan struct{}), stop: func() {}}
	before, found, err := l.storedSeeds(ctx)
	if err != nil {
		return err
	}
	f.state = SeedState{Name: l.Job.SeedList}
	size, changed, errStat := f.stat()
	same := found && before.Size == size && before.Changed.Equal(changed)
	if same || found && errStat != nil {
		f.state = before
	}
	f.state.Size, f.state.Changed = size, changed
	l.feed = f
	if f.state.Ended && f.stdin == nil || f.state.Ended && same && f.state.Name != seedlist.Stdin {
		close(f.done)
		return nil
	}
	if f.state.Name == seedlist.Stdin { // what comes now need not be what came then
		f.state.Count = seedlist.Count{}
	}
	return f.begin(ctx, errStat)
}

// stat is what tells one file from another.
func (f *seedFeed) stat() (size int64, changed time.Time, err error) {
	if f.state.Name == seedlist.Stdin {
		if f.stdin == nil {
			err = errors.New("the seeds of standard input were not read to their end: give them again, with --seeds -")
		}
		return 0, time.Time{}, err
	}
	info, err := os.Stat(f.state.Name)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("seed list: %w", err)
	}
	return info.Size(), info.ModTime(), nil
}

func (f *seedFeed) open() (io.ReadCloser, error) {
	if f.state.Name == seedlist.Stdin {
		return io.NopCloser(f.stdin), nil
	}
	return os.Open(f.state.Name)
}

// begin reads the list from where the last run stopped.
func (f *seedFeed) begin(ctx context.Context, fault error) error {
	list := &seedlist.List{Name: f.state.Name, Open: f.open, Bad: f.bad}
	lf, err := newListFeed(f.l.bus, f.l.Store.URLs(), f.l.Job, list)
	if err != nil {
		return err
	}
	lf.event = func(b crawl.Batch) crawl.Event { return &crawl.Claim{Batch: b} } // a root: it survives when Publish returns
	lf.count, lf.note = f.state.Count, f.note
	ctx, f.stop = context.WithCancel(ctx)
	go func() {
		defer close(f.done)
		err := fault
		if err == nil {
			err = lf.read(ctx, lf.count.Lines)
		}
		if ctx.Err() == nil {
			f.fail(err)
		}
	}()
	return nil
}

func (f *seedFeed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// note stores how far the list was read.
func (f *seedFeed) note(ctx context.Context, c seedlist.Count) error {
	f.mu.Lock()
	f.state.Count = c
	data, err := json.Marshal(&f.state)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.l.Store.Meta().Put(ctx, noteOfList(f.l.Job), data)
}

// feeding reports whether seeds are still to come.
func (l *Local) feeding() bool {
	if l.feed == nil {
		return false
	}
	select {
	case <-l.feed.done:
		return false
	default:
		return true
	}
}

// endSeeds stops the reading, and waits until nothing more comes of it.
func (l *Local) endSeeds() {
	if l.feed != nil {
		l.feed.stop()
		<-l.feed.done
	}
}
