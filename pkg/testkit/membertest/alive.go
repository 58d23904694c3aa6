package membertest

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

// alive starts, ends and restarts a node, and lets its session expire. An observer, the node itself and another node
// must see the same.
func alive(t *testing.T, w World) {
	way := w.Client(t)
	seers := []*running{w.start(t, w.Client(t), ring.Node{}), w.start(t, w.Client(t), node("n0"))}
	start := func() *running {
		return w.start(t, way, node("n1"), func(c *member.Config) { c.Grace = 20 * w.Timeout })
	}
	see := func(what string, of *running) {
		t.Helper()
		for _, r := range seers {
			r.until(t, w, what, func() bool {
				incarnation, ok := r.Alive("n1")
				return ok == (of != nil) && (of == nil || incarnation == of.Incarnation() && incarnation != 0)
			})
		}
	}
	see("it is not there", nil)
	n := start()
	see("it is alive", n)
	n.until(t, w, "it sees itself", func() bool { i, ok := n.Alive("n1"); return ok && i == n.Incarnation() })
	first := n.Incarnation()
	n.stop()
	if i := n.Incarnation(); i != 0 {
		t.Errorf("a member that has ended has incarnation %d", i)
	}
	see("it is gone", nil)
	n = start()
	see("it is back", n)
	second := n.Incarnation()
	way.Expire()
	for _, r := range seers {
		r.until(t, w, "it is registered anew", func() bool { i, ok := r.Alive("n1"); return ok && i > second })
	}
	if second <= first {
		t.Errorf("incarnation %d after %d", second, first)
	}
	if i, ok := seers[0].Alive("n2"); ok || i != 0 {
		t.Errorf("nobody is alive: %d, %v", i, ok)
	}
}

// unseen: the node lives on, and the seer cannot know.
func unseen(t *testing.T, w World) {
	n, way := w.start(t, w.Client(t), node("n0")), w.Client(t)
	seer := w.start(t, way, ring.Node{})
	sees := func() bool { i, ok := seer.Alive("n0"); return ok && i == n.Incarnation() && i != 0 }
	seer.until(t, w, "it is alive", sees)
	way.Cut()
	began := time.Now()
	seer.until(t, w, "it is not seen any more", func() bool { return !sees() })
	if d := time.Since(began); d > w.Timeout {
		t.Errorf("it was taken for alive for %v of a timeout of %v", d, w.Timeout)
	}
	way.Heal()
	seer.until(t, w, "it is seen again", sees)
}

func hasty(t *testing.T, w World) {
	r := w.start(t, w.Client(t), node("n0"), func(c *member.Config) { c.Grace = w.Timeout - 1 })
	select {
	case <-r.done:
	case <-time.After(w.patience()):
		t.Fatal("it goes on")
	}
	if r.err == nil || !strings.Contains(r.err.Error(), "at least the timeout") {
		t.Errorf("it ended with %v", r.err)
	}
}
