package membertest

import (
	"context"
	"reflect"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

// says: parts of moves are kept by node, the last ones of each, and go with its session.
func says(t *testing.T, w World) {
	ctx := w.context(t)
	a, _ := w.session(ctx, t)
	b, way := w.session(ctx, t)
	said := func(want ...ring.Done) {
		t.Helper()
		got, err := a.Said(ctx, "x", "y", "z")
		check(t, err)
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("said: %+v, want %+v", got, want)
		}
	}
	said()
	if got, err := a.Said(ctx); err != nil || len(got) > 0 {
		t.Errorf("nobody said %+v, %v", got, err)
	}
	x := ring.Done{Node: "x", Incarnation: 7, Parts: []ring.Part{{Vnode: 3, Since: 9, Step: ring.Handing}}}
	y := ring.Done{Node: "y", Incarnation: 8}
	y.Parts = []ring.Part{{Vnode: 1, Since: 2, Step: ring.Recovering}, {Vnode: 5, Since: 9, Step: ring.Handing}}
	check(t, a.Say(ctx, x))
	check(t, b.Say(ctx, y))
	said(x, y)
	y.Parts = y.Parts[1:]
	check(t, b.Say(ctx, y))
	said(x, y)
	_, err := b.Register(ctx, node("y"))
	check(t, err)
	until(ctx, t, w, a, "a registration", func(v member.View) bool { return len(v.Present) == 1 })
	way.Expire()
	until(ctx, t, w, a, "the end of a session", func(v member.View) bool { return len(v.Present) == 0 })
	said(x)
	over(ctx, t, w, b)
	if err := b.Say(ctx, y); !is(err, member.ErrEnded) {
		t.Errorf("it speaks after its end: %v", err)
	}
	if _, err := b.Said(ctx, "x"); !is(err, member.ErrEnded) {
		t.Errorf("it hears after its end: %v", err)
	}
}

// folds: of many members that have parts in one change each finishes its own at the same moment. All of it counts, each
// member has the table with its parts when its call returns, and there are fewer tables than members.
func folds(t *testing.T, w World) {
	const n = 12
	ctx := w.context(t)
	s, _ := w.session(ctx, t)
	table := create(t, 120)
	check(t, s.Write(ctx, table, read(ctx, t, s)))
	var all []*running
	for i := range n {
		name := string(rune('a' + i))
		all = append(all, w.start(t, w.Client(t), node(name)))
	}
	for _, r := range all {
		r.until(t, w, "all are nodes of the ring", func() bool { return r.Table() != nil && len(r.Table().Nodes()) == n })
	}
	before := handedOver(ctx, t, w, s, all)
	var wg sync.WaitGroup
	for i, r := range all[:n-1] {
		name := string(rune('a' + i))
		wg.Go(func() {
			_, regain := r.Table().Duties(name)
			got, err := r.Finish(ctx, partsOf(regain)...)
			if _, left := r.Table().Duties(name); err != nil || got != len(regain) || len(left) > 0 {
				t.Errorf("%s: %d of %d parts, %d left, %v", name, got, len(regain), len(left), err)
			}
		})
	}
	wg.Wait()
	now := read(ctx, t, s).Table
	t.Logf("%d members finished in %d tables", n-1, now.Epoch()-before)
	if moving := len(now.Moving()); moving > 0 || now.Epoch()-before >= n-1 {
		t.Errorf("%d tables for %d members, %d still moving", now.Epoch()-before, n-1, moving)
	}
}

// handedOver drains the last member and has it hand over all that it owns. It returns the epoch from which the others
// have that to recover.
func handedOver(ctx context.Context, t *testing.T, w World, s member.Session, all []*running) uint64 {
	v, err := member.Change(ctx, s, func(now *ring.Table) (*ring.Table, error) { return ring.Settle(now), nil })
	check(t, err)
	last, name := all[len(all)-1], string(rune('a'+len(all)-1))
	check(t, all[0].Drain(ctx, name)) // it hands everything to the others, who will recover
	for _, r := range all {
		r.until(t, w, "the drain", func() bool { return r.Table().Epoch() > v.Epoch() })
	}
	hand, _ := last.Table().Duties(name)
	if got, err := last.Finish(ctx, partsOf(hand)...); err != nil || got != len(hand) {
		t.Fatalf("%d of %d parts, %v", got, len(hand), err)
	}
	before := last.Table().Epoch()
	for _, r := range all {
		r.until(t, w, "the hand-over", func() bool { return r.Table().Epoch() >= before })
	}
	return before
}

func partsOf(duties []ring.Vnode) (parts []ring.Part) {
	for _, v := range duties {
		parts = append(parts, v.Part())
	}
	return parts
}
