package frontier

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// record is what is stored of a host, read when it was this node's since then.
type record struct {
	crawl.Host
	since time.Time
}

// records reads what is remembered of the batch's hosts that are not active.
func (f *Frontier) records(ctx context.Context, batch []crawl.Delivery) (map[string]record, error) {
	missing, since := map[string]crawl.Host{}, map[string]time.Time{}
	f.mu.Lock()
	for i := range batch {
		u := batch[i].Task.URL
		if key := u.HostKey(); f.hosts[key] == nil {
			missing[key] = crawl.Host{}
			if p := f.place(u); p.Lease {
				since[key] = p.Since
			}
		}
	}
	f.mu.Unlock()
	if err := f.readRecords(ctx, missing); err != nil {
		return nil, err
	}
	out := make(map[string]record, len(missing))
	for key, rec := range missing {
		out[key] = record{rec, since[key]}
	}
	return out, nil
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

// activate puts a host of the domain on the workbench, without tasks; rec is what is stored of it. After a restart its
// clock starts anew: a request may have been under way when the program ended.
func (f *Frontier) activate(rec record, domain string) *host {
	h := &host{rec: rec.Host, index: -1, since: rec.since}
	if newer, ok := f.leaving[rec.Key]; ok {
		h.rec, h.dirty = newer, true
		delete(f.leaving, rec.Key)
	}
	h.rec.LastContact = later(h.rec.LastContact, later(h.since, f.resumedAt))
	f.hosts[rec.Key] = h
	f.domains.join(h, domain)
	h.answers = answers(&h.rec)
	f.newcomers.join(h)
	return h
}

// storeLeaving stores the records of hosts that left the workbench, a batch at a time while the dispatcher is busy. A crash
// before it costs no politeness: see activate.
func (f *Frontier) storeLeaving(ctx context.Context, busy bool) error {
	f.storing.Lock()
	defer f.storing.Unlock()
	f.mu.Lock()
	var recs []crawl.Host
	if !busy || len(f.leaving) >= f.cfg.Batch {
		recs = f.leavingRecords()
	}
	f.mu.Unlock()
	return f.putRecords(ctx, recs)
}

func (f *Frontier) leavingRecords() []crawl.Host { return slices.Collect(maps.Values(f.leaving)) }

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
	for i := range recs {
		if now, ok := f.leaving[recs[i].Key]; ok && now.Requests == recs[i].Requests {
			delete(f.leaving, recs[i].Key)
		}
	}
	return nil
}
