package frontier

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// records reads what is remembered of the batch's hosts that are not active.
func (f *Frontier) records(ctx context.Context, batch []crawl.Delivery) (map[string]crawl.Host, error) {
	missing := map[string]crawl.Host{}
	f.mu.Lock()
	for i := range batch {
		if key := batch[i].Task.URL.HostKey(); f.hosts[key] == nil {
			missing[key] = crawl.Host{}
		}
	}
	f.mu.Unlock()
	return missing, f.readRecords(ctx, missing)
}

// readRecords reads what is remembered of the hosts that are the map's keys.
func (f *Frontier) readRecords(ctx context.Context, into map[string]crawl.Host) error {
	if len(into) == 0 {
		return nil
	}
	keys := slices.Collect(maps.Keys(into))
	recs, err := f.deps.Hosts.Hosts(ctx, keys...)
	if err != nil {
		return fmt.Errorf("frontier: records of %d hosts, the first %s: %w", len(keys), keys[0], err)
	}
	for i, key := range keys {
		into[key] = recs[i]
	}
	return nil
}

// activate puts a host on the workbench, without tasks; rec is what is stored of it. After a restart its clock starts anew: a
// request may have been under way when the program ended.
func (f *Frontier) activate(rec crawl.Host) *host {
	h := &host{rec: rec, index: -1}
	if newer, ok := f.leaving[rec.Key]; ok {
		h.rec, h.dirty = newer, true
		delete(f.leaving, rec.Key)
	}
	h.rec.LastContact = later(h.rec.LastContact, f.resumedAt)
	f.hosts[rec.Key] = h
	return h
}

// storeLeaving stores the records of hosts that left the workbench, a batch at a time while the dispatcher is busy. A crash
// before it costs no politeness: see activate.
func (f *Frontier) storeLeaving(ctx context.Context, busy bool) error {
	f.mu.Lock()
	var recs []crawl.Host
	if !busy || len(f.leaving) >= f.cfg.Batch {
		recs = slices.Collect(maps.Values(f.leaving))
	}
	f.mu.Unlock()
	if len(recs) == 0 {
		return nil
	}
	slices.SortFunc(recs, func(a, b crawl.Host) int { return cmp.Compare(a.Key, b.Key) })
	if err := f.deps.Hosts.PutHosts(ctx, recs...); err != nil {
		return fmt.Errorf("frontier: records of %d hosts: %w", len(recs), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range recs {
		if now, ok := f.leaving[recs[i].Key]; ok && now.Requests == recs[i].Requests {
			delete(f.leaving, recs[i].Key)
		}
	}
	return nil
}
