package frontier

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Ask is what a guest asks for: one request to a host.
type Ask struct {
	Job      *crawl.Job    // whose politeness counts, besides that of the crawls
	URL      weburl.URL    // of the request
	Gap      time.Duration // a Crawl-delay that the guest knows of; 0: none
	Patience time.Duration // how long it waits for its turn
	Begun    bool          // another frontier gave the turn, and the request may be under way: only its end is waited for
}

// TurnError says that a guest did not get a turn of a host in time.
type TurnError struct {
	Host string
	Why  string    // for people
	At   time.Time // when the host may be asked; zero: nobody can tell
}

// Error implements error.
func (e *TurnError) Error() string {
	text := fmt.Sprintf("%s is not asked now: %s", e.Host, e.Why)
	if !e.At.IsZero() {
		text += fmt.Sprintf("; it may be asked in %v", max(time.Until(e.At), 0).Round(time.Second))
	}
	return text
}

// Visit is a guest's turn of a host. Until its End the crawl asks neither the host nor its address.
type Visit struct {
	f    *Frontier
	ask  Ask
	key  string
	addr netip.Addr
	own  *host // stands for the guest in the unit of the address; nil: the host shares none
	gap  time.Duration
}

// Addr is the address that the turn is for; the zero one: none was looked up.
func (v *Visit) Addr() netip.Addr { return v.addr }

// Visit waits until a host may be asked, by the delays of all jobs and of the guest's own, and takes the turn. The turn
// after a guest's is the crawl's, where that has tasks for the host. A host that rests longer than the guest waits,
// that is held, or that belongs to another node, is a *TurnError.
func (f *Frontier) Visit(ctx context.Context, ask Ask) (*Visit, error) {
	v := &Visit{f: f, ask: ask, key: ask.URL.HostKey()}
	if p := f.duties.place(ask.URL); p.Node != "" {
		return nil, &TurnError{Host: v.key, Why: "node " + p.Node + " crawls it: ask there"}
	}
	if f.addresses.share(ask.Job) && !ask.Begun {
		if addrs, err := f.addresses.lookup(ctx, hostname(v.key)); err == nil && len(addrs) > 0 {
			v.addr = addrs[0]
		}
	}
	until := time.Now().Add(ask.Patience)
	if err := v.await(ctx, until, v.claim); err != nil {
		return nil, err
	}
	if ask.Begun {
		v.gap = max(ask.Job.Politeness.Delay.D(), ask.Gap)
		return v, nil
	}
	if err := v.await(ctx, until, v.take); err != nil {
		v.End(nil)
		return nil, err
	}
	return v, nil
}

// step is what a guest finds when it looks: it may go on (ready), or has to wait until at, or for something else to
// change where at is zero.
type step struct {
	ready bool
	at    time.Time
	why   string
}

