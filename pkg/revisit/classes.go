package revisit

// classEnds are where the classes of pages end, in days between two changes; the last class has no end.
var classEnds = [...]float64{.25, 1, 3, 10, 30, 100}

// Class counts pages that are believed to change about as often as one another.
type Class struct {
	Pages int64
	Fresh float64 // how many of them are expected to be what the Web says now
}

// ClassBounds are the bounds of a class of [Counts], in days between two changes; to is 0 for the last one.
func ClassBounds(i int) (from, to float64) {
	if i > 0 {
		from = classEnds[i-1]
	}
	if i < len(classEnds) {
		to = classEnds[i]
	}
	return from, to
}

func (c *Census) countClass(r Rate, fresh float64) {
	days, i := 1/r.Mean(), 0
	for i < len(classEnds) && days > classEnds[i] {
		i++
	}
	c.Classes[i].Pages++
	c.Classes[i].Fresh += fresh
}

// HostWish is what the pages of a host at its cap want.
type HostWish struct {
	Pages          int
	Allows, Wanted float64 // visits a day; Wanted are those at the threshold of the crawl
}

// Capped are the hosts that Level found at their caps.
func (c *Census) Capped() map[uint64]HostWish { return c.capped }

func (c *Census) wish(host uint64, h *Host, most float64) {
	if c.capped == nil {
		c.capped = map[uint64]HostWish{}
	}
	c.capped[host] = HostWish{h.Pages(), h.PerDay, h.Demand.PerDay(c.plan.Tau(), most)}
}
