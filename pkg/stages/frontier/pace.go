package frontier

import (
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// pace spaces the leases of a job over all hosts: by Bounds.Rate, by Bounds.Bandwidth, by Parallelism, and while no
// proxy of the job can be asked. Its zero value holds no lease back. Frontier.mu guards it.
//
// All nodes of a ring have equal shares of each. A share that a node does not use is not given to another.
type pace struct {
	next   time.Time // by the rate, no lease starts earlier
	paid   float64   // bytes that may come; below 0 they came already
	earned time.Time // until when paid was reckoned
	mean   float64   // bytes of an answer, lately
	under  int       // leases under way
	probe  time.Time // no lease starts earlier, for want of a proxy
	hosts  []*host   // whose time has come, and who wait for the job's pace, the first one first
}

const (
	// catchUp is how much of the time that the dispatcher lost, by waking late, may be made good.
	catchUp = 20 * time.Millisecond
	// saved is for how long a job that asked for nothing saves up bandwidth.
	saved = 250 * time.Millisecond
	// firstMean is what an answer is reckoned to bring before there was any.
	firstMean = 32 << 10
	// proxyPause is how long a job leases nothing after no proxy could be asked, but for one lease.
	proxyPause = time.Second
)

// share is a node's part of a bound of the whole job.
func share(bound float64, nodes int) float64 { return bound / float64(max(nodes, 1)) }

// ready is when the job's pace permits the next lease; not after now: at once.
func (p *pace) ready(b *crawl.Bounds, nodes int, now time.Time) time.Time {
	at := p.probe
	if b.Rate > 0 {
		at = later(at, p.next)
	}
	if b.Bandwidth > 0 {
		p.earn(b, nodes, now)
		if owed := float64(p.under)*p.mean - p.paid; owed >= 0 {
			wait := time.Duration(owed / share(float64(b.Bandwidth), nodes) * float64(time.Second))
			at = later(at, now.Add(max(wait, time.Millisecond)))
		}
	}
	return at
}

// earn reckons what may come by now.
func (p *pace) earn(b *crawl.Bounds, nodes int, now time.Time) {
	if p.earned.IsZero() {
		p.earned, p.mean, p.paid = now, firstMean, 0
	}
	part := share(float64(b.Bandwidth), nodes)
	p.paid = min(p.paid+part*max(now.Sub(p.earned), 0).Seconds(), part*saved.Seconds())
	p.earned = later(p.earned, now)
}

// begin notes a lease.
func (p *pace) begin(b *crawl.Bounds, nodes func() int, now time.Time) {
	p.under++
	if b.Rate > 0 {
		interval := time.Duration(float64(time.Second) / share(b.Rate, nodes()))
		if now.Sub(p.next) > catchUp {
			p.next = now
		}
		p.next = p.next.Add(interval)
	}
	if !p.probe.IsZero() {
		p.probe = now.Add(proxyPause)
	}
}

// end notes that a lease has ended.
func (p *pace) end() { p.under = max(p.under-1, 0) }

// learn notes what an outcome shows: how much came, and whether there is a proxy to be asked.
func (p *pace) learn(b *crawl.Bounds, out *crawl.Outcome, now time.Time) {
	if b.Bandwidth > 0 {
		p.paid -= float64(out.Wire)
		if out.Contacted() {
			p.mean += (float64(out.Wire) - p.mean) / 8
		}
	}
	switch {
	case out.Reason == crawl.ReasonNoProxy || out.Reason == crawl.ReasonCertificate:
		p.probe = now.Add(proxyPause)
	case out.Status != 0:
		p.probe = time.Time{}
	}
}

// holds reports whether a lease of the job has to wait.
func (f *Frontier) holds(js *jobState, now time.Time) bool {
	b := &js.job.Bounds
	return (b.Paced() || !js.pace.probe.IsZero()) && !js.dead && js.pace.ready(b, f.nodes(), now).After(now) ||
		f.spare(js) == 0
}

// spare is how many leases a job may have besides those under way. The node's window bounds them too.
func (f *Frontier) spare(js *jobState) int {
	if js.job.Parallelism <= 0 || js.dead {
		return math.MaxInt
	}
	return max(max(int(share(float64(js.job.Parallelism), f.nodes())), 1)-js.pace.under, 0)
}

// nodes is over how many nodes the bounds of a job are divided.
func (f *Frontier) nodes() int {
	if f.deps.Nodes == nil {
		return 1
	}
	return max(f.deps.Nodes(), 1)
}

// hold lets a host whose time has come wait for the pace of the job.
func (p *pace) hold(h *host) {
	if !h.paced {
		h.paced = true
		p.hosts = append(p.hosts, h)
	}
}

// revised begins to reckon anew, for a revision of the job.
func (p *pace) revised() { p.earned, p.next = time.Time{}, time.Time{} }

// releaseAll releases all hosts that wait.
func (p *pace) releaseAll() {
	for _, h := range p.hosts {
		h.paced = false
	}
	p.hosts = nil
}

// release returns the host that has waited for the pace the longest.
func (p *pace) release() *host {
	h := p.hosts[0]
	p.hosts[0] = nil
	p.hosts = p.hosts[1:]
	h.paced = false
	return h
}

// keepPace lets as many hosts wait for their turns again as may be leased now. A host that does not use its chance
// takes it from no other.
func (dp *dispatcher) keepPace(now time.Time) {
	for _, js := range dp.jobs.byID {
		n := 0
		if len(js.pace.hosts) > 0 {
			n = min(js.pace.permits(&js.job.Bounds, dp.nodes(), now, js.dead), dp.spare(js))
		}
		for range min(n, len(js.pace.hosts), dp.cfg.Batch) {
			dp.rejoin(js.pace.release(), js, now)
		}
	}
}

// permits is how many leases the pace permits now, roughly: each is asked for again when it is made.
func (p *pace) permits(b *crawl.Bounds, nodes int, now time.Time, dead bool) int {
	if dead || !b.Paced() && p.probe.IsZero() {
		return len(p.hosts)
	}
	if p.ready(b, nodes, now).After(now) {
		return 0
	}
	n := len(p.hosts)
	if b.Rate > 0 {
		n = min(n, 1+int(min(now.Sub(p.next), catchUp).Seconds()*share(b.Rate, nodes)))
	}
	if b.Bandwidth > 0 {
		n = min(n, 1+int(p.paid/max(p.mean, 1))-p.under)
	}
	if !p.probe.IsZero() {
		n = 1
	}
	return max(n, 1)
}

// paceDue is when the pace of a job for which hosts wait permits the next lease; zero: none waits.
func (f *Frontier) paceDue(now time.Time) (due time.Time) {
	for _, js := range f.jobs.byID {
		if len(js.pace.hosts) == 0 || f.spare(js) == 0 { // the end of a lease wakes the dispatcher
			continue
		}
		if at := js.pace.ready(&js.job.Bounds, f.nodes(), now); due.IsZero() || at.Before(due) {
			due = at
		}
	}
	return due
}

// bandwidth is what a fetcher may take in a second for the job; 0: as much as comes.
func (f *Frontier) bandwidth(job *crawl.Job) int64 {
	if job.Bounds.Bandwidth <= 0 {
		return 0
	}
	return max(int64(share(float64(job.Bounds.Bandwidth), f.nodes())), 1)
}
