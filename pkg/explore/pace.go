package explore

import (
	"runtime"
	"time"
)

// The indexer pauses between batches. On an idle machine the pauses are short. If other work fills the machine, or uses
// half of the processors this process may use, the indexer takes a fiftieth of the processor time of that work. When
// nothing is crawled it does not wait for other programs: the operating system shares out the processors.
const (
	restIdle = 0.2
	restBusy = 50   // over the cores that other work uses
	busyFrom = 0.5  // of the cores that the process may use, for other work than the indexer's
	fullFrom = 0.25 // of the machine's cores, that must be idle
	restFrom = 0.1  // of a core: where other work uses less, nobody is in a hurry
	longRest = 10 * time.Second
	measured = 100 * time.Millisecond // of rest at least
)

// pace computes the pauses of an indexer. It measures the load of the machine during a pause.
type pace struct {
	ended  time.Time     // of the last work of the indexer
	used   time.Duration // by the process until then
	ticks  ticks         // of the machine until then
	rested time.Duration // that was measured, since the last judgement
	others time.Duration // of the processors, that others used meanwhile
	spare  ticks         // of the machine meanwhile
	quiet  bool          // there is room
	cores  float64       // that other work of the process used
	sum    time.Duration // of the indexer, ever
}

// ticks count what the machine's processors did since it was started, in a unit of its own.
type ticks struct{ idle, all uint64 }

// begin ends a rest.
func (p *pace) begin(now time.Time) {
	used, ok := processorTime()
	if !ok || p.ended.IsZero() {
		return
	}
	at, _ := machineTicks()
	p.rested += now.Sub(p.ended)
	p.others += used - p.used
	p.spare.idle += at.idle - p.ticks.idle
	p.spare.all += at.all - p.ticks.all
	if p.rested < measured {
		return
	}
	p.cores = p.others.Seconds() / p.rested.Seconds()
	room := p.cores < busyFrom*float64(runtime.GOMAXPROCS(0))
	if p.spare.all > 0 {
		room = room && float64(p.spare.idle) > fullFrom*float64(p.spare.all)
	}
	p.quiet = room || p.cores < restFrom
	p.rested, p.others, p.spare = 0, 0, ticks{}
}

// rest is how long to rest after work that took so long.
func (p *pace) rest(worked time.Duration) time.Duration {
	p.sum += worked
	p.ended = time.Now()
	p.used, _ = processorTime()
	p.ticks, _ = machineTicks()
	factor := restBusy / max(p.cores, restFrom)
	if p.quiet {
		factor = restIdle
	}
	return min(time.Duration(float64(worked)*factor), longRest)
}
