package frontier

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// records reads what is remembered of the batch's hosts that are not active.
func (dp *dispatcher) records(ctx context.Context, batch []crawl.Delivery) (map[string]*record, error) {
	missing := map[string]*record{}
	var keys []string
	dp.mu.Lock()
	for i := range batch {
		u := batch[i].Task.URL
		key := u.HostKey()
		if dp.hosts.of(key) != nil {
			continue
		}
		r := missing[key]
		if r == nil {
			r = &record{}
			missing[key], keys = r, append(keys, key)
		}
		if p := dp.duties.place(u); p.Lease {
			r.since = p.Since
		}
	}
	dp.mu.Unlock()
	recs, err := dp.readRecords(ctx, keys)
	for i, key := range keys {
		if err == nil {
			missing[key].Host = recs[i]
		}
	}
	return missing, err
}

// readRecords reads what is remembered of hosts.
func (f *Frontier) readRecords(ctx context.Context, keys []string) ([]crawl.Host, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	recs, err := f.deps.Hosts.Hosts(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("frontier: records of %d hosts, the first %s: %w", len(keys), keys[0], err)
	}
	return recs, nil
}

// activate puts a host of the domain on the workbench, without tasks; rec is what is stored of it.
func (dp *dispatcher) activate(rec *record, domain string) *host {
	h := dp.hosts.add(rec)
	dp.bench.enter(h, domain)
	return h
}

// storeLeaving stores the records of hosts that left the workbench, a batch at a time while the dispatcher is busy. A
// crash before it costs no politeness: see hosts.add.
func (f *Frontier) storeLeaving(ctx context.Context, busy bool) error {
	f.storing.Lock()
	defer f.storing.Unlock()
	f.mu.Lock()
	var recs []crawl.Host
	if !busy || len(f.hosts.leaving) >= f.cfg.Batch {
		recs = f.hosts.left()
	}
	f.mu.Unlock()
	return f.putRecords(ctx, recs)
}

// Flush stores the records of all hosts that are newer than what is stored. A host of which nothing is in flight has
// nothing newer afterwards.
func (f *Frontier) Flush(ctx context.Context) error {
	f.storing.Lock()
	defer f.storing.Unlock()
	f.mu.Lock()
	recs := f.hosts.unstored()
	f.mu.Unlock()
	if err := f.putRecords(ctx, recs); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hosts.storedActive(recs)
	return nil
}

// putRecords stores records, and forgets that they were to be stored unless there are newer ones.
func (f *Frontier) putRecords(ctx context.Context, recs []crawl.Host) error {
	if len(recs) == 0 {
		return nil
	}
	slices.SortFunc(recs, func(a, b crawl.Host) int { return cmp.Compare(a.Key, b.Key) })
	if err := f.deps.Hosts.PutHosts(ctx, recs...); err != nil {
		return fmt.Errorf("frontier: records of %d hosts: %w", len(recs), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hosts.storedLeft(recs)
	return nil
}
