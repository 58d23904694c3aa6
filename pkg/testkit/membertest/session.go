package membertest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

func created(t *testing.T, w World) {
	ctx := w.context(t)
	a, _ := w.session(ctx, t)
	b, _ := w.session(ctx, t)
	if a.Timeout() != w.Timeout {
		t.Errorf("timeout %v, want %v", a.Timeout(), w.Timeout)
	}
	va, vb := read(ctx, t, a), read(ctx, t, b)
	if va.Table != nil || len(va.Present) > 0 {
		t.Fatalf("an empty store holds %+v", va)
	}
	if _, err := member.Change(ctx, a, func(r *ring.Table) (*ring.Table, error) { return r, nil }); !is(err,
		member.ErrNoRing) {
		t.Errorf("change of nothing: %v", err)
	}
	check(t, a.Write(ctx, create(t, 10), va))
	if err := b.Write(ctx, create(t, 20), vb); !is(err, member.ErrConflict) {
		t.Errorf("the second creation: %v", err)
	}
	if v := read(ctx, t, b); v.Table == nil || v.Table.Len() != 10 {
		t.Errorf("the second reads %+v", v)
	}
}

func race(t *testing.T, w World) {
	const writers, changes = 4, 15
	ctx := w.context(t)
	first, _ := w.session(ctx, t)
	check(t, first.Write(ctx, create(t, 10), read(ctx, t, first)))
	n := node("n")
	_, err := member.Change(ctx, first, func(r *ring.Table) (*ring.Table, error) { n.Incarnation = 1; return r.Join(n) })
	check(t, err)
	began := read(ctx, t, first).Table.Epoch()
	var wg sync.WaitGroup
	var mu sync.Mutex
	epochs := map[uint64]int{}
	for range writers {
		s, _ := w.session(ctx, t)
		wg.Go(func() {
			for range changes {
				after, err := member.Change(ctx, s, func(r *ring.Table) (*ring.Table, error) {
					n, _ := r.Node("n")
					n.Incarnation++
					return r.Join(n)
				})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				epochs[after.Epoch()]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	v := read(ctx, t, first)
	if got, want := v.Table.Epoch(), began+writers*changes; got != want || len(epochs) != writers*changes {
		t.Errorf("epoch %d after %d successes of %d, want %d", got, len(epochs), writers*changes, want)
	}
	if last, _ := v.Table.Node("n"); last.Incarnation != 1+writers*changes {
		t.Errorf("%d of %d changes are there", last.Incarnation-1, writers*changes)
	}
}

func names(t *testing.T, w World) {
	ctx := w.context(t)
	a, _ := w.session(ctx, t)
	b, _ := w.session(ctx, t)
	first, err := a.Register(ctx, node("x"))
	check(t, err)
	if again, err := a.Register(ctx, node("x")); again != first || err != nil {
		t.Errorf("again: %d, %v; want %d", again, err, first)
	}
	if _, err := b.Register(ctx, node("x")); !is(err, member.ErrTaken) {
		t.Errorf("another session: %v", err)
	}
	n, ok, err := b.Registration(ctx, "x")
	want := node("x")
	want.Incarnation = first
	if n != want || !ok || err != nil {
		t.Errorf("registration %+v, %v, %v; want %+v", n, ok, err, want)
	}
	if _, ok, err := b.Registration(ctx, "y"); ok || err != nil {
		t.Errorf("nobody is registered: %v, %v", ok, err)
	}
	check(t, a.Close())
	until(ctx, t, w, b, "the end of the registration", func(v member.View) bool { return len(v.Present) == 0 })
	second, err := b.Register(ctx, node("x"))
	if err != nil || second <= first || first == 0 {
		t.Errorf("incarnation %d after %d, %v", second, first, err)
	}
	check(t, b.Ping(ctx))
}

func told(t *testing.T, w World) {
	ctx := w.context(t)
	a, _ := w.session(ctx, t)
	b, _ := w.session(ctx, t)
	seen := read(ctx, t, b)
	check(t, a.Write(ctx, create(t, 10), seen))
	v := until(ctx, t, w, b, "the creation", func(v member.View) bool { return v.Table != nil })
	n := node("n")
	for n.Incarnation = 1; n.Incarnation < 5; n.Incarnation++ {
		next, err := v.Table.Join(n)
		check(t, err)
		check(t, a.Write(ctx, next, read(ctx, t, a)))
		v = until(ctx, t, w, b, "a change", func(v member.View) bool { return v.Table.Epoch() == next.Epoch() })
	}
	_, err := a.Register(ctx, n)
	check(t, err)
	until(ctx, t, w, b, "a registration", func(v member.View) bool { return len(v.Present) == 1 })
	check(t, a.Close())
	until(ctx, t, w, b, "its end", func(v member.View) bool { return len(v.Present) == 0 })
}

// cut: a watch is there for a session, not for a connection.
func cut(t *testing.T, w World) {
	ctx := w.context(t)
	a, _ := w.session(ctx, t)
	b, way := w.session(ctx, t)
	check(t, a.Write(ctx, create(t, 10), read(ctx, t, a)))
	until(ctx, t, w, b, "the creation", func(v member.View) bool { return v.Table != nil })
	_, err := b.Register(ctx, node("b"))
	check(t, err)
	for round := range 3 {
		way.Cut()
		n := node("n")
		n.Incarnation = uint64(round + 1)
		after, err := member.Change(ctx, a, func(r *ring.Table) (*ring.Table, error) { return r.Join(n) })
		check(t, err)
		short, cancel := context.WithTimeout(ctx, w.Timeout/10)
		if _, err := b.Read(short); err == nil {
			t.Error("it reads through a way that is cut")
		}
		cancel()
		way.Heal()
		until(ctx, t, w, b, "what changed meanwhile", func(v member.View) bool { return v.Table.Epoch() == after.Epoch() })
		n.Incarnation += 100
		after, err = member.Change(ctx, a, func(r *ring.Table) (*ring.Table, error) {
			o := node("o")
			o.Incarnation = n.Incarnation
			return r.Join(o)
		})
		check(t, err)
		until(ctx, t, w, b, "what changed after it", func(v member.View) bool { return v.Table.Epoch() == after.Epoch() })
	}
	check(t, b.Ping(ctx))
	if _, alive := read(ctx, t, a).Present["b"]; !alive {
		t.Error("its registration is gone")
	}
}

func expired(t *testing.T, w World) {
	ctx := w.context(t)
	a, _ := w.session(ctx, t)
	b, way := w.session(ctx, t)
	_, err := b.Register(ctx, node("b"))
	check(t, err)
	way.Cut()
	began := time.Now()
	var absent time.Duration
	until(ctx, t, w, a, "the expiry", func(v member.View) bool { absent = time.Since(began); return len(v.Present) == 0 })
	if absent < w.Timeout*9/10 {
		t.Errorf("it expired after %v of %v", absent, w.Timeout)
	}
	way.Heal()
	over(ctx, t, w, b)
	c, err := way.Open(ctx)
	check(t, err)
	_, err = c.Register(ctx, node("b"))
	check(t, err)
	way.Expire()
	over(ctx, t, w, c)
	until(ctx, t, w, a, "the end by the store", func(v member.View) bool { return len(v.Present) == 0 })
	check(t, c.Close())
}

// over waits until a session knows that it is over, and checks that it then does nothing.
func over(ctx context.Context, t *testing.T, w World, s member.Session) {
	t.Helper()
	select {
	case <-s.Ended():
	case <-time.After(w.patience()):
		t.Fatal("the session does not hear of its end")
	}
	_, errRegister := s.Register(ctx, node("z"))
	_, errRead := s.Read(ctx)
	for what, err := range map[string]error{"ping": s.Ping(ctx), "register": errRegister, "read": errRead,
		"write": s.Write(ctx, create(t, 1), member.View{}), "say": s.Say(ctx, ring.Done{Node: "z"})} {
		if !is(err, member.ErrEnded) {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
}

func closed(t *testing.T, w World) {
	ctx := w.context(t)
	s, _ := w.session(ctx, t)
	check(t, s.Close())
	over(ctx, t, w, s)
	check(t, s.Close())
}
