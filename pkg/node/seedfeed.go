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

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// seedFeed reads the list of seeds of a job while that runs. How far it is is noted beside the claims,
// in the order in which they are stored: the note never runs ahead of what it speaks of.
type seedFeed struct {
	bus   bus.Bus
	store *local.Store
	job   *crawl.Job
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
func noteOfList(store *local.Store, job *crawl.Job) string {
	if store.Many() {
		return "seeds " + string(job.ID) + " " + job.SeedList
	}
	return "seeds " + job.SeedList
}

// storedSeeds returns how far the list of a job was read; found is false if it has none, or reading has not begun.
func storedSeeds(ctx context.Context, store *local.Store, job *crawl.Job) (s SeedState, found bool, err error) {
	data, found, err := store.Meta().Get(ctx, noteOfList(store, job))
	if err == nil && found {
		err = json.Unmarshal(data, &s)
	}
	return s, found, err
}

// told returns how far the list was read by now, and what ended the reading but its end or the crawl's.
func (f *seedFeed) told() (SeedState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.err
}

// startFeed begins to read the list of seeds of a job, if it was not read to its end.
func startFeed(ctx context.Context, f *seedFeed) error {
	f.done, f.stop = make(chan struct{}), func() {}
	before, found, err := storedSeeds(ctx, f.store, f.job)
	if err != nil {
		close(f.done)
		return err
	}
	f.state = SeedState{Name: f.job.SeedList}
	size, changed, errStat := f.stat()
	same := found && before.Size == size && before.Changed.Equal(changed)
	if same || found && errStat != nil {
		f.state = before
	}
	f.state.Size, f.state.Changed = size, changed
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
	lf, err := newListFeed(f.bus, f.store.URLs(), f.job, list)
	if err != nil {
		close(f.done)
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
	return f.store.Meta().Put(ctx, noteOfList(f.store, f.job), data)
}

// reading reports whether seeds are still to come.
func (f *seedFeed) reading() bool {
	if f == nil {
		return false
	}
	select {
	case <-f.done:
		return false
	default:
		return true
	}
}

// end stops the reading, and waits until nothing more comes of it.
func (f *seedFeed) end() {
	if f != nil {
		f.stop()
		<-f.done
	}
}
