package revisitbench

import (
	"math"
	"math/rand/v2"
)

// Bursts: so many days of silence and of changes, which then come so much faster that the mean is the page's rate.
const (
	quietDays, busyDays = 40., 10.
	burst               = (quietDays + busyDays) / busyDays
)

// life is how one page changes, and what was seen of that.
type life struct {
	rate float64
	c    *Config
	r    *rand.Rand
	next float64 // the next change
	// the state of a bursty page: whether it changes now, and until when that stays so; of a daily one: working time
	busy  bool
	until float64
	work  float64
	opens float64
	// stale is the first change since the last visit, told the last signal of one, lie the next signal without a change.
	stale, told, lie float64
}

func newLife(c *Config, i int, p page) *life {
	l := &life{rate: p.rate, c: c, r: rand.New(rand.NewPCG(c.Seed, uint64(i)+100)), stale: math.Inf(1), told: -1,
		lie: math.Inf(1)}
	l.next, l.work, l.until = p.born, p.born, p.born
	l.opens = float64(p.host*7%24) / 24
	if c.Recall > 0 && c.Precision < 1 {
		l.lie = p.born + l.pause()
	}
	l.change()
	return l
}

// pause is the time to the next signal without a change.
func (l *life) pause() float64 {
	return l.r.ExpFloat64() * l.c.Precision / (1 - l.c.Precision) / (l.c.Recall * l.rate)
}

// change moves next to the change after it.
func (l *life) change() {
	switch l.c.Habit {
	case Poisson:
		l.next += l.r.ExpFloat64() / l.rate
	case Daily:
		l.work += l.r.ExpFloat64() / l.rate
		day, part := math.Modf(l.work)
		l.next = day + l.opens + part*8/24
	case Bursty:
		for {
			if l.busy {
				if l.next += l.r.ExpFloat64() / (burst * l.rate); l.next < l.until {
					return
				}
				l.busy, l.next = false, l.until
				l.until += l.r.ExpFloat64() * quietDays
			}
			l.busy, l.next = true, l.until
			l.until += l.r.ExpFloat64() * busyDays
		}
	}
}

// goOn lets the page live until a time.
func (l *life) goOn(to float64) {
	for l.next <= to {
		l.stale = min(l.stale, l.next)
		if l.c.Recall > 0 && l.r.Float64() < l.c.Recall {
			l.told = max(l.told, l.next)
		}
		l.change()
	}
	for l.lie <= to {
		l.told = max(l.told, l.lie)
		l.lie += l.pause()
	}
}