// await looks until look says that the guest may go on.
func (v *Visit) await(ctx context.Context, until time.Time,
	look func(ctx context.Context, now time.Time) (step, error)) error {
	for ctx.Err() == nil {
		v.f.mu.Lock()
		changed := v.f.guests.wait() // before the look: nothing is missed between
		v.f.mu.Unlock()
		now := time.Now()
		s, err := look(ctx, now)
		if err != nil || s.ready {
			return err
		}
		if s.at.After(until) || !now.Before(until) {
			return &TurnError{Host: v.key, Why: s.why, At: s.at}
		}
		wake := until
		if s.at.After(now) {
			wake = s.at
		}
		timer := time.NewTimer(time.Until(wake))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return context.Cause(ctx)
}

// claim makes the next turn of the host, and of its address, the guest's.
func (v *Visit) claim(_ context.Context, now time.Time) (step, error) {
	f := v.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hosts.held[v.key] && !v.ask.Begun {
		return step{}, &TurnError{Host: v.key, Why: "people hold it: release it to continue"}
	}
	g := f.guests.of(v.key)
	h := f.hosts.of(v.key)
	switch {
	case g.claimed:
		return step{why: "another dry run asks it"}, nil
	case g.yields.After(now) && h != nil && h.work() && !v.ask.Begun:
		return step{at: g.yields, why: "it is the crawl's turn"}, nil
	}
	if h != nil && h.rec.Addr.IsValid() && v.addr.IsValid() && h.unit != nil && h.unit.shared {
		v.addr = h.rec.Addr // the address whose politeness it shares now
	}
	if v.addr.IsValid() {
		if u := f.bench.byKey[v.addr.String()]; u != nil && u.guest {
			return step{why: "another dry run asks a host on its address"}, nil
		}
		v.own = &host{rec: crawl.Host{Key: v.key}, index: -1}
		f.bench.join(v.own, v.addr.String())
		v.own.unit.busy++
		v.own.unit.guest = true
		f.bench.place(v.own.unit)
	}
	g.claimed, g.yields, g.vnode = true, time.Time{}, f.duties.place(v.ask.URL).Vnode
	return step{ready: true}, nil
}

// take begins the request when the host has had its rest. The claim keeps the crawl from beginning another.
func (v *Visit) take(ctx context.Context, now time.Time) (step, error) {
	f := v.f
	stored, read, err := v.stored(ctx)
	if err != nil {
		return step{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.duties.place(v.ask.URL)
	switch {
	case p.Node != "" || !p.Lease:
		return step{}, &TurnError{Host: v.key, Why: "it is on its way to another node: try again"}
	case f.hosts.held[v.key]:
		return step{}, &TurnError{Host: v.key, Why: "people hold it: release it to continue"}
	}
	h := f.hosts.of(v.key)
	if h == nil {
		rec, known := f.hosts.leaving[v.key]
		if !known && !read {
			return step{at: now.Add(time.Millisecond), why: "its record is read"}, nil
		}
		if !known {
			rec = *stored
		}
		rec.LastContact = later(rec.LastContact, later(p.Since, f.hosts.resumedAt))
		h = &host{rec: rec, index: -1, factor: p.Factor, stranger: true}
	}
	if h.busy > 0 {
		return step{why: "a request of the crawl is under way"}, nil
	}
	v.gap = max(h.gap(v.ask.Job), v.ask.Gap)
	at := f.hosts.earliest(h, v.ask.Job)
	if !h.rec.LastContact.IsZero() {
		at = later(at, h.rec.LastContact.Add(v.gap))
	}
	at = later(at, f.guests.earliest(v.key, v.gap))
	if v.own != nil {
		if v.own.unit.busy > 1 {
			return step{why: "a request of the crawl to its address is under way"}, nil
		}
		at = later(at, v.own.unit.next)
	}
	return step{ready: !at.After(now), at: at, why: whyRests(h, now)}, nil
}

// stored reads what is stored of a host that is not active and did not leave just now. With the claim nothing newer
// comes.
func (v *Visit) stored(ctx context.Context) (rec *crawl.Host, read bool, err error) {
	v.f.mu.Lock()
	_, leaving := v.f.hosts.leaving[v.key]
	active := v.f.hosts.of(v.key) != nil
	v.f.mu.Unlock()
	if leaving || active {
		return nil, false, nil
	}
	recs, err := v.f.readRecords(ctx, []string{v.key})
	if err != nil {
		return nil, false, err
	}
	return &recs[0], true, nil
}

// whyRests says why a host is not asked yet.
func whyRests(h *host, now time.Time) string {
	switch {
	case h.rec.Next.After(now) && h.rec.Failures > 0:
		return fmt.Sprintf("it failed %d times in a row and is left alone for a while", h.rec.Failures)
	case h.rec.Next.After(now):
		return "its server asked for fewer requests"
	}
	return "the delay between two requests has not passed"
}

// End gives the turn back. out is what became of the request; nil: none was made.
func (v *Visit) End(out *crawl.Outcome) {
	f := v.f
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	g := f.guests.of(v.key)
	g.claimed = false
	next := time.Time{}
	if out != nil {
		g.note(out, v.ask.Job, v.gap)
		if out.Contacted() {
			next = out.Ended.Add(ipDelay(v.ask.Job).D())
		}
	}
	if v.own != nil {
		v.own.unit.guest = false
		f.bench.done(v.own.unit, next)
		f.bench.leave(v.own, now)
	}
	if h := f.hosts.of(v.key); h != nil {
		if js := f.jobs.of(h.job); js != nil && h.work() && out != nil {
			g.yields = f.hosts.earliest(h, js.job).Add(crawlTurn)
		}
		f.rejoin(h, nil, now)
	}
	f.guests.tell()
	f.signal()
}
