package frontier

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Recover rebuilds the workbench from the queues and the host records. It is called once, before Run and before any message
// is handled. resumed says that fetches may have been made before: then no host is contacted before its delay has passed
// from now on.
func (f *Frontier) Recover(ctx context.Context, resumed bool) error {
	lengths, err := f.deps.Queues.Lengths(ctx)
	if err != nil {
		return fmt.Errorf("frontier: lengths of the queues: %w", err)
	}
	now := time.Now()
	if resumed || len(lengths) > 0 {
		f.resumedAt = now
	}
	for name, n := range lengths {
		if err := f.recoverQueue(ctx, name, n, now); err != nil {
			return err
		}
	}
	f.signal()
	return nil
}

func (f *Frontier) recoverQueue(ctx context.Context, name string, n int64, now time.Time) error {
	prefix, number, err := splitName(name)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.queued += n
	f.mu.Unlock()
	switch prefix {
	case frontPrefix:
		if number < 0 || number > crawl.MaxPriority {
			return fmt.Errorf("frontier: queue %s: priorities end at %d", name, crawl.MaxPriority)
		}
		f.mu.Lock()
		f.fronts[number] += n
		f.mu.Unlock()
	case laterPrefix:
		f.later[number] = &laterQueue{count: n}
	case backPrefix:
		f.backs.made = max(f.backs.made, number)
		return f.recoverBack(ctx, name, n, now)
	}
	return nil
}

func splitName(name string) (prefix string, number int, err error) {
	for _, prefix := range []string{frontPrefix, backPrefix, laterPrefix} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			number, err := strconv.Atoi(rest)
			if err != nil || number < 0 {
				return "", 0, fmt.Errorf("frontier: queue %s has no number", name)
			}
			return prefix, number, nil
		}
	}
	return "", 0, fmt.Errorf("frontier: queue %s is none of the frontier's", name)
}

// recoverBack gives a back queue to the host of its head task.
func (f *Frontier) recoverBack(ctx context.Context, name string, n int64, now time.Time) error {
	ds, err := f.deps.Queues.Pull(ctx, name, 1)
	if err != nil {
		return fmt.Errorf("frontier: head of queue %s: %w", name, err)
	}
	if len(ds) == 0 {
		f.mu.Lock()
		f.tellShort(name, n)
		f.mu.Unlock()
		f.backs.give(name)
		return nil
	}
	key := ds[0].Task.URL.HostKey()
	if _, err := f.jobOf(ctx, ds[0].Task.Job); f.hosts[key] != nil || crawl.IsPermanent(err) {
		return f.emptyBack(ctx, name, ds)
	}
	records, err := f.records(ctx, ds)
	if err != nil {
		return err
	}
	f.mu.Lock()
	h := f.activate(records[key])
	h.queue, h.buf, h.backlog = name, ds, n-1
	f.held++
	f.mu.Unlock()
	return f.start(ctx, ds, now)
}

// emptyBack moves a second back queue of a host to the front queues: a crash leaves one when what was settled came back.
func (f *Frontier) emptyBack(ctx context.Context, name string, ds []crawl.Delivery) error {
	for len(ds) > 0 {
		if err := f.sendBack(ctx, ds); err != nil {
			return err
		}
		var err error
		if ds, err = f.deps.Queues.Pull(ctx, name, f.cfg.Batch); err != nil {
			return fmt.Errorf("frontier: queue %s: %w", name, err)
		}
	}
	f.backs.give(name)
	return nil
}
