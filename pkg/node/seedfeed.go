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

// seedFeed reads seeds of a job while that runs: its list, or what a node at provider gives. How far it is is noted
// beside the claims, in the order in which they are stored: the note never runs ahead of what it speaks of.
type seedFeed struct {
	bus   bus.Bus
	store *local.Store
	job   *crawl.Job
	from  seedSource
	bad   func(line int, err error)
	// again is told why seeds cannot be read, and of nil when they are: reading is tried again. nil: it ends there.
	again func(error)
	stop  context.CancelFunc
	done  chan struct{}
	mu    sync.Mutex
	state SeedState
	err   error
}

// seedSource is where seeds come from.
type seedSource struct {
	seedlist.List
	node string // of the job's pipeline; empty: it is the job's list
	note string // name of the note of how far it was read
	// stat is what tells one list from another.
	stat func() (size int64, changed time.Time, err error)
	// anew says that what comes need not be what came before a restart: it is read from the beginning.
	anew bool
	once bool // where it was read to its end it is not read again
}

// SeedState is what is known of a crawl's list of seeds.
type SeedState struct {
	seedlist.Count
	Name string `json:"name"`
	// Size and Changed are those of the file that was read: another one is read from its beginning.
	Size    int64     `json:"size,omitempty"`
	Changed time.Time `json:"changed,omitzero"`
	Node    string    `json:"-"` // that gives them; empty: they are the job's list
}

// noteOfList is the name of the note of how far a list was read.
func noteOfList(store *local.Store, job *crawl.Job) string {
	if store.Many() {
		return "seeds " + string(job.ID) + " " + job.SeedList
	}
	return "seeds " + job.SeedList
}

// listSource is the list that a job names. stdin is where it comes from if it has no file; nil: it does not come.
func listSource(store *local.Store, job *crawl.Job, stdin io.Reader) seedSource {
	s := seedSource{List: seedlist.List{Name: job.SeedList,
		Open: func() (io.ReadCloser, error) { return os.Open(job.SeedList) }},
		note: noteOfList(store, job), stat: func() (int64, time.Time, error) { return statFile(job.SeedList) }}
	if job.SeedList != seedlist.Stdin {
		return s
	}
	s.anew, s.once = true, stdin == nil
	s.Open = func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
	s.stat = func() (size int64, changed time.Time, err error) {
		if stdin == nil {
			err = errors.New("the seeds of standard input were not read to their end: give them again, with --seeds -")
		}
		return 0, time.Time{}, err
	}
	return s
}

// statFile is what tells a file from another.
func statFile(name string) (size int64, changed time.Time, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("seed list: %w", err)
	}
	if info.IsDir() {
		return 0, time.Time{}, fmt.Errorf("seed list: %s is a directory: name a file", name)
	}
	return info.Size(), info.ModTime(), nil
}

// stored returns how far the seeds were read; found is false where reading has not begun.
func (f *seedFeed) stored(ctx context.Context) (s SeedState, found bool, err error) {
	data, found, err := f.store.Meta().Get(ctx, f.from.note)
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

// startFeed begins to read the seeds of a job, if they were not read to their end.
func startFeed(ctx context.Context, f *seedFeed) error {
	f.done, f.stop = make(chan struct{}), func() {}
	before, found, err := f.stored(ctx)
	if err != nil {
		close(f.done)
		return err
	}
	f.state = SeedState{Name: f.from.Name}
	size, changed, errStat := f.from.stat()
	same := found && before.Size == size && before.Changed.Equal(changed)
	if same || found && errStat != nil {
		f.state = before
	}
	f.state.Size, f.state.Changed, f.state.Node = size, changed, f.from.node
	if f.state.Ended && f.from.once || f.state.Ended && same && !f.from.anew {
		close(f.done)
		return nil
	}
	if f.from.anew {
		f.state.Count = seedlist.Count{}
	}
	return f.begin(ctx, errStat)
}

// againEvery is the time between two tries to read seeds.
const againEvery = 5 * time.Second

// begin reads the list from where the last run stopped.
func (f *seedFeed) begin(ctx context.Context, fault error) error {
	list := f.from.List
	list.Bad = f.bad
	lf, err := newListFeed(f.bus, f.store.URLs(), f.job, &list)
	if err != nil {
		close(f.done)
		return err
	}
	// a root: it survives when Publish returns
	lf.event = func(b crawl.Batch) crawl.Event { return &crawl.Claim{Batch: b} }
	lf.count, lf.note = f.state.Count, f.note
	ctx, f.stop = context.WithCancel(ctx)
	go func() {
		defer close(f.done)
		err := fault
		if err == nil {
			err = lf.read(ctx, lf.count.Lines)
		}
		for ; err != nil && f.again != nil && ctx.Err() == nil; err = lf.read(ctx, lf.count.Lines) {
			f.again(err)
			select {
			case <-time.After(againEvery):
			case <-ctx.Done():
			}
			if f.from.anew {
				lf.count = seedlist.Count{}
			}
		}
		if ctx.Err() == nil {
			f.fail(err)
			if f.again != nil {
				f.again(nil)
			}
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
	return f.store.Meta().Put(ctx, f.from.note, data)
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
