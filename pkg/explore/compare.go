package explore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// comparisons remembers what was compared, until an index grows.
type comparisons struct {
	mu sync.Mutex
	by map[[2]crawl.JobID]*pairing
}

// pairing is what became of each record between two executions, by the records' hashes.
type pairing struct {
	at     time.Time
	took   time.Duration
	states [2]Index
	counts Comparison
	second []changed // of the second execution
	gone   []changed // that the first alone has
}

type changed struct {
	hash   int64
	change Change
}

// Bounds of what is remembered. A comparison is good for a while though an index grows.
const (
	maxRemembered = 100
	maxPaired     = 2_000_000 // records
	compareFor    = 5 * time.Second
)

// Compare implements Reader.
func (x *Explorer) Compare(ctx context.Context, first, second crawl.JobID) (*Comparison, error) {
	a, b, err := x.both(ctx, first, second)
	if err != nil {
		return nil, err
	}
	p, err := x.pair(ctx, a, b)
	if err != nil {
		return nil, err
	}
	c := p.counts
	c.First, c.Second, c.Indexes = first, second, [2]*Index{a.Index(), b.Index()}
	return &c, nil
}

func (x *Explorer) both(ctx context.Context, first, second crawl.JobID) (a, b *index, err error) {
	if a, err = x.index(ctx, first); err == nil {
		b, err = x.index(ctx, second)
	}
	return a, b, err
}

// pair compares two executions, or remembers it. Nobody changes what it returns.
func (x *Explorer) pair(ctx context.Context, a, b *index) (*pairing, error) {
	states := [2]Index{*a.Index(), *b.Index()}
	for i := range states {
		states[i].Until = time.Time{}
	}
	key := [2]crawl.JobID{a.source().ID, b.source().ID}
	x.comparisons.mu.Lock()
	defer x.comparisons.mu.Unlock()
	if p := x.comparisons.by[key]; p != nil &&
		(p.states == states || time.Since(p.at) < max(compareFor, recentRest*p.took)) {
		return p, nil
	}
	p, began := &pairing{states: states}, time.Now()
	was, err := a.sums(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare execution %q: %w", key[0], err)
	}
	is, err := b.sums(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare execution %q: %w", key[1], err)
	}
	p.merge(was, is)
	p.at, p.took = time.Now(), time.Since(began)
	x.comparisons.keep(key, p)
	return p, nil
}

// keep remembers a pairing. The lock is held.
func (c *comparisons) keep(key [2]crawl.JobID, p *pairing) {
	sum := len(p.second) + len(p.gone)
	for _, q := range c.by {
		sum += len(q.second) + len(q.gone)
	}
	if c.by == nil || len(c.by) >= maxRemembered || sum > maxPaired {
		c.by = map[[2]crawl.JobID]*pairing{}
	}
	c.by[key] = p
}

// merge walks along both lists.
func (p *pairing) merge(was, is []sum) {
	p.second = make([]changed, 0, len(is))
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].hash < is[0].hash:
			p.gone = append(p.gone, changed{was[0].hash, Gone})
			was = was[1:]
		case len(was) == 0 || is[0].hash < was[0].hash:
			p.second = append(p.second, changed{is[0].hash, New})
			is = is[1:]
		default:
			p.second = append(p.second, changed{is[0].hash, changeOf(&was[0], &is[0])})
			was, is = was[1:], is[1:]
		}
	}
	p.counts.Gone = int64(len(p.gone))
	by := map[Change]*int64{New: &p.counts.New, Changed: &p.counts.Changed, Touched: &p.counts.Touched,
		Same: &p.counts.Same}
	for i := range p.second {
		*by[p.second[i].change]++
	}
}

// Changes implements Reader: what the second execution has, then what the first alone has, in the order of hashes.
func (x *Explorer) Changes(ctx context.Context, first, second crawl.JobID, change Change,
	p Page) (*List[Compared], error) {
	switch change {
	case "", New, Gone, Changed, Touched, Same:
	default:
		return nil, fmt.Errorf("%w: change %q: want new, gone, changed, touched or same", ErrInvalid,
			plain(string(change), 40))
	}
	c, err := cursorFrom(p, listOf("changes", first, second, change))
	if err != nil {
		return nil, err
	}
	if p.Cursor == "" {
		c.ID = math.MinInt64
	}
	a, b, err := x.both(ctx, first, second)
	if err != nil {
		return nil, err
	}
	pairs, err := x.pair(ctx, a, b)
	if err != nil {
		return nil, err
	}
	rows, next := pairs.page(change, c, limitOf(p))
	out := &List[Compared]{Index: older(a.Index(), b.Index()), Total: pairs.counts.of(change)}
	if next != nil {
		out.Next = next.encode()
	}
	if out.Items, err = compared(ctx, a, b, rows); err != nil {
		return nil, fmt.Errorf("compare executions %q and %q: %w", first, second, err)
	}
	return out, nil
}

// of is how many changes of a kind there are.
func (c *Comparison) of(change Change) int64 {
	switch change {
	case New:
		return c.New
	case Gone:
		return c.Gone
	case Changed:
		return c.Changed
	case Touched:
		return c.Touched
	case Same:
		return c.Same
	}
	return c.New + c.Gone + c.Changed + c.Touched
}

// page returns what is behind a cursor, and the cursor behind that; nil: there is no more.
func (p *pairing) page(change Change, c cursor, limit int) (rows []changed, next *cursor) {
	for phase, list := range [][]changed{p.second, p.gone} {
		from := 0
		if phase < c.Phase {
			continue
		}
		if phase == c.Phase && c.ID != math.MinInt64 {
			from, _ = slices.BinarySearchFunc(list, c.ID, func(r changed, id int64) int {
				return cmp.Or(cmp.Compare(r.hash, id), -1) // behind it
			})
		}
		for _, r := range list[from:] {
			if r.change != change && (change != "" || r.change == Same) {
				continue
			}
			if len(rows) == limit {
				return rows, &cursor{Of: c.Of, Phase: next.Phase, ID: next.ID}
			}
			rows, next = append(rows, r), &cursor{Phase: phase, ID: r.hash}
		}
	}
	return rows, nil
}

// older returns the index that was updated less recently.
func older(a, b *Index) *Index {
	if a.Share < b.Share {
		return a
	}
	return b
}
