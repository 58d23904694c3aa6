// Package pace computes how long work that nobody waits for rests, so that crawls do not feel it.
package pace

import (
	"runtime"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// The work is done in batches, with rests between. On an idle machine the rests are short. If other work fills the
// machine, or uses half of the processors this process may use, the batches take a fiftieth of the processor time of
// that work. Where the crawls run in this process and none does, the batches do not wait for other programs: the
// operating system shares out the processors.
const (
	restIdle = 0.2
	restBusy = 50 // over the cores that other work uses
	// restBeside is restBusy where the crawls run in other programs: what is indexed was copied from services before,
	// which takes as long again.
	restBeside = 100
	busyFrom   = 0.5  // of the cores that the process may use, for other work than the batches
	fullFrom   = 0.25 // of the machine's cores, that must be idle
	restFrom   = 0.1  // of a core: where other work uses less, nobody is in a hurry
	longRest   = 10 * time.Second
	measured   = 100 * time.Millisecond // of rest at least
)

// Pace computes rests. It measures the load of the machine meanwhile. The zero value is ready; one goroutine uses it.
type Pace struct {
	// Beside says that the crawls run in other programs of this machine, if on this machine at all: what these use
	// counts as other work, too. Outside Linux it cannot be measured.
	Beside bool

	ended  time.Time     // of the last batch
	used   time.Duration // by the process until then
	ticks  ticks         // of the machine until then
	rested time.Duration // that was measured, since the last judgement
	others time.Duration // of the processors, that others used meanwhile
	spare  ticks         // of the machine meanwhile
	quiet  bool          // there is room
	cores  float64       // that other work used
	sum    time.Duration // of the batches, ever
}

// ticks count what the machine's processors did since it was started, in a unit of its own.
type ticks struct{ idle, all uint64 }

// Begin ends a rest: a batch begins now.
func (p *Pace) Begin(now time.Time) {
	used, ok := system.ProcessorTime()
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
	p.quiet = p.room()
	p.rested, p.others, p.spare = 0, 0, ticks{}
}

// room judges what was measured: there is room for more work.
func (p *Pace) room() bool {
	busy := p.cores >= busyFrom*float64(runtime.GOMAXPROCS(0))
	if p.spare.all == 0 { // it is not known
		return !busy || p.cores < restFrom
	}
	free := float64(p.spare.idle) / float64(p.spare.all)
	if p.Beside {
		p.cores = max(p.cores, (1-free)*float64(runtime.NumCPU()))
	}
	return !busy && free > fullFrom || p.cores < restFrom
}

// Rest is how long to rest after a batch that took so long, at most ten seconds.
func (p *Pace) Rest(worked time.Duration) time.Duration {
	p.sum += worked
	p.ended = time.Now()
	p.used, _ = system.ProcessorTime()
	p.ticks, _ = machineTicks()
	factor := restBusy / max(p.cores, restFrom)
	if p.Beside {
		factor = restBeside / max(p.cores, restFrom)
	}
	if p.quiet {
		factor = restIdle
	}
	return min(time.Duration(float64(worked)*factor), longRest)
}

// Sum is how long all batches took.
func (p *Pace) Sum() time.Duration { return p.sum }
