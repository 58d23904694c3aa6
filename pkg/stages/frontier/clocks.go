package frontier

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// restAfter gives an active host its rest after an attempt about which nothing else is left to do: the request may have
// been made all the same, for a job more patient than the next.
func (o Outcomes) restAfter(r *result) {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	h := o.f.hosts.of(r.Task.URL.HostKey())
	if h == nil || r.Verdict != crawl.VerdictInterrupted {
		return
	}
	h.rec.LastContact = later(h.rec.LastContact, r.now)
	o.f.hosts.restFor(h, r.js.job, crawl.Rest{Ended: r.now})
	h.dirty = true
}

// moveClocks notes in the hosts' records what the attempts mean for the hosts, and stores the records where it matters.
func (o Outcomes) moveClocks(ctx context.Context, d *digest) error {
	rs := d.all()
	unknown := map[string]*crawl.Host{}
	for _, r := range rs {
		if !r.known { // the host need not be active
			unknown[r.Task.URL.HostKey()] = nil
		}
	}
	keys := slices.Collect(maps.Keys(unknown))
	stored, err := o.f.readRecords(ctx, keys)
	if err != nil {
		return err
	}
	for i, key := range keys {
		unknown[key] = &stored[i]
	}
	recs, elsewhere := o.applyAll(rs, unknown)
	if len(recs) > 0 {
		if err := o.f.deps.Hosts.PutHosts(ctx, recs...); err != nil {
			return fmt.Errorf("frontier: records of %d hosts, the first %s: %w", len(recs), recs[0].Key, err)
		}
	}
	if err := o.f.enqueue(ctx, false, elsewhere...); err != nil {
		return err
	}
	d.endCopies()
	return nil
}

// applyAll moves the clocks. It returns the records to store, and tasks for robots.txt files that other hosts have.
// unknown are the stored records of hosts that need not be active.
func (o Outcomes) applyAll(rs []*result, unknown map[string]*crawl.Host) (recs []crawl.Host, elsewhere []crawl.Task) {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	strangers := map[string]*host{}
	for _, r := range rs {
		key := r.Task.URL.HostKey()
		h := cmp.Or(o.f.hosts.of(key), strangers[key])
		if h == nil {
			h = o.f.hosts.stranger(key, unknown[key])
			strangers[key] = h
		}
		store := o.f.hosts.apply(h, &r.Outcome, r.js.job, r.now, r.ours) || h.stranger
		o.f.bench.hear(h, &r.Outcome)
		if !h.stranger {
			o.f.bench.newcomers.regrade(h)
		}
		if r.Task.Kind == crawl.KindRobots {
			store = true
			owner := o.f.hosts.of(originHost(r.Task.For))
			if next := o.f.robots.outcome(owner, &r.Outcome, r.js.job, r.now, r.ours); next != nil {
				next.Repeat = next.Repeat || r.repeat
				elsewhere = append(elsewhere, *next)
			}
			if owner != nil && owner != h {
				recs = append(recs, clone(owner.rec))
			}
		}
		if store {
			h.dirty = false
			recs = append(recs, clone(h.rec))
		}
	}
	return recs, elsewhere
}
