package frontier

import "math"

// A registrable domain may have any number of hosts, since its owner can invent names. Each host keeps its own pace, so
// without a bound a domain would take as many shares of a crawl as it has hosts. Therefore only a limited number of its
// hosts take turns at once, while other domains have work; the others wait in a line, and a host that had its turn goes
// to its end.

// domainTurns is the number of hosts of a domain that may always take turns at once.
const domainTurns = 16

// domain is the active hosts of a registrable domain.
type domain struct {
	name    string
	hosts   int
	turns   int  // hosts that take turns
	waiting line // ready hosts that wait for a turn
}

// domains are those that have active hosts.
type domains struct {
	byName  map[string]*domain
	crowded map[*domain]bool // some hosts wait
	hosts   int              // active hosts that may always take turns
}

func newDomains() domains { return domains{byName: map[string]*domain{}, crowded: map[*domain]bool{}} }

// join makes h a host of the domain.
func (d *domains) join(h *host, name string) {
	if h.domain = d.byName[name]; h.domain == nil {
		h.domain = &domain{name: name}
		d.byName[name] = h.domain
	}
	if h.domain.hosts++; h.domain.hosts <= domainTurns {
		d.hosts++
	}
}

// leave takes h, which waits for nothing, off its domain.
func (d *domains) leave(h *host) {
	h.endTurn()
	if h.domain.hosts--; h.domain.hosts < domainTurns {
		d.hosts--
	}
	if h.domain.hosts == 0 {
		delete(d.byName, h.domain.name)
	}
	h.domain = nil
}

// most is how many hosts of a domain may take turns at once: as many as there are domains with hosts that answer.
func (d *domains) most(unproven int) int {
	if len(d.byName) == 1 {
		return math.MaxInt
	}
	return max(domainTurns, len(d.byName)-unproven)
}

// turn gives h, which is ready, a turn of its domain, or lets it wait for one.
func (d *domains) turn(h *host, most int) bool {
	its := h.domain
	switch {
	case !h.turn && its.turns >= most:
	case h.turn && h.turned && its.waiting.len() > 0:
		h.endTurn() // recall gives it to the first that waits
	default:
		h.beginTurn()
		h.turned = true
		return true
	}
	its.waiting.push(h)
	d.crowded[its] = true
	return false
}

func (h *host) beginTurn() {
	if !h.turn {
		h.turn = true
		h.domain.turns++
	}
}

func (h *host) endTurn() {
	if h.turn {
		h.turn, h.turned = false, false
		h.domain.turns--
	}
}

// recall hands the hosts to each whose turn it is now. Where each cannot have one it stays the first.
func (d *domains) recall(most int, each func(*host) bool) {
	for its := range d.crowded {
		for its.turns < most && its.waiting.len() > 0 && each(its.waiting.first()) {
			its.waiting.pop().beginTurn()
		}
		if its.waiting.len() == 0 {
			delete(d.crowded, its)
		}
	}
}

// full reports whether the domain has so many active hosts that it leaves too little room for others.
func (d *domains) full(name string, maxActive int) bool {
	its := d.byName[name]
	return its != nil && its.hosts >= max(maxActive/8, domainTurns)
}
