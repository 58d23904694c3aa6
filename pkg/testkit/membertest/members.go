package membertest

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

// three starts three members that do their parts of moves, and waits until they share the ring.
func (w World) three(t *testing.T, set ...func(*member.Config)) (all []*running, ways []Client) {
	t.Helper()
	for _, name := range []string{"n0", "n1", "n2"} {
		way := w.Client(t)
		r := w.start(t, way, node(name), set...)
		r.work(t, name)
		all, ways = append(all, r), append(ways, way)
	}
	for _, r := range all {
		r.until(t, w, "all three own the ring", func() bool { return owns(r.Table(), "n0", "n1", "n2") })
	}
	return all, ways
}

func shares(t *testing.T, w World) {
	all, _ := w.three(t)
	v := all[1].Table().VnodeOf("www.example.com")
	owners := 0
	for i, r := range all {
		k, ok := r.Token()
		if !ok || k.Node != node([]string{"n0", "n1", "n2"}[i]).Name || r.Table().Admits(k, v) == nil != r.MayLease(v) {
			t.Errorf("token %+v, %v of a member that may lease: %v", k, ok, r.MayLease(v))
		}
		if r.MayLease(v) {
			owners++
		}
	}
	if owners != 1 {
		t.Errorf("%d members may lease one virtual node", owners)
	}
	all[2].stop()
	for _, r := range all[:2] {
		r.until(t, w, "the others own the ring of one that is gone", func() bool { return owns(r.Table(), "n0", "n1") })
	}
	if !all[2].Fenced() || all[2].MayLease(v) {
		t.Error("a member that has ended is not fenced")
	}
	if err := all[2].Drain(t.Context(), "n0"); !is(err, member.ErrFenced) {
		t.Errorf("it drains another: %v", err)
	}
}

func keeps(t *testing.T, w World) {
	all, ways := w.three(t, func(c *member.Config) { c.Grace = 20 * w.Timeout })
	before := all[0].Table()
	old, _ := before.Node("n2")
	all[2].stop()
	back := w.start(t, ways[2], node("n2"))
	for _, r := range []*running{back, all[0]} {
		r.until(t, w, "it is back", func() bool {
			if r.Table() == nil {
				return false
			}
			n, ok := r.Table().Node("n2")
			return ok && n.Incarnation > old.Incarnation
		})
	}
	m, err := ring.Compare(before, back.Table())
	check(t, err)
	if m.Moved > 0 || !owns(back.Table(), "n0", "n1", "n2") {
		t.Errorf("%d virtual nodes moved: %s", m.Moved, describe(back.Table()))
	}
	if k, ok := back.Token(); !ok || k.Incarnation == old.Incarnation {
		t.Errorf("token %+v, %v", k, ok)
	}
}

// FencedInTime cuts one of three members off. It returns when that member was fenced, and when the others could first
// see the end of its session.
func FencedInTime(t *testing.T, w World, set ...func(*member.Config)) (fencedAt, goneAt time.Time) {
	ctx := w.context(t)
	s, _ := w.session(ctx, t)
	way := w.Client(t)
	r := w.start(t, way, node("n0"), set...)
	r.work(t, "n0")
	r.until(t, w, "it owns the ring", func() bool { return owns(r.Table(), "n0") && r.MayLease(0) })
	way.Cut()
	gone := make(chan time.Time, 1)
	go func() {
		for {
			v, err := s.Read(ctx)
			if err == nil && len(v.Present) == 0 || ctx.Err() != nil {
				gone <- time.Now()
				return
			}
			select {
			case <-s.Changed():
			case <-time.After(w.Timeout / 4):
				_ = s.Ping(ctx)
			case <-ctx.Done():
			}
		}
	}()
	r.until(t, w, "it is fenced", r.Fenced)
	fencedAt = time.Now()
	if r.MayLease(0) {
		t.Error("a fenced member may lease")
	}
	if _, ok := r.Token(); ok {
		t.Error("a fenced member has a token")
	}
	return fencedAt, <-gone
}

