// Package membertest is the conformance suite of ring stores, alone and under members. Every store must pass it.
package membertest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

// Client is a way to a store that a test can cut.
type Client interface {
	member.Store
	Cut()    // nothing comes through in either direction until Heal
	Heal()   // undoes Cut
	Expire() // ends the sessions of this client at the store
}

// World is one store that begins empty.
type World struct {
	Client  func(t testing.TB) Client // another way to it
	Timeout time.Duration             // that it grants to sessions
}

// Case is a test of the suite. It may run in virtual time, and by itself.
type Case struct {
	Name string
	Run  func(t *testing.T, w World)
}

// Cases returns the suite.
func Cases() []Case {
	return []Case{
		{"the ring is created once", created},
		{"of writers that race each success is one change", race},
		{"a name belongs to one session", names},
		{"changes are told", told},
		{"what changed while the way was cut is told after it", cut},
		{"what a node says is there until its session ends", says},
		{"an expired session is over", expired},
		{"a closed session is over", closed},
		{"members share the ring and take over from one that is gone", shares},
		{"a member that comes back in time keeps what it owns", keeps},
		{"a member is fenced before the store can have ended its session", fenced},
		{"a member whose session expired is a new one", anew},
		{"parts that nodes say together are one table", folds},
		{"a drained member leaves in order", drained},
		{"a member of another partition is refused", refused},
		{"an observer keeps the table and changes nothing", observer},
		{"whether a node is alive is seen by observers and members", alive},
		{"who is cut off takes no node for alive", unseen},
		{"a grace time shorter than the timeout is refused", hasty},
	}
}

// patience bounds a wait: of the real time that a loaded machine may take.
func (w World) patience() time.Duration { return 10*w.Timeout + 20*time.Second }

func (w World) context(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 6*w.patience())
	t.Cleanup(cancel)
	return ctx
}

// session opens a session that is closed when the test ends.
func (w World) session(ctx context.Context, t *testing.T) (member.Session, Client) {
	t.Helper()
	c := w.Client(t)
	s, err := c.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, vnodes int) *ring.Table {
	t.Helper()
	table, err := ring.Create(vnodes, ring.ByHost, 42)
	check(t, err)
	return table
}

func node(name string) ring.Node {
	return ring.Node{Name: name, Address: name + ".test:5672", Weight: ring.Unit}
}

func read(ctx context.Context, t *testing.T, s member.Session) member.View {
	t.Helper()
	v, err := s.Read(ctx)
	check(t, err)
	return v
}

// until reads again after each sign of a change until ok. It needs the signs: by itself it only keeps the session
// alive.
func until(ctx context.Context, t *testing.T, w World, s member.Session, what string,
	ok func(v member.View) bool) member.View {
	t.Helper()
	timer := time.NewTimer(w.patience())
	defer timer.Stop()
	for {
		v, err := s.Read(ctx)
		if err == nil && ok(v) {
			return v
		}
		for told := false; !told; {
			select {
			case <-s.Changed():
				told = true
			case <-time.After(w.Timeout / 4):
				_ = s.Ping(ctx)
			case <-timer.C:
				t.Fatalf("%s was not told; it reads %+v, %v", what, v, err)
			}
		}
	}
}

// running is a member at work.
type running struct {
	*member.Member
	stop func()
	done chan struct{}
	err  error
}

// start runs a member until the test ends or stop is called.
func (w World) start(t *testing.T, store member.Store, n ring.Node, set ...func(*member.Config)) *running {
	t.Helper()
	cfg := member.Default()
	cfg.Node, cfg.Vnodes, cfg.Seed, cfg.Grace, cfg.Log = n, 120, 42, w.Timeout, slog.New(slog.DiscardHandler)
	for _, f := range set {
		f(&cfg)
	}
	m, err := member.New(store, cfg)
	check(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Member: m, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = m.Run(ctx)
	}()
	r.stop = func() { cancel(); <-r.done }
	t.Cleanup(r.stop)
	return r
}

// until waits for something about a member.
func (r *running) until(t *testing.T, w World, what string, ok func() bool) {
	t.Helper()
	c, end := r.Watch()
	defer end()
	timer := time.NewTimer(w.patience())
	defer timer.Stop()
	for !ok() {
		select {
		case <-c:
		case <-r.done:
			t.Fatalf("%s: the member ended: %v", what, r.err)
		case <-timer.C:
			t.Fatalf("%s: not so; %s", what, describe(r.Table()))
		}
	}
}

func describe(t *ring.Table) string {
	if t == nil {
		return "no table"
	}
	return fmt.Sprintf("epoch %d, %v, counts %v, %d moving", t.Epoch(), t.Nodes(), t.Counts(), len(t.Moving()))
}

// work lets a member do its parts of all moves as they come, until the test ends.
func (r *running) work(t *testing.T, name string) {
	c, end := r.Watch()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if table := r.Table(); table != nil && !r.Fenced() {
				hand, regain := table.Duties(name)
				parts := make([]ring.Part, 0, len(hand)+len(regain))
				for _, v := range append(hand, regain...) {
					parts = append(parts, v.Part())
				}
				if len(parts) > 0 {
					if _, err := r.Finish(ctx, parts...); err == nil {
						continue
					}
				}
			}
			select {
			case <-c:
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond): // a store that was away for a moment
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done; end() })
}

// owns reports whether nodes of these names own the ring, evenly, and nothing moves.
func owns(t *ring.Table, names ...string) bool {
	if t == nil || len(t.Moving()) > 0 {
		return false
	}
	counts, owners := t.Counts(), 0
	for i, n := range t.Nodes() {
		if counts[i] == 0 {
			continue
		}
		if owners >= len(names) || n.Name != names[owners] || counts[i] < t.Len()/len(names) {
			return false
		}
		owners++
	}
	return owners == len(names)
}

// is reports whether err is one of these.
func is(err error, of ...error) bool {
	for _, e := range of {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
