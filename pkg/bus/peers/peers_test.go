package peers_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/peers"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var errDisk = errors.New("disk full")

func TestWhereMessagesGo(t *testing.T) {
	away := func(w *world) { w.of("b").set(silent) }
	for name, c := range map[string]struct {
		msgs      []bus.Message
		set       func(w *world)
		own, a, b []string
		err       error // nil: none
		permanent bool
	}{
		"what names no node": {msgs: []bus.Message{outcome(), claim(""), fresh("")},
			own: []string{"outcome", "", ""}},
		"what names nodes": {msgs: []bus.Message{claim("a"), claim(""), claim("b"), fresh("a")}, own: []string{""},
			a: []string{"a", "a"}, b: []string{"b"}},
		"nothing": {},
		"a broker is away": {msgs: []bus.Message{claim("a"), claim(""), claim("b")}, set: away, own: []string{""},
			a: []string{"a"}, err: peers.ErrAway},
		"what stands for the others": {msgs: []bus.Message{claim("b"), claim(""), outcome()}, set: away, own: []string{""},
			err: peers.ErrAway},
		"nobody knows the node": {msgs: []bus.Message{claim("x"), claim("a")}, a: []string{"a"}, err: peers.ErrUnknown},
		"its way does not open": {msgs: []bus.Message{claim("z")}, set: func(w *world) { w.place("z", "closed:1") },
			err: errDisk},
		"the own broker fails": {msgs: []bus.Message{claim("a"), outcome()},
			set: func(w *world) { w.own.set(func(context.Context) error { return errDisk }) }, a: []string{"a"}, err: errDisk},
		"one cannot be mended, one away": {msgs: []bus.Message{claim("b"), claim("a")}, set: func(w *world) {
			away(w)
			w.of("a").set(func(context.Context) error { return crawl.Permanent(errDisk) })
		}, err: errDisk, permanent: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("a", "b")
				if c.set != nil {
					c.set(w)
				}
				b := w.bus(t, func(cfg *peers.Config) {
					open := cfg.Open
					cfg.Open = func(addr string) (peers.Publisher, error) {
						if addr == "closed:1" {
							return nil, errDisk
						}
						return open(addr)
					}
				})
				defer b.Close()
				err := b.Publish(t.Context(), c.msgs...)
				if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
					t.Errorf("Publish = %v, want %v", err, c.err)
				}
				for _, x := range []struct {
					who       string
					got, want []string
				}{{"the own broker", w.own.nodes(), c.own}, {"a", w.of("a").nodes(), c.a}, {"b", w.of("b").nodes(), c.b}} {
					if !same(x.got, x.want) {
						t.Errorf("%s has %q, want %q", x.who, x.got, x.want)
					}
				}
				if retry, _ := bus.Disposition(err, 1_000_000); err != nil && !errors.Is(err, errDisk) && !retry {
					t.Errorf("after a million tries it is buried: %v", err)
				}
				if crawl.IsPermanent(err) != c.permanent {
					t.Errorf("permanent: %v", crawl.IsPermanent(err))
				}
			})
		})
	}
}

// Each broker answers when all others have been asked: published one after the other, nobody would ever get an answer.
func TestNodesArePublishedToAtTheSameTimeAndTheOwnBrokerLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("a", "b", "c")
		var asked sync.WaitGroup
		asked.Add(3)
		for _, n := range []string{"a", "b", "c"} {
			w.of(n).set(func(ctx context.Context) error {
				if calls, _, _ := w.own.counts(); calls > 0 {
					t.Error("the own broker was asked before the others had answered")
				}
				asked.Done()
				asked.Wait()
				return nil
			})
		}
		b := w.bus(t)
		defer b.Close()
		if err := b.Publish(t.Context(), claim(""), claim("a"), claim("b"), claim("c")); err != nil {
			t.Error(err)
		}
		if !same(w.own.nodes(), []string{""}) {
			t.Errorf("the own broker has %q", w.own.nodes())
		}
	})
}

