package frontier

import (
	"maps"
	"slices"
	"time"
)

// A host may be held by people: nothing is leased from it, whatever the job, until it is released. Its tasks wait where
// they are, and jobs that have tasks there do not end.

// HoldHost keeps a host from being asked, or lets it be asked again, and reports whether that is a change. A request
// under way goes on.
func (f *Frontier) HoldHost(key string, held bool) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hosts.held[key] == held {
		return false
	}
	if held {
		f.hosts.held[key] = true
	} else {
		delete(f.hosts.held, key)
	}
	if h := f.hosts.of(key); h != nil {
		f.rejoin(h, nil, time.Now())
	}
	f.signal()
	return true
}

// HeldHosts returns the hosts that are held.
func (f *Frontier) HeldHosts() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.hosts.held))
}
