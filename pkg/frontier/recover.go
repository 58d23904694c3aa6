package frontier

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
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
	switch prefix {
	case frontPrefix:
		if number < 1 || number > crawl.MaxPriority {
			return fmt.Errorf("frontier: queue %s: priorities end at %d", name, crawl.MaxPriority)
		}
		f.fronts[number] = n
	case laterPrefix:
		f.later[number] = &laterQueue{count: n}
	case backPrefix:
		f.backs.made = max(f.backs.made, number)
		return f.recoverBack(ctx, name, n, now)
	}
	f.queued += n
	return nil
}

func splitName(name string) (prefix string, number int, err error) {
	for _, prefix := range []string{frontPrefix, backPrefix, laterPrefix} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			number, err := strconv.Atoi(rest)
			if err != nil {
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
		f.backs.give(name)
		return nil
	}
	records, err := f.records(ctx, ds)
	if err != nil {
		return err
	}
	key := ds[0].Task.URL.HostKey()
	f.mu.Lock()
	h := f.hosts[key]
	if h != nil {
		f.mu.Unlock()
		return fmt.Errorf("frontier: host %s has two back queues, %s and %s: the queues were changed by hand", key, h.queue, name)
	}
	h = f.activate(records[key], now)
	h.queue, h.buf, h.backlog = name, ds, n-1
	f.queued += n
	f.held++
	f.mu.Unlock()
	return f.start(ctx, ds, now)
}

// originHost is the host key of an origin; empty for none.
func originHost(origin string) string {
	if origin == "" {
		return ""
	}
	u, err := weburl.Parse(origin)
	if err != nil {
		return ""
	}
	return u.HostKey()
}
