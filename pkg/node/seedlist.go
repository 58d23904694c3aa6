package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Seeds of a list go on in batches: small ones at first, so that the crawl begins at once, and what there is whenever
// the list keeps its reader waiting.
const (
	firstBatch = 16
	mostBatch  = 256
	batchWait  = 100 * time.Millisecond
)

// listFeed hands the seeds of a list to the DUE.
type listFeed struct {
	bus    bus.Bus
	ledger crawl.Ledger
	rules  crawl.RobotsStore // nil: no other job has asked for a robots.txt
	job    *crawl.Job
	canon  *urlrules.Rules
	list   *seedlist.List
	event  func(crawl.Batch) crawl.Event
	note   func(context.Context, seedlist.Count) error // nil: reading is not continued after a restart
	run    crawl.MessageID                             // tells what one reading publishes from what others do
	sent   int                                         // batches
	count  seedlist.Count
}

// FeedSeeds hands the seeds of a list to the DUE over a cluster's bus: those that the ledger does not know. Called
// again after a crash it reads the list from its beginning, and queues nothing twice.
func FeedSeeds(ctx context.Context, b bus.Bus, ledger crawl.Ledger, rules crawl.RobotsStore, job *crawl.Job,
	list *seedlist.List) (seedlist.Count, error) {
	f, err := newListFeed(b, ledger, job, list)
	if err != nil {
		return seedlist.Count{}, err
	}
	f.rules, f.event = rules, func(batch crawl.Batch) crawl.Event { return &crawl.Filtered{Batch: batch} }
	err = f.read(ctx, 0)
	return f.count, err
}

func newListFeed(b bus.Bus, ledger crawl.Ledger, job *crawl.Job, list *seedlist.List) (*listFeed, error) {
	rules, err := urlrules.Compile(job)
	if err != nil {
		return nil, err
	}
	f := &listFeed{bus: b, ledger: ledger, job: job, canon: rules, list: list}
	_, _ = rand.Read(f.run[:]) // it never fails
	return f, nil
}

// read reads the list, but for the lines before, and notes how far it came.
func (f *listFeed) read(ctx context.Context, before int) error {
	in, err := f.list.Open()
	if err != nil {
		return fmt.Errorf("seed list: %w", err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines, failed := make(chan seedlist.Line, mostBatch), make(chan error, 1)
	go func() {
		defer close(lines)
		failed <- readLines(ctx, seedlist.NewReader(in), before, lines)
	}()
	if err := f.batches(ctx, lines); err != nil {
		return err
	}
	switch err := <-failed; {
	case errors.Is(err, io.EOF):
		f.count.Ended = true
		return f.noted(ctx)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return fmt.Errorf("seed list %s: it could not be read behind line %d: %w", f.list.Name, f.count.Lines, err)
	}
}

// readLines hands on the lines of a list, and returns what ended it. Reading may block for ever: when ctx is done it is
// not waited for.
func readLines(ctx context.Context, r *seedlist.Reader, before int, to chan<- seedlist.Line) error {
	if err := r.Skip(before); err != nil {
		return err
	}
	for {
		line, err := r.Next()
		if err != nil {
			return err
		}
		select {
		case to <- line:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// batches publishes the lines as they come.
func (f *listFeed) batches(ctx context.Context, lines <-chan seedlist.Line) error {
	var batch []seedlist.Line
	size := firstBatch
	tick := time.NewTicker(batchWait)
	defer tick.Stop()
	for {
		waited := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			waited = true
		case line, more := <-lines:
			if !more {
				return f.publish(ctx, batch)
			}
			batch = append(batch, line)
		}
		if len(batch) < size && (!waited || len(batch) == 0) {
			continue
		}
		if err := f.publish(ctx, batch); err != nil {
			return err
		}
		batch, size = batch[:0], min(2*size, mostBatch)
	}
}

// publish sends a batch to the DUE, and notes that.
func (f *listFeed) publish(ctx context.Context, batch []seedlist.Line) error {
	urls := make([]weburl.URL, 0, len(batch))
	for _, l := range batch {
		f.count.Lines = l.Number
		wanted, err := true, l.Err
		if err == nil && f.list.Keep != nil {
			wanted, err = f.list.Keep(l.URL)
		}
		if err == nil {
			if wanted {
				urls = append(urls, f.canon.Canonical(l.URL))
			}
			continue
		}
		f.count.Bad++
		if f.list.Bad != nil {
			f.list.Bad(l.Number, err)
		}
	}
	tasks, err := f.unknown(ctx, urls)
	if err != nil {
		return err
	}
	if len(tasks) > 0 {
		if err := f.send(ctx, tasks); err != nil {
			return fmt.Errorf("seed list %s: %w", f.list.Name, err)
		}
	}
	f.count.Seeds += len(tasks)
	f.count.Known += len(urls) - len(tasks)
	return f.noted(ctx)
}

// unknown makes tasks of those seeds that the ledger does not know.
func (f *listFeed) unknown(ctx context.Context, urls []weburl.URL) ([]crawl.Task, error) {
	if len(urls) == 0 {
		return nil, nil
	}
	keys := make([]weburl.Key, len(urls))
	for i, u := range urls {
		keys[i] = u.Key()
	}
	entries, err := f.ledger.Lookup(ctx, f.job.ID, keys...)
	if err != nil {
		return nil, fmt.Errorf("look up %d seeds, the first %s: %w", len(urls), urls[0], err)
	}
	tasks := make([]crawl.Task, 0, len(urls))
	seen := make(map[weburl.URL]bool, len(urls))
	for i, u := range urls {
		if st := entries[i].State; seen[u] || st == crawl.StateOpen || st == crawl.StateDone {
			continue
		}
		seen[u] = true
		t := seedTask(f.job, u)
		if f.list.Kind != nil {
			t.Kind = *f.list.Kind
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// send publishes tasks. The ids are those of this reading alone: what an earlier one has claimed is known then.
func (f *listFeed) send(ctx context.Context, tasks []crawl.Task) error {
	f.sent++
	id := f.run.Child("seeds", f.sent)
	msgs := []bus.Message{{ID: id, Event: f.event(crawl.Batch{Job: f.job.ID, Epoch: lifeEpoch(f.job), Tasks: tasks})}}
	if f.rules != nil && f.job.Sitemaps && !f.job.SeedsOnly {
		known, err := knownSitemaps(ctx, f.rules, f.job, tasks)
		if err != nil {
			return err
		}
		for i, e := range known {
			msgs = append(msgs, bus.Message{ID: id.Child("sitemaps", i), Event: e})
		}
	}
	return f.bus.Publish(ctx, msgs...)
}

func (f *listFeed) noted(ctx context.Context) error {
	if f.note == nil {
		return nil
	}
	return f.note(ctx, f.count)
}
