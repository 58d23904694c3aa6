package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A guest is somebody who asks a host besides the crawl: a dry run. It has a turn of the host like a lease, and the
// crawl keeps its distance to it as to a lease of its own. Nothing of it is stored: after a restart every delay starts
// anew anyway. On a cluster guests are in other programs (package node), and a frontier that begins takes on the turns
// that the one before it gave.

// guests are the hosts that guests ask or asked. Frontier.mu guards it.
type guests struct {
	byKey   map[string]*guest
	changed chan struct{} // closed when a guest may have its turn; nil: nobody waits
}

// guest is what guests did at a host.
type guest struct {
	claimed bool      // the next turn is a guest's, or it has it
	vnode   int       // of the URL that the guest asks for
	ended   time.Time // the last request
	until   time.Time // the rest that it gave the host
	yields  time.Time // the next turn is the crawl's until then
}

// maxGuests is how many hosts are remembered; those whose rest is the longest ago are forgotten first.
const maxGuests = 1024

// crawlTurn is how long a host that has its rest is kept for the crawl, if that has tasks there.
const crawlTurn = time.Second

func newGuests() guests { return guests{byKey: map[string]*guest{}} }

// of returns what guests did at a host, and remembers that there is one.
func (g *guests) of(key string) *guest {
	if known := g.byKey[key]; known != nil {
		return known
	}
	if len(g.byKey) >= maxGuests {
		g.forget()
	}
	made := &guest{}
	g.byKey[key] = made
	return made
}

// forget forgets the host that was asked the longest ago.
func (g *guests) forget() {
	oldest := ""
	for key, o := range g.byKey {
		if !o.claimed && (oldest == "" || o.ended.Before(g.byKey[oldest].ended)) {
			oldest = key
		}
	}
	delete(g.byKey, oldest)
}

// claimed reports whether the next turn of a host is a guest's.
func (g *guests) claimed(key string) bool {
	o := g.byKey[key]
	return o != nil && o.claimed
}

// earliest is when a host may be asked for a job, by what guests did there.
func (g *guests) earliest(key string, gap time.Duration) time.Time {
	o := g.byKey[key]
	if o == nil || o.ended.IsZero() {
		return time.Time{}
	}
	return later(o.until, o.ended.Add(gap))
}

// leased notes that the crawl had its turn.
func (g *guests) leased(key string) {
	if o := g.byKey[key]; o != nil && !o.yields.IsZero() {
		o.yields = time.Time{}
		g.tell()
	}
}

// tell wakes those who wait.
func (g *guests) tell() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// wait returns a channel that is closed when something has changed.
func (g *guests) wait() <-chan struct{} {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return g.changed
}

// note remembers a request of a guest, and gives the host the rest that the guest's job and the server ask for.
func (g *guest) note(out *crawl.Outcome, job *crawl.Job, gap time.Duration) {
	if !out.Contacted() {
		return
	}
	g.ended = later(g.ended, out.Ended)
	rest := crawl.Rest{Took: job.Politeness.Counts(out.Ended.Sub(out.Started), gap, 0)}
	g.until = later(g.until, out.Ended.Add(rest.By(job, gap)))
	switch p := &job.Retry; {
	case !out.Slow:
	case out.RetryAfter > 0:
		g.until = later(g.until, out.Ended.Add(min(out.RetryAfter, p.SlowMax.D())))
	default:
		g.until = later(g.until, out.Ended.Add(p.SlowMin.D()))
	}
}
