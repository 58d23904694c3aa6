package memstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/memstore"
)

// chaos simulates nodes that make requests as the ring allows, while they are cut off, killed, restarted and drained at
// random.
type chaos struct {
	t      *testing.T
	server *memstore.Server
	rnd    *rand.Rand
	fault  string // what is broken on purpose
	ctx    context.Context
	eyes   map[string]*eyes
	wg     sync.WaitGroup
	began  time.Time

	mu       sync.Mutex
	inFlight map[int]map[string]int // requests, by virtual node and node
	requests int
	double   []string // virtual nodes that two nodes made requests to at once
}

const chaosVnodes = 30

type chaosNode struct {
	*member.Member
	name   string
	way    *memstore.Client
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// eyes are a node's fetcher: it watches its node's registration over a connection of its own and outlives the node's
// member.
type eyes struct {
	*member.Member
	way *memstore.Client
}

func (c *chaos) open(name string) {
	cfg := member.Default()
	cfg.Log = slog.New(slog.DiscardHandler)
	e := &eyes{way: c.server.Client()}
	var err error
	if e.Member, err = member.New(e.way, cfg); err != nil {
		c.t.Fatal(err)
	}
	c.eyes[name] = e
	c.wg.Go(func() {
		if err := e.Run(c.ctx); err != nil {
			c.t.Error(err)
		}
	})
}

func (c *chaos) start(name string) *chaosNode {
	cfg := member.Default()
	cfg.Node = ring.Node{Name: name, Address: name + ":5672", Weight: ring.Unit}
	cfg.Vnodes, cfg.Seed, cfg.Grace, cfg.Log = chaosVnodes, 1, 10*time.Second, slog.New(slog.DiscardHandler)
	if c.fault == slowClocks && name < "n2" {
		cfg.Clock = func() time.Duration { return time.Since(c.began) / 8 }
	}
	n := &chaosNode{name: name, way: c.server.Client()}
	var err error
	if n.Member, err = member.New(n.way, cfg); err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	n.wg.Go(func() {
		if err := n.Run(ctx); err != nil {
			c.t.Error(err)
		}
	})
	seed := c.rnd.Uint64()
	n.wg.Go(func() { c.request(ctx, n, rand.New(rand.NewPCG(seed, 1))) })
	n.wg.Go(func() { c.handOn(ctx, n) })
	return n
}

// kill ends the member's process, and the server does not hear of it. Requests go on: they are another program's.
func (c *chaos) kill(n *chaosNode) {
	n.way.Cut()
	n.cancel()
	n.wg.Wait()
}

// request makes requests to virtual nodes that may be leased. Most take up to a second, some longer than it takes to
// declare a node dead.
func (c *chaos) request(ctx context.Context, n *chaosNode, rnd *rand.Rand) {
	for sleep(ctx, 50*time.Millisecond) {
		v, d := rnd.IntN(chaosVnodes), time.Duration(rnd.Int64N(int64(time.Second)))
		if rnd.IntN(20) == 0 {
			d *= 60
		}
		if _, ok := c.eyes[n.name].Alive(n.name); (ok || c.fault == slowClocks) && n.MayLease(v) {
			c.count(v, n.name, 1)
			c.wg.Go(func() { c.fetch(n.name, d); c.count(v, n.name, -1) })
		}
	}
}

// fetch is a request: it takes a time, or until the fetcher does not see its node any more.
func (c *chaos) fetch(name string, d time.Duration) {
	told, end := c.eyes[name].Watch()
	defer end()
	over := time.NewTimer(d)
	defer over.Stop()
	for {
		if _, ok := c.eyes[name].Alive(name); !ok && c.fault != careless {
			return
		}
		select {
		case <-told:
		case <-over.C:
			return
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *chaos) count(v int, name string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight[v] == nil {
		c.inFlight[v] = map[string]int{}
	}
	if c.inFlight[v][name] += by; c.inFlight[v][name] == 0 {
		delete(c.inFlight[v], name)
	}
	if by > 0 {
		c.requests++
	}
	if len(c.inFlight[v]) > 1 {
		c.double = append(c.double, fmt.Sprintf("virtual node %d at %v: %v", v, time.Since(c.began), c.inFlight[v]))
	}
}

func (c *chaos) busy(v int, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inFlight[v][name] > 0
}

// handOn does a node's parts of moves once it has no request in flight.
func (c *chaos) handOn(ctx context.Context, n *chaosNode) {
	for sleep(ctx, 100*time.Millisecond) {
		t := n.Table()
		if t == nil || n.Fenced() {
			continue
		}
		var parts []ring.Part
		hand, regain := t.Duties(n.name)
		for _, v := range hand {
			if !c.busy(v.Index, n.name) {
				parts = append(parts, v.Part())
			}
		}
		for _, v := range regain {
			parts = append(parts, v.Part())
		}
		if len(parts) > 0 {
			_, _ = n.Finish(ctx, parts...)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// run lets trouble happen for ten minutes, and then waits until the ring is whole.
func (c *chaos) run() {
	names := []string{"n0", "n1", "n2", "n3", "n4"}
	alive, cut := map[string]*chaosNode{}, map[string]bool{}
	for _, name := range names {
		c.open(name)
		alive[name] = c.start(name)
	}
	blind := map[string]bool{}
	for range 120 {
		time.Sleep(time.Duration(c.rnd.Int64N(int64(10 * time.Second))))
		name := names[c.rnd.IntN(len(names))]
		n := alive[name]
		switch k := c.rnd.IntN(7); {
		case k == 6:
			if blind[name] = !blind[name]; blind[name] {
				c.eyes[name].way.Cut()
			} else {
				c.eyes[name].way.Heal()
			}
		case n == nil:
			alive[name], cut[name] = c.start(name), false
		case cut[name]:
			n.way.Heal()
			cut[name] = false
		case k == 0:
			c.kill(n)
			delete(alive, name)
		case k == 1:
			n.cancel()
			n.wg.Wait()
			delete(alive, name)
		case k == 2:
			_ = n.Drain(context.Background(), name)
		case k == 3:
			n.way.Expire()
		default:
			n.way.Cut()
			cut[name] = true
		}
	}
	for _, name := range names {
		c.eyes[name].way.Heal()
		if n := alive[name]; n != nil { // also those that were drained
			c.kill(n)
		}
		alive[name] = c.start(name)
	}
	time.Sleep(2 * time.Minute)
	writes := c.server.Writes()
	time.Sleep(5 * time.Minute)
	for _, name := range names {
		t := alive[name].Table()
		if len(t.Moving()) > 0 || len(t.Nodes()) != len(names) || alive[name].Fenced() ||
			t.Epoch() != alive["n0"].Table().Epoch() {
			c.t.Errorf("%s: epoch %d, %v, counts %v, %d moving, fenced %v", name, t.Epoch(), t.Nodes(), t.Counts(),
				len(t.Moving()), alive[name].Fenced())
		}
	}
	if c.server.Writes() != writes {
		c.t.Errorf("%d writes to a ring that stands still", c.server.Writes()-writes)
	}
	for _, n := range alive {
		n.cancel()
		n.wg.Wait()
	}
}

// Faults that a control injects.
const (
	slowClocks = "the clocks of two nodes are slow, so that fencing comes too late, and fetchers begin whatever is leased"
	careless   = "fetchers go on whether their node is alive or not"
)

func chaosOf(t *testing.T, seed uint64, fault string) *chaos {
	ctx, cancel := context.WithCancel(context.Background())
	c := &chaos{t: t, server: memstore.New(timeout), rnd: rand.New(rand.NewPCG(seed, 0)), fault: fault, began: time.Now(),
		ctx: ctx, eyes: map[string]*eyes{}, inFlight: map[int]map[string]int{}}
	c.run()
	cancel()
	c.wg.Wait()
	return c
}

func TestNoTwoNodesMakeRequestsAtOnceWhateverHappensAndTheRingHeals(t *testing.T) {
	seeds := 8
	if testing.Short() {
		seeds = 3
	}
	requests := 0
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			c := chaosOf(t, uint64(seed), "")
			requests += c.requests
			if len(c.double) > 0 {
				t.Errorf("seed %d: %d times two nodes at once: %s", seed, len(c.double), c.double[0])
			}
		})
	}
	t.Logf("%d requests", requests)
}

func TestNegativeControlNodesThatBelieveTooLongInTheirPlaceMeetAnother(t *testing.T) {
	for _, fault := range []string{slowClocks, careless} {
		double := 0
		for seed := 0; seed < 3 && double == 0; seed++ {
			synctest.Test(t, func(t *testing.T) { double += len(chaosOf(t, uint64(seed), fault).double) })
		}
		if double == 0 {
			t.Errorf("%s, and none ever met another", fault)
		}
	}
}
