package revisitbench

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Result is what a crawl reached.
type Result struct {
	Policy string
	Fresh  float64 // in [0, 1]
	Bound  float64 // the best that is possible, where changes come at random and nothing tells of them
	PerDay float64 // visits
	Most   float64 // the most visits of a host in a day, beside what it allows
}

// dueHeap holds the pages of a host by when they are due.
type dueHeap struct {
	ids []int
	c   *crawl
}

func (q *dueHeap) Len() int           { return len(q.ids) }
func (q *dueHeap) Less(a, b int) bool { return q.c.due[q.ids[a]] < q.c.due[q.ids[b]] }
func (q *dueHeap) Push(x any)         { q.ids = append(q.ids, x.(int)) }
func (q *dueHeap) Pop() any           { panic("pages stay") }
func (q *dueHeap) Swap(a, b int) {
	q.ids[a], q.ids[b] = q.ids[b], q.ids[a]
	q.c.at[q.ids[a]], q.c.at[q.ids[b]] = a, b
}

// crawl is one simulated crawl.
type crawl struct {
	*world
	p         policy
	due, last []float64
	lives     []*life
	at        []int // where a page is in its host's heap; -1: not visited yet
	queues    []*dueHeap
	rations   []revisit.Ration
	today     []int
	fresh     []int // pages to be discovered, in order
	hosts     []*revisit.Host
	none      revisit.Demand
	counted   []revisit.Rate
	plan      revisit.Plan
	shares    revisit.Shares
	jitter    *rand.Rand
	turnFirst bool // hosts at their cap go first
	idle      bool // nothing is visited ahead of time
	sum, of   float64
	visits    int
	most      float64
}

func newCrawl(w *world, p policy) *crawl {
	n := len(w.pages)
	c := &crawl{world: w, p: p, due: make([]float64, n), last: make([]float64, n), at: make([]int, n),
		counted: make([]revisit.Rate, n), today: make([]int, len(w.caps)), shares: revisit.NewShares(w.Discovery),
		jitter: rand.New(rand.NewPCG(w.Seed, 3)), turnFirst: true,
		plan: revisit.Plan{PerDay: w.budget, Most: 120 * 24 * time.Hour}}
	for _, most := range w.caps {
		c.queues = append(c.queues, &dueHeap{c: c})
		c.hosts = append(c.hosts, &revisit.Host{PerDay: most})
		c.rations = append(c.rations, revisit.NewRation(most, 1.25))
	}
	for i, p := range w.pages {
		c.lives = append(c.lives, newLife(&w.Config, i, p))
		c.at[i], c.last[i] = -1, math.Inf(1)
	}
	return c
}

// begin visits the pages that are not left for later, at day 0.
func (c *crawl) begin() {
	backlog := int(c.Backlog * float64(c.Pages))
	for i := range c.Pages - backlog {
		c.lives[i].goOn(0)
		c.arrive(i, 0)
	}
	c.level()
	for h, q := range c.queues {
		for _, i := range q.ids {
			c.due[i] = c.p.due(i, 0, 0, c.hosts[h].Tau(), c.plan.Longest()) * (.7 + .6*c.jitter.Float64())
		}
		heap.Init(q)
	}
	for i := c.Pages - backlog; i < c.Pages; i++ {
		c.fresh = append(c.fresh, i)
	}
}

func (c *crawl) run() {
	c.begin()
	grown := c.Pages
	perDay := int(c.budget)
	for d := range c.Days {
		if d > 0 && (d < 20 || d%4 == 0) {
			c.level()
		}
		for ; grown < len(c.pages) && c.pages[grown].born <= float64(d); grown++ {
			c.fresh = append(c.fresh, grown)
		}
		if c.Recall > 0 && d > 0 {
			c.tell(float64(d))
		}
		clear(c.today)
		for k := range perDay {
			c.turn(float64(d) + float64(k)/c.budget)
		}
		for h, n := range c.today {
			c.most = max(c.most, float64(n)/c.caps[h])
		}
	}
	for i := range c.pages {
		c.account(i, float64(c.Days))
		c.of += c.pages[i].weight * (float64(c.Days) - max(float64(c.Days)/2, c.pages[i].born))
	}
}

// tell lets the crawl read all sitemaps.
func (c *crawl) tell(now float64) {
	for h, q := range c.queues {
		for _, i := range q.ids {
			c.lives[i].goOn(now)
			if l := c.lives[i]; l.told > c.last[i] {
				c.p.told(i, l.told)
				c.due[i] = c.p.due(i, c.last[i], now, c.hosts[h].Tau(), c.plan.Longest())
			}
		}
		heap.Init(q)
	}
}

// level finds the thresholds anew.
func (c *crawl) level() {
	if _, ok := c.p.belief(0); ok {
		c.plan.Level(&c.none, c.hosts)
	}
}

// turn is one visit, if there is a page for it.
func (c *crawl) turn(now float64) {
	best := c.pick(now)
	waits := best >= 0 && c.due[c.queues[best].ids[0]] <= now
	if c.shares.Discover(waits, len(c.fresh) > 0) {
		c.visit(c.fresh[0], now)
		c.fresh = c.fresh[1:]
		return
	}
	if best < 0 || c.idle && !waits {
		return
	}
	if !math.IsInf(c.caps[best], 1) {
		c.rations[best].Take(instant(now))
	}
	c.today[best]++
	c.visit(c.queues[best].ids[0], now)
}

// pick returns the host to visit, -1 for none.
func (c *crawl) pick(now float64) int {
	best, earliest := -1, math.Inf(1)
	for h, q := range c.queues {
		if len(q.ids) == 0 {
			continue
		}
		due := c.due[q.ids[0]]
		if c.turnFirst && c.hosts[h].Capped() {
			due -= 1e6
		}
		if due < earliest && (math.IsInf(c.caps[h], 1) || c.rations[h].Left(instant(now)) > 0) {
			best, earliest = h, due
		}
	}
	return best
}

func (c *crawl) visit(i int, now float64) {
	c.visits++
	c.lives[i].goOn(now)
	c.account(i, now)
	q := c.queues[c.pages[i].host]
	c.arrive(i, now)
	c.due[i] = c.p.due(i, now, now, c.hosts[c.pages[i].host].Tau(), c.plan.Longest())
	heap.Fix(q, c.at[i])
}

// account adds how long the copy was fresh, in the second half of the time.
func (c *crawl) account(i int, now float64) {
	c.lives[i].goOn(now)
	from, to := max(c.last[i], float64(c.Days)/2), min(c.lives[i].stale, now)
	if c.at[i] >= 0 && to > from {
		c.sum += (to - from) * c.pages[i].weight
	}
}

// arrive tells the policy what a visit found.
func (c *crawl) arrive(i int, now float64) {
	l, q := c.lives[i], c.queues[c.pages[i].host]
	first := c.at[i] < 0
	c.p.saw(visit{page: i, first: first, last: c.last[i], now: now, changed: !first && l.stale <= now})
	if first {
		c.at[i] = len(q.ids)
		q.ids = append(q.ids, i)
	}
	c.last[i], l.stale = now, math.Inf(1)
	if r, ok := c.p.belief(i); ok {
		h, w := c.hosts[c.pages[i].host], c.pages[i].weight
		if c.counted[i].Known() {
			h.Add(c.counted[i], w, -1)
		}
		h.Add(r, w, 1)
		c.counted[i] = r
	}
}
