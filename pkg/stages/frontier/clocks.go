package frontier

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// restAfter gives an active host its rest after an attempt about which nothing else is left to do: the request may have
// been made all the same, for a job more patient than the next.
func (f *Frontier) restAfter(r *result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[r.Task.URL.HostKey()]
	if h == nil || r.Verdict != crawl.VerdictInterrupted {
		return
	}
	h.rec.LastContact = later(h.rec.LastContact, r.now)
	f.restFor(h, r.js.job, crawl.Rest{Ended: r.now})
	h.dirty = true
}

// moveClocks notes in the hosts' records what the attempts mean for the hosts, and stores the records where it matters.
func (f *Frontier) moveClocks(ctx context.Context, rs []*result) error {
	missing := map[string]crawl.Host{}
	for _, r := range rs {
		if !r.known { // the host need not be active
			missing[r.Task.URL.HostKey()] = crawl.Host{}
		}
	}
	if err := f.readRecords(ctx, missing); err != nil {
		return err
	}
	strangers := make(map[string]*host, len(missing))
	for key, rec := range missing {
		strangers[key] = &host{rec: rec, index: -1}
	}
	recs, elsewhere := f.applyAll(rs, strangers)
	if len(recs) > 0 {
		if err := f.deps.Hosts.PutHosts(ctx, recs...); err != nil {
			return fmt.Errorf("frontier: records of %d hosts, the first %s: %w", len(recs), recs[0].Key, err)
		}
	}
	return f.enqueue(ctx, false, elsewhere...)
}

// applyAll moves the clocks. It returns the records to store, and tasks for robots.txt files that other hosts have.
// strangers stand for hosts that are not active.
func (f *Frontier) applyAll(rs []*result, strangers map[string]*host) (recs []crawl.Host, elsewhere []crawl.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rs {
		h := f.hostOf(r, strangers)
		store := f.apply(h, &r.Outcome, r.js.job, r.now, r.ours) || h.stranger
		f.hear(h, &r.Outcome)
		if !h.stranger {
			f.newcomers.regrade(h)
		}
		if r.Task.Kind == crawl.KindRobots {
			store = true
			owner := f.hosts[originHost(r.Task.For)]
			if next := f.robotsOutcome(owner, &r.Outcome, r.js.job, r.now, r.ours); next != nil {
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

// hostOf returns the host that an outcome is about.
func (f *Frontier) hostOf(r *result, strangers map[string]*host) *host {
	key := r.Task.URL.HostKey()
	h := f.hosts[key]
	if h != nil {
		return h
	}
	h = strangers[key]
	h.stranger = true
	if rec, ok := f.leaving[key]; ok {
		h.rec = rec
		delete(f.leaving, key)
	}
	return h
}
