package frontier

import (
	"maps"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// hosts are the active hosts with their clocks (clock.go, rest.go), and the records of those that have left the
// workbench. Frontier.mu guards it.
type hosts struct {
	active    map[string]*host
	leaving   map[string]crawl.Host // to be stored
	held      map[string]bool       // by people: see HoldHost
	resumedAt time.Time             // when the program went on with a crawl; set before anything else happens
	jobs      *jobs
	guests    *guests
}

func newHosts(jobs *jobs, guests *guests) hosts {
	return hosts{active: map[string]*host{}, leaving: map[string]crawl.Host{}, held: map[string]bool{}, jobs: jobs,
		guests: guests}
}

// record is what is stored of a host, read when it was this node's since then.
type record struct {
	crawl.Host
	since time.Time
}

// of returns an active host; nil: it is not active.
func (hs *hosts) of(key string) *host { return hs.active[key] }

// add makes a host active that has no tasks yet; rec is what is stored of it. After a restart its clock starts anew: a
// request may have been under way when the program ended.
func (hs *hosts) add(rec *record) *host {
	h := &host{rec: rec.Host, index: -1, since: rec.since}
	if newer, ok := hs.leaving[rec.Key]; ok {
		h.rec, h.dirty = newer, true
		delete(hs.leaving, rec.Key)
	}
	h.rec.LastContact = later(h.rec.LastContact, later(h.since, hs.resumedAt))
	hs.active[rec.Key] = h
	h.answers = answers(&h.rec)
	return h
}

// replace makes rec the record of an active host: another node has asked it since its record was read.
func (hs *hosts) replace(h *host, rec *record) {
	addr := h.rec.Addr
	h.rec = rec.Host
	h.rec.LastContact = later(h.rec.LastContact, later(rec.since, hs.resumedAt))
	if addr.IsValid() {
		h.rec.Addr = addr // its unit goes by it
	}
	h.since, h.dirty = rec.since, false
}

// remove makes a host inactive. Its record is stored later where it is newer than what is stored.
func (hs *hosts) remove(h *host) {
	delete(hs.active, h.rec.Key)
	if h.dirty {
		hs.leaving[h.rec.Key] = h.rec
	}
}

// stranger returns a stand-in for a host that is not active. The caller stores its record.
func (hs *hosts) stranger(key string, stored *crawl.Host) *host {
	h := &host{rec: *stored, index: -1, stranger: true}
	if newer, ok := hs.leaving[key]; ok {
		h.rec = newer
		delete(hs.leaving, key)
	}
	return h
}

// left returns the records of the hosts that left.
func (hs *hosts) left() []crawl.Host { return slices.Collect(maps.Values(hs.leaving)) }

// unstored returns all records that are newer than what is stored.
func (hs *hosts) unstored() []crawl.Host {
	recs := hs.left()
	for _, h := range hs.active {
		if h.dirty {
			recs = append(recs, clone(h.rec))
		}
	}
	return recs
}

// storedLeft notes that records of hosts that left were stored; newer ones still have to be.
func (hs *hosts) storedLeft(recs []crawl.Host) {
	for i := range recs {
		if now, ok := hs.leaving[recs[i].Key]; ok && now.Requests == recs[i].Requests {
			delete(hs.leaving, recs[i].Key)
		}
	}
}

// storedActive notes that records of active hosts were stored, unless there are newer ones.
func (hs *hosts) storedActive(recs []crawl.Host) {
	for i := range recs {
		if h := hs.active[recs[i].Key]; h != nil && h.rec.Requests == recs[i].Requests {
			h.dirty = false
		}
	}
}

// waits reports whether nothing is leased from a host for now: people hold it, or its turn is a guest's.
func (hs *hosts) waits(key string) bool { return hs.held[key] || hs.guests.claimed(key) }

// each hands every host that has work and waits for no budget to do.
func (hs *hosts) each(do func(*host)) {
	for _, h := range hs.active {
		if h.work() && !h.blocked {
			do(h)
		}
	}
}

// failures is how often an active host failed in a row.
func (hs *hosts) failures(key string) int {
	if h := hs.active[key]; h != nil {
		return h.rec.Failures
	}
	return 0
}
