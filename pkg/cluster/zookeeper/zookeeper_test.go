package zookeeper_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/zookeeper"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/membertest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// timeout of sessions: six ticks of the test's ZooKeeper.
const timeout = 3 * time.Second

// config is that of a ring of the test's own.
func config(server string) zookeeper.Config {
	cfg := zookeeper.Default()
	cfg.Servers, cfg.Root, cfg.Timeout, cfg.Log = []string{server}, "/test/"+rand.Text(), timeout,
		slog.New(slog.DiscardHandler)
	return cfg
}

// client is a store behind a proxy.
type client struct {
	*zookeeper.Store
	*proxy
}

func through(t testing.TB, cfg zookeeper.Config) client {
	t.Helper()
	p := newProxy(t, cfg.Servers[0])
	cfg.Servers = []string{p.addr()}
	s, err := zookeeper.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client{s, p}
}

func world(cfg zookeeper.Config) membertest.World {
	return membertest.World{Timeout: cfg.Timeout, Client: func(t testing.TB) membertest.Client { return through(t, cfg) }}
}

func TestSuite(t *testing.T) {
	server := servicetest.ZooKeeper(t)
	for _, c := range membertest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Run(t, world(config(server)))
		})
	}
}

// A member whose clock is slow must be noticed by the suite.
func TestNegativeControlAMemberThatIsNotFencedInTimeIsNoticed(t *testing.T) {
	began := time.Now()
	fenced, gone := membertest.FencedInTime(t, world(config(servicetest.ZooKeeper(t))), func(c *member.Config) {
		c.Clock = func() time.Duration { return time.Since(began) / 3 }
	})
	if fenced.Before(gone) {
		t.Errorf("fenced %v before the others could take over", gone.Sub(fenced))
	}
}

func open(t *testing.T, s member.Store) member.Session {
	t.Helper()
	x, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// changed waits until a read after a sign of a change shows what is wanted.
func changed(t *testing.T, s member.Session, what string, ok func(member.View) bool) {
	t.Helper()
	timer := time.NewTimer(30 * time.Second)
	defer timer.Stop()
	for {
		if v, err := s.Read(t.Context()); err == nil && ok(v) {
			return
		}
		select {
		case <-s.Changed():
		case <-timer.C:
			t.Fatalf("%s: it is not told", what)
		}
	}
}

// Connections break again and again, and no change is missed in between.
func TestWatchesSurviveReconnections(t *testing.T) {
	cfg := config(servicetest.ZooKeeper(t))
	seer := through(t, cfg)
	s := open(t, seer)
	table, err := ring.Create(10, ring.ByHost, 1)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := zookeeper.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, direct)
	if err := w.Write(t.Context(), table, member.View{}); err != nil {
		t.Fatal(err)
	}
	n := ring.Node{Name: "n", Address: "n:1", Weight: ring.Unit}
	for i := range 6 {
		seer.Break()
		n.Incarnation = uint64(i + 1)
		after, err := member.Change(t.Context(), w, func(r *ring.Table) (*ring.Table, error) { return r.Join(n) })
		if err != nil {
			t.Fatal(err)
		}
		changed(t, s, "a change while the connection was broken",
			func(v member.View) bool { return v.Table != nil && v.Table.Epoch() == after.Epoch() })
	}
}

func TestWhatCannotBeReachedIsSaidWithItsAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	s, err := zookeeper.New(config(nobody))
	if err != nil {
		t.Fatal(err)
	}
	said := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), nobody) && strings.Contains(err.Error(), "refused")
	}
	for patience := 300 * time.Millisecond; !said(err); patience *= 3 { // a slow machine needs longer to be refused
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if _, err = s.Open(ctx); !said(err) && patience > time.Minute {
			t.Fatalf("error %v", err)
		}
		cancel()
	}
}