// The first failure takes the timeout; then publications fail at once, and one at a time tries again, less and less
// often.
func TestABrokerThatIsAwayHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("a", "b")
		w.of("b").set(silent)
		b := w.bus(t)
		defer b.Close()
		began := time.Now()
		err := b.Publish(t.Context(), claim("b"))
		if d := time.Since(began); d != 3*time.Second || !errors.Is(err, peers.ErrAway) {
			t.Fatalf("the first failure took %v: %v", d, err)
		}
		// for ten minutes 20 workers publish, each as soon as its last publication has failed and a moment has passed
		var wg sync.WaitGroup
		var slow, fails int
		var mu sync.Mutex
		for range 20 {
			wg.Go(func() {
				for time.Since(began) < 10*time.Minute {
					start := time.Now()
					err := b.Publish(t.Context(), claim("b"))
					mu.Lock()
					if fails++; time.Since(start) > 0 {
						slow++
					}
					mu.Unlock()
					var r *bus.RetryError
					if !errors.As(err, &r) || r.After < 2*time.Second || r.After > 6*time.Second {
						t.Errorf("retry %+v: %v", r, err)
					}
					time.Sleep(250 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		calls, opened, _ := w.of("b").counts()
		if calls != slow+1 || calls < 15 || calls > 40 || opened != 1 || fails < 30_000 {
			t.Errorf("%d publications of %d reached the broker in ten minutes, %d waited; %d connections", calls, fails, slow,
				opened)
		}
		time.Sleep(time.Minute)
		w.of("b").set(func(context.Context) error { time.Sleep(time.Millisecond); return nil })
		if err := b.Publish(t.Context(), claim("b")); err != nil {
			t.Errorf("it is back: %v", err)
		}
		for range 20 {
			wg.Go(func() {
				if err := b.Publish(t.Context(), claim("b")); err != nil {
					t.Errorf("it is back for everybody: %v", err)
				}
			})
		}
		wg.Wait()
	})
}

// Many are under way when the broker goes: they fail together, and the next try is soon.
func TestFailuresOfOneMomentCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("b")
		w.of("b").set(silent)
		b := w.bus(t)
		defer b.Close()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if err := b.Publish(t.Context(), claim("b")); err == nil {
					t.Error("published to nobody")
				}
			})
		}
		wg.Wait()
		w.of("b").set(nil)
		time.Sleep(time.Second)
		if err := b.Publish(t.Context(), claim("b")); err != nil {
			t.Errorf("a second later: %v", err)
		}
	})
}

// A full broker makes publishers wait, as the own one does; one that stays full is left alone.
func TestAFullBrokerIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		fullFor time.Duration
		fails   bool
	}{"for a while": {20 * time.Second, false}, "for ever": {time.Hour, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, began := newWorld("b"), time.Now()
				w.of("b").set(func(ctx context.Context) error {
					if time.Since(began) >= c.fullFor {
						return nil
					}
					return full(ctx)
				})
				b := w.bus(t)
				defer b.Close()
				err := b.Publish(t.Context(), claim("b"))
				if d := time.Since(began); (err != nil) != c.fails || d < 20*time.Second || d > 33*time.Second {
					t.Errorf("after %v: %v", d, err)
				}
				began = time.Now()
				if err := b.Publish(t.Context(), claim("b")); c.fails && (err == nil || time.Since(began) > 0) {
					t.Errorf("the next waited %v: %v", time.Since(began), err)
				}
			})
		})
	}
}

func TestTheEndOfACallerSaysNothingAboutTheBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("b")
		w.of("b").set(silent)
		b := w.bus(t)
		defer b.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Publish(ctx, claim("b")); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, peers.ErrAway) {
			t.Errorf("Publish = %v", err)
		}
		w.of("b").set(nil)
		if err := b.Publish(t.Context(), claim("b")); err != nil {
			t.Errorf("then: %v", err)
		}
		// also where it was the one that tried again
		w.of("b").set(silent)
		_ = b.Publish(t.Context(), claim("b"))
		time.Sleep(2 * time.Second)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = b.Publish(ctx, claim("b"))
		w.of("b").set(nil)
		if err := b.Publish(t.Context(), claim("b")); err != nil {
			t.Errorf("nobody may try again: %v", err)
		}
	})
}

func TestConnectionsFollowTheRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("a", "b", "c")
		b := w.bus(t)
		for range 1000 {
			if err := b.Publish(t.Context(), claim("a"), claim("b"), fresh("a")); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(what string, of *broker, opened, closed int) {
			t.Helper()
			synctest.Wait()
			if _, o, c := of.counts(); o != opened || c != closed {
				t.Errorf("%s: opened %d times, want %d; closed %d times, want %d", what, o, opened, c, closed)
			}
		}
		oldA, oldB := w.of("a"), w.of("b")
		expect("a thousand publications", oldA, 1, 0)
		expect("a node that nothing goes to", w.of("c"), 0, 0)
		newA := w.place("a", "elsewhere:1")
		if err := b.Publish(t.Context(), claim("a")); err != nil {
			t.Fatal(err)
		}
		expect("the old address", oldA, 1, 1)
		expect("the new address", newA, 1, 0)

		w.place("b", "")
		time.Sleep(30 * time.Second)
		expect("unknown for a moment", oldB, 1, 0)
		w.place("b", "b:1")
		time.Sleep(time.Hour)
		expect("known again", oldB, 1, 0)
		w.place("b", "")
		time.Sleep(2 * time.Minute)
		expect("unknown for long", oldB, 1, 1)
		w.place("b", "b:1")
		if err := b.Publish(t.Context(), claim("b")); err != nil {
			t.Fatal(err)
		}
		expect("back", oldB, 2, 1)
		w.place("b", "moved:1")
		time.Sleep(time.Minute)
		expect("moved, and nothing goes there", oldB, 2, 2)

		if err := errors.Join(b.Close(), b.Close()); err != nil {
			t.Fatal(err)
		}
		expect("closed", newA, 1, 1)
		if err := b.Publish(t.Context(), claim("a")); err == nil {
			t.Error("published after Close")
		}
		if err := b.Publish(t.Context(), claim("")); err != nil {
			t.Errorf("the own bus was closed: %v", err)
		}
	})
}

func TestFiguresAreByNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, reg := newWorld("a", "b"), prometheus.NewRegistry()
		w.of("b").set(silent)
		b := w.bus(t, func(c *peers.Config) { c.Metrics = reg })
		defer b.Close()
		_ = b.Publish(t.Context(), claim("a"), claim("a"), claim("b"), claim(""), claim("x"))
		_ = b.Publish(t.Context(), claim("b"))
		want := map[string]float64{"messages_failed_total b": 2, "messages_failed_total x": 1,
			"messages_published_total a": 2, "nodes ": 2}
		if got := figures(t, reg); !maps.Equal(got, want) {
			t.Errorf("figures %v, want %v", got, want)
		}
	})
}

// figures returns the values by name and node.
func figures(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			node := ""
			for _, l := range m.GetLabel() {
				node = l.GetValue()
			}
			out[strings.TrimPrefix(f.GetName(), "whirlpool_peer_")+" "+node] = m.GetCounter().GetValue() +
				m.GetGauge().GetValue()
		}
	}
	return out
}

func TestConfigsThatAreRefused(t *testing.T) {
	for name, set := range map[string]func(*peers.Config){
		"no addresses":    func(c *peers.Config) { c.Address = nil },
		"no ways":         func(c *peers.Config) { c.Open = nil },
		"no log":          func(c *peers.Config) { c.Log = nil },
		"no timeout":      func(c *peers.Config) { c.Timeout = 0 },
		"no rest":         func(c *peers.Config) { c.Rest = 0 },
		"no retry":        func(c *peers.Config) { c.Retry = -1 },
		"nothing kept":    func(c *peers.Config) { c.Keep = 0 },
		"rests that fall": func(c *peers.Config) { c.MaxRest = c.Rest - 1 },
		"no patience":     func(c *peers.Config) { c.Patience = c.Timeout - 1 },
	} {
		cfg := newWorld().config()
		set(&cfg)
		if _, err := peers.New(&broker{}, cfg); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}