func fenced(t *testing.T, w World) {
	fencedAt, goneAt := FencedInTime(t, w)
	if !fencedAt.Before(goneAt) {
		t.Errorf("it was fenced %v after the others could take over", fencedAt.Sub(goneAt))
	}
	t.Logf("fenced %v before the store ended the session", goneAt.Sub(fencedAt))
}

func anew(t *testing.T, w World) {
	all, ways := w.three(t)
	old, _ := all[0].Table().Node("n0")
	ways[0].Cut()
	for _, r := range all[1:] {
		r.until(t, w, "the others take over", func() bool { return owns(r.Table(), "n1", "n2") })
	}
	if !all[0].Fenced() {
		t.Error("it is cut off and not fenced")
	}
	ways[0].Heal()
	for _, r := range all {
		r.until(t, w, "it joins again", func() bool { return owns(r.Table(), "n0", "n1", "n2") && !r.Fenced() })
	}
	if n, _ := all[0].Table().Node("n0"); n.Incarnation <= old.Incarnation {
		t.Errorf("incarnation %d after %d", n.Incarnation, old.Incarnation)
	}
	before := all[0].Table()
	ways[1].Expire() // and is back within the grace time
	all[1].until(t, w, "it registers anew", func() bool {
		n, ok := all[1].Table().Node("n1")
		was, _ := before.Node("n1")
		return ok && n.Incarnation > was.Incarnation && !all[1].Fenced()
	})
	if m, err := ring.Compare(before, all[1].Table()); err != nil || m.Moved > 0 {
		t.Errorf("%d virtual nodes moved, %v", m.Moved, err)
	}
}

func drained(t *testing.T, w World) {
	all, _ := w.three(t)
	check(t, all[0].Drain(t.Context(), "n1"))
	for _, r := range all {
		r.until(t, w, "the others own the ring", func() bool { return owns(r.Table(), "n0", "n2") })
	}
	n, _ := all[1].Table().Node("n1")
	if n.State != ring.Gone {
		t.Errorf("n1 is %s", n.State)
	}
	epoch := all[1].Table().Epoch()
	if err := all[1].Drain(t.Context(), "n1"); err != nil || all[1].Table().Epoch() != epoch {
		t.Errorf("draining it again: %v, epoch %d after %d", err, all[1].Table().Epoch(), epoch)
	}
	all[1].stop()
	all[0].until(t, w, "it is forgotten", func() bool { _, known := all[0].Table().Node("n1"); return !known })
	check(t, all[0].Drain(t.Context(), "n2"))
	all[0].until(t, w, "one is left", func() bool { return owns(all[0].Table(), "n0") })
	if err := all[0].Drain(t.Context(), "n0"); !is(err, ring.ErrLast) {
		t.Errorf("the last one is drained: %v", err)
	}
}

func refused(t *testing.T, w World) {
	ok := w.start(t, w.Client(t), node("n0"))
	ok.until(t, w, "the ring is there", func() bool { return ok.Table() != nil })
	other := w.start(t, w.Client(t), node("n1"), func(c *member.Config) { c.Partition = ring.ByURL })
	select {
	case <-other.done:
	case <-time.After(w.patience()):
		t.Fatal("a member of another partition goes on")
	}
	if other.err == nil || !strings.Contains(other.err.Error(), "partitioned by host") {
		t.Errorf("it ended with %v", other.err)
	}
}

func observer(t *testing.T, w World) {
	seer := w.start(t, w.Client(t), ring.Node{})
	ok := w.start(t, w.Client(t), node("n0"))
	ok.work(t, "n0")
	seer.until(t, w, "it sees the ring", func() bool { return owns(seer.Table(), "n0") && !seer.Fenced() })
	if _, is := seer.Token(); is || seer.MayLease(0) {
		t.Error("an observer has a token")
	}
	ok.stop()
	if n := len(seer.Table().Nodes()); n != 1 {
		t.Errorf("%d nodes: an observer buried a node", n)
	}
}