func TestConfigsThatAreRefused(t *testing.T) {
	for name, set := range map[string]func(*zookeeper.Config){
		"no server":                   func(c *zookeeper.Config) { c.Servers = nil },
		"a server without port":       func(c *zookeeper.Config) { c.Servers = []string{"zk"} },
		"a root that is not absolute": func(c *zookeeper.Config) { c.Root = "whirlpool" },
		"a root with an empty part":   func(c *zookeeper.Config) { c.Root = "/a//b" },
		"a root that goes up":         func(c *zookeeper.Config) { c.Root = "/a/.." },
		"a ring that is a path":       func(c *zookeeper.Config) { c.Ring = "a/b" },
		"no timeout":                  func(c *zookeeper.Config) { c.Timeout = 0 },
		"a user with a colon":         func(c *zookeeper.Config) { c.User = "a:b" },
		"a password of nobody":        func(c *zookeeper.Config) { c.Password = "secret" },
	} {
		cfg := config("127.0.0.1:2181")
		set(&cfg)
		if _, err := zookeeper.New(cfg); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	cfg := config("127.0.0.1:2181")
	cfg.Root = "/"
	if _, err := zookeeper.New(cfg); err != nil {
		t.Error(err)
	}
}

func TestWithAUserNobodyElseMayRead(t *testing.T) {
	cfg := config(servicetest.ZooKeeper(t))
	cfg.User, cfg.Password = "crawler", "one"
	mine, err := zookeeper.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, mine)
	if _, err := s.Register(t.Context(), ring.Node{Name: "n", Address: "n:1", Weight: ring.Unit}); err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"two", ""} {
		other := cfg
		if other.Password = password; password == "" {
			other.User = ""
		}
		o, err := zookeeper.New(other)
		if err != nil {
			t.Fatal(err)
		}
		x, err := o.Open(t.Context())
		if err == nil {
			_, err = x.Read(t.Context())
			_ = x.Close()
		}
		if err == nil || !errors.Is(err, member.ErrDenied) {
			t.Errorf("with password %q: %v", password, err)
		}
	}
	if _, ok, err := open(t, mine).Registration(t.Context(), "n"); !ok || err != nil {
		t.Errorf("the same user: %v, %v", ok, err)
	}
}

// The server is stopped in order, and killed, under members at work. Sessions outlive it when it is back within their
// timeout.
func TestMembersOutliveRestartsOfTheServer(t *testing.T) {
	servicetest.ZooKeeper(t)
	own := servicetest.Start(t, "zookeeper")
	cfg := config(own.Address(t, "ZOOKEEPER"))
	cfg.Timeout = 40 * time.Second // a server starts in that time on any machine
	start := func(name string) *member.Member {
		s, err := zookeeper.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		mc := member.Default()
		mc.Node, mc.Vnodes, mc.Grace, mc.Log = ring.Node{Name: name, Address: name + ":1", Weight: ring.Unit}, 64,
			time.Minute, slog.New(slog.DiscardHandler)
		m, err := member.New(s, mc)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		t.Cleanup(func() {
			if cancel(); <-done != nil {
				t.Error("the member failed")
			}
		})
		return m
	}
	a, b := start("a"), start("b")
	await := func(what string, ok func() bool) {
		t.Helper()
		c, end := a.Watch()
		defer end()
		for deadline := time.Now().Add(5 * time.Minute); !ok(); {
			select {
			case <-c:
			case <-time.After(100 * time.Millisecond): // b's changes
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: not so: %v %v", what, a.Table(), b.Table())
			}
		}
	}
	in := func(m *member.Member) bool { _, ok := m.Token(); return ok && len(m.Table().Nodes()) == 2 }
	await("both are members", func() bool { return in(a) && in(b) })
	ka, _ := a.Token()
	for _, how := range [][]string{{"restart"}, {"kill9", "start"}} {
		for _, script := range how {
			own.Do(t, script, "zookeeper")
		}
		await("both are members after "+strings.Join(how, ", "), func() bool { return in(a) && in(b) })
		n, _ := a.Table().Node("a")
		if n.State == ring.Gone || n.Incarnation < ka.Incarnation {
			t.Errorf("after %v: %+v", how, n)
		}
		await("a change reaches the table after "+strings.Join(how, ", "), func() bool {
			// until the library has connected again: an error that passes
			return errors.Is(a.Drain(t.Context(), "nobody"), ring.ErrUnknown)
		})
	}
}
