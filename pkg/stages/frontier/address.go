package frontier

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// addresses finds the addresses of hosts, so that those on one address share its politeness.
type addresses struct {
	resolver Resolver
	shared   bool // Config.ShareAddresses, where there is a resolver
	most     int  // look-ups at once
	slots    chan struct{}
	running  sync.WaitGroup
	pending  int // look-ups under way and waiting; Frontier.mu guards it
}

func (a *addresses) init(cfg *Config, resolver Resolver) {
	a.resolver, a.shared, a.most = resolver, cfg.ShareAddresses && resolver != nil, cfg.Resolvers
	a.slots = make(chan struct{}, a.most)
}

// share reports whether hosts of the job share the politeness of their address. With several connections a host,
// which is for one's own site, they do not.
func (a *addresses) share(j *crawl.Job) bool {
	return a.shared && ipDelay(j) > 0 && j.Politeness.HostConnections == 1
}

// full reports whether so many look-ups are under way and waiting that no hosts are to be drawn.
func (a *addresses) full() bool { return a.pending >= 4*a.most }

// ipDelay is the time between requests to one address: never more than the job's own delay.
func ipDelay(j *crawl.Job) crawl.Duration { return min(j.Politeness.IPDelay, j.Politeness.Delay) }

// resolvePatiences is how long the frontier waits for an address, at first and once more: name servers that say nothing
// would keep the names of other hosts waiting. The second time is for a program that was stopped for a moment, and for
// servers that are slow.
var resolvePatiences = []time.Duration{time.Second, 3 * time.Second}

// waitsUnresolved lets a host of a crowded domain wait for its turn before its address is looked up, so that the names
// of one domain do not keep all others waiting. mu is held.
func (dp *dispatcher) waitsUnresolved(h *host) bool {
	d := h.domain
	if d.hosts <= domainTurns {
		return false
	}
	d.waiting.push(h)
	dp.bench.domains.crowded[d] = true
	return true
}

// resolveNext looks up the address of a host whose turn came; where enough are looked up already it reports false. mu
// is held.
func (dp *dispatcher) resolveNext(ctx context.Context, h *host) bool {
	js := dp.jobs.of(h.job)
	if js == nil || dp.addresses.pending >= dp.addresses.most {
		return false
	}
	dp.resolve(ctx, h, js)
	return true
}

// resolve finds the host's address in the background and then lets it wait for its time. Where no answer comes soon,
// the address of the last time counts. A host whose name cannot be resolved, and that has none, waits alone: the
// fetcher will say what is wrong with it. mu is held.
func (dp *dispatcher) resolve(ctx context.Context, h *host, js *jobState) {
	h.resolving = true
	dp.addresses.pending++
	name := hostname(h.rec.Key)
	dp.addresses.running.Go(func() {
		addrs, err := dp.addresses.lookup(ctx, name)
		if ctx.Err() != nil {
			return
		}
		dp.mu.Lock()
		defer dp.mu.Unlock()
		h.resolving = false
		dp.addresses.pending--
		key := ""
		if err == nil && len(addrs) > 0 {
			h.rec.Addr = choose(h.rec.Addr, addrs)
			key = h.rec.Addr.String()
		} else if errors.Is(err, context.DeadlineExceeded) && h.rec.Addr.IsValid() {
			key = h.rec.Addr.String()
		}
		dp.bench.join(h, key)
		dp.rejoin(h, js, time.Now())
		dp.signal()
	})
}

// lookup looks a name up, a second time where the first gave no answer in time.
func (a *addresses) lookup(ctx context.Context, name string) (addrs []netip.Addr, err error) {
	for _, patience := range resolvePatiences {
		select {
		case a.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		patient, cancel := context.WithTimeout(ctx, patience)
		addrs, err = a.resolver.Lookup(patient, name)
		if patient.Err() != nil && err != nil { // whatever the resolver makes of it
			err = context.DeadlineExceeded
		}
		cancel()
		<-a.slots
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return addrs, err
}

// choose prefers the address used before, so that a host with several stays in its unit.
func choose(before netip.Addr, addrs []netip.Addr) netip.Addr {
	if slices.Contains(addrs, before) {
		return before
	}
	return addrs[0]
}

// endRequest tells the host's unit that a request ended, and moves the host where it was not the unit's address that
// answered.
func (f *Frontier) endRequest(h *host, out *crawl.Outcome, j *crawl.Job, now time.Time) {
	next := time.Time{}
	if out.Contacted() {
		next = out.Ended.Add(ipDelay(j).D())
	}
	f.bench.done(h.unit, next)
	if h.busy == 0 && out.Addr.IsValid() && f.addresses.share(j) && out.Addr.String() != h.unit.key {
		f.bench.move(h, out.Addr.String(), next, now)
	}
	h.unit.restsFor(j.ID, out.Ended, next)
}

// hostname is the host key without a port.
func hostname(key string) string {
	for i := len(key) - 1; i >= 0 && key[i] != ']'; i-- {
		if key[i] == ':' {
			return key[:i]
		}
	}
	return key
}
