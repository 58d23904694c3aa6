package explore

import (
	"runtime"
	"time"
)

// An indexer that nothing else wants the processor for rests a little; beside a crawl that fills it, it takes a 25th of
// one core, which costs the crawl 2 % of two.
const (
	restIdle = 0.2
	restBusy = 24
	busyFrom = 0.5 // of all cores, that the process uses besides
	longRest = 5 * time.Second
	measured = 200 * time.Millisecond // over that time at least
)

// pace says how long an indexer rests.
type pace struct {
	at   time.Time
	used time.Duration // by the process until then
	own  time.Duration // by the indexer since then
	busy bool
}

// rest is how long to rest after work that took so long.
func (p *pace) rest(worked time.Duration) time.Duration {
	p.own += worked
	p.measure(time.Now())
	factor := restIdle
	if p.busy {
		factor = restBusy
	}
	return min(time.Duration(float64(worked)*factor), longRest)
}

// measure looks at how much of the processor the rest of the process uses.
func (p *pace) measure(now time.Time) {
	used, ok := processorTime()
	switch {
	case !ok:
		p.busy = true
		return
	case p.at.IsZero():
		p.at, p.used, p.own = now, used, 0
		return
	case now.Sub(p.at) < measured:
		return
	}
	others := used - p.used - p.own
	p.busy = others.Seconds() > busyFrom*now.Sub(p.at).Seconds()*float64(runtime.GOMAXPROCS(0))
	p.at, p.used, p.own = now, used, 0
}
