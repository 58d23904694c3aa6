package frontier

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// sharesAddress reports whether hosts of the job share the politeness of their address. With several connections a host,
// which is for one's own site, they do not.
func (f *Frontier) sharesAddress(j *crawl.Job) bool {
	return f.cfg.ShareAddresses && f.deps.Resolver != nil && ipDelay(j) > 0 && j.Politeness.HostConnections == 1
}

// ipDelay is the time between requests to one address: never more than the job's own delay.
func ipDelay(j *crawl.Job) crawl.Duration { return min(j.Politeness.IPDelay, j.Politeness.Delay) }

// maxResolving bounds the look-ups under way and waiting: while there are so many, no hosts are drawn.
func (f *Frontier) maxResolving() int { return 4 * f.cfg.Resolvers }

// resolve finds the host's address in the background and then lets it wait for its time. A host whose name cannot be
// resolved waits alone: the fetcher will say what is wrong with it. mu is held.
func (f *Frontier) resolve(ctx context.Context, h *host, js *jobState) {
	h.resolving = true
	f.resolving++
	name := hostname(h.rec.Key)
	f.resolves.Go(func() {
		select {
		case f.resolveSlots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		addrs, err := f.deps.Resolver.Lookup(ctx, name)
		<-f.resolveSlots
		f.mu.Lock()
		defer f.mu.Unlock()
		h.resolving = false
		f.resolving--
		key := ""
		if err == nil && len(addrs) > 0 {
			h.rec.Addr = choose(h.rec.Addr, addrs)
			key = h.rec.Addr.String()
		}
		f.bench.join(h, key)
		f.rejoin(h, js, time.Now())
		f.signal()
	})
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
	if h.busy > 0 || !out.Addr.IsValid() || !f.sharesAddress(j) {
		return
	}
	if key := out.Addr.String(); key != h.unit.key {
		f.bench.move(h, key, next, now)
	}
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
