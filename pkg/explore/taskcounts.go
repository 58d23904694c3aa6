package explore

import (
	"context"
	"slices"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// TaskCounts implements Reader.
func (x *Explorer) TaskCounts(ctx context.Context, id crawl.JobID) (*TaskCounts, error) {
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	c := &TaskCounts{Index: ix.Index(), States: []Count{}, Verdicts: []Count{}, Reasons: []Count{}, Statuses: []Count{}}
	cells, err := ix.depthsAndStates(ctx, "d")
	if err != nil {
		return nil, err
	}
	queued, err := ix.queuedNow(ctx)
	if err != nil {
		return nil, err
	}
	c.Depths = depthsOf(cells, queued)
	c.States = statesOf(cells, queued)
	err = each(ctx, ix.read, "SELECT what, value, coalesce((SELECT word FROM words WHERE id = value), ''), n FROM "+
		"counts WHERE n > 0 AND what IN ('v', 'r', 's') ORDER BY n DESC, value", nil, func(scan func(...any) error) error {
		var what, word string
		var value int
		var n int64
		if err := scan(&what, &value, &word, &n); err != nil {
			return err
		}
		c.add(what, value, word, n)
		return nil
	})
	return c, err
}

func (c *TaskCounts) add(what string, value int, word string, n int64) {
	switch {
	case what == "v":
		c.Verdicts = append(c.Verdicts, Count{crawl.Verdict(value).String(), n})
	case what == "s" && value > 0:
		c.Statuses = append(c.Statuses, Count{strconv.Itoa(value), n})
	case what == "r" && value > 0 && len(c.Reasons) < 100:
		c.Reasons = append(c.Reasons, Count{word, n})
	}
}

// cell is how many URLs a host has in a depth and a state; host 0: all hosts.
type cell struct {
	cellKey
	n int64
}

// depthsAndStates returns the cells of all hosts together: of all URLs (d), or of pages alone (p).
func (x *index) depthsAndStates(ctx context.Context, what string) (list []cell, err error) {
	err = each(ctx, x.read, "SELECT value, n FROM counts WHERE what = ? AND n > 0", []any{what},
		func(scan func(...any) error) error {
			var c cell
			var value int
			err := scan(&value, &c.n)
			c.depth, c.state = value>>4, value&15
			list = append(list, c)
			return err
		})
	return list, err
}

// cellsOf returns the cells of some hosts.
func (x *index) cellsOf(ctx context.Context, hosts []any) (list []cell, err error) {
	err = each(ctx, x.read, "SELECT host, depth, state, n FROM cells WHERE n > 0 AND host IN ("+marks(len(hosts))+")",
		hosts, func(scan func(...any) error) error {
			var c cell
			err := scan(&c.host, &c.depth, &c.state, &c.n)
			list = append(list, c)
			return err
		})
	return list, err
}

func statesOf(cells []cell, q *queuedCounts) []Count {
	var n [len(stateNames)]int64
	for _, c := range cells {
		n[min(c.state, len(n)-1)] += c.n
	}
	n[stateScheduled] = max(n[stateScheduled], q.all)
	out := []Count{}
	for state, name := range stateNames {
		if name != "" && n[state] > 0 {
			out = append(out, Count{name, n[state]})
		}
	}
	if q.inFlight > 0 {
		out = append(out, Count{Active, q.inFlight})
	}
	return out
}

func depthsOf(cells []cell, q *queuedCounts) []Depth {
	by := map[int]*Depth{}
	at := func(d int) *Depth {
		if by[d] == nil {
			by[d] = &Depth{Depth: d}
		}
		return by[d]
	}
	for _, c := range cells {
		switch d := at(c.depth); c.state {
		case stateDone:
			d.Done += c.n
		case stateFailed, stateTimedOut:
			d.Failed += c.n
		case stateExcluded:
			d.Excluded += c.n
		}
	}
	for k, n := range q.cells {
		at(k.depth).Queued += n
	}
	out := make([]Depth, 0, len(by))
	for _, d := range by {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b Depth) int { return a.Depth - b.Depth })
	return out
}
