package pace

import (
	"runtime"
	"testing"
	"time"
)

// How long a batch of a tenth of a second rests, by what other work did meanwhile.
func TestRest(t *testing.T) {
	cores, all := float64(runtime.NumCPU()), float64(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		name   string
		beside bool
		own    float64 // cores that other work of the process used
		free   float64 // of the machine; below 0: it is not known
		want   float64 // times as long as the batch
	}{
		{"an idle machine", false, 0, 1, restIdle},
		{"an idle machine beside crawls", true, 0, 1, restIdle},
		{"other programs fill the machine, nothing is crawled", false, 0, 0, restIdle},
		{"crawls of other programs fill the machine", true, 0, 0, restBeside / cores},
		{"crawls of other programs use half of it", true, 0, .5, restIdle},
		{"a crawl of this process uses it all", false, all, 0, restBusy / all},
		{"a crawl of this process, and nothing is known of the machine", false, all, -1, restBusy / all},
		{"nothing is known of the machine, and nothing is crawled", true, 0, -1, restIdle},
	} {
		p := Pace{Beside: c.beside, cores: c.own}
		if c.free >= 0 {
			p.spare = ticks{idle: uint64(1000 * c.free), all: 1000}
		}
		p.quiet = p.room()
		got := p.Rest(100*time.Millisecond).Seconds() / .1
		if want := min(c.want, longRest.Seconds()/.1); got < want*.99 || got > want*1.01 {
			t.Errorf("%s: rests %.2f times as long as the batch, want %.2f", c.name, got, want)
		}
	}
}
