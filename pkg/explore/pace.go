package explore

import (
	"runtime"
	"time"
)

// An indexer that nothing else wants the processor for rests a little. Beside work that fills the machine, or half of
// what the process may use, it takes a fiftieth of what that work takes. When nothing is crawled, it goes on whatever
// else the machine does: that is for the operating system to share out.
const (
	restIdle = 0.2
	restBusy = 50   // over the cores that other work uses
	busyFrom = 0.5  // of the cores that the process may use, for other work than the indexer's
	fullFrom = 0.25 // of the machine's cores, that must be idle
	restFrom = 0.1  // of a core: where other work uses less, nobody is in a hurry
	longRest = 10 * time.Second
	measured = 200 * time.Millisecond // over that time at least
)

// pace says how long an indexer rests.
type pace struct {
	at    time.Time
	used  time.Duration // by the process until then
	own   time.Duration // by the indexer since then
	idle  ticks         // of the machine until then
	quiet bool          // there is room
	cores float64       // that other work of the process used
	sum   time.Duration // of the indexer, ever
}

// ticks count what the machine's processors did since it was started, in a unit of its own.
type ticks struct{ idle, all uint64 }

// rest is how long to rest after work that took so long.
func (p *pace) rest(worked time.Duration) time.Duration {
	p.own += worked
	p.sum += worked
	p.measure(time.Now())
	factor := restBusy / max(p.cores, restFrom)
	if p.quiet {
		factor = restIdle
	}
	return min(time.Duration(float64(worked)*factor), longRest)
}

// measure looks at how much of the processors other work uses.
func (p *pace) measure(now time.Time) {
	took := now.Sub(p.at)
	if took < measured {
		return
	}
	used, ok := processorTime()
	idle, known := machineTicks()
	if first := p.at.IsZero(); !first && ok {
		p.cores = (used - p.used - p.own).Seconds() / took.Seconds()
		room := p.cores < busyFrom*float64(runtime.GOMAXPROCS(0))
		if all := idle.all - p.idle.all; known && all > 0 {
			room = room && float64(idle.idle-p.idle.idle) > fullFrom*float64(all)
		}
		p.quiet = room || p.cores < restFrom
	}
	p.at, p.used, p.own, p.idle = now, used, 0, idle
}
