package handover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// node is a node whose membership, stores and frontier write down what is asked of them.
type node struct {
	mu       sync.Mutex
	table    *ring.Table
	fenced   bool
	inc      uint64
	watchers []chan struct{}

	calls  []string
	busy   map[int]int
	open   []crawl.Task
	lost   []crawl.Task
	before time.Time
	fail   map[string]bool // calls that fail once
	unsent bool
	quiet  bool
}

func (n *node) note(format string, args ...any) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	call := fmt.Sprintf(format, args...)
	if n.fail[call] {
		delete(n.fail, call)
		return errors.New("the store fails")
	}
	n.calls = append(n.calls, call)
	return nil
}

func (n *node) said() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.calls
	n.calls = nil
	return out
}

func (n *node) change(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
	for _, w := range n.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

func (n *node) Table() *ring.Table  { n.mu.Lock(); defer n.mu.Unlock(); return n.table }
func (n *node) Fenced() bool        { n.mu.Lock(); defer n.mu.Unlock(); return n.fenced }
func (n *node) Incarnation() uint64 { n.mu.Lock(); defer n.mu.Unlock(); return n.inc }

func (n *node) Token() (ring.Token, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.table == nil || n.fenced {
		return ring.Token{}, false
	}
	return n.table.Token("a")
}

func (n *node) Watch() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watchers = append(n.watchers, c)
	return c, func() {}
}

func (n *node) Finish(_ context.Context, parts ...ring.Part) (int, error) {
	if err := n.note("finish %d %s", len(parts), parts[0].Step); err != nil {
		return 0, err
	}
	counted := 0
	n.change(func() { n.table, counted = n.table.Finish(ring.Done{Node: "a", Incarnation: n.inc, Parts: parts}) })
	return counted, nil
}

func (n *node) Enter(context.Context, ring.Token) error { return n.note("enter") }
func (n *node) Raise(_ context.Context, t *ring.Table) error {
	return n.note("raise %d", t.Epoch())
}

func (n *node) Open(_ context.Context, in []weburl.KeyRange, owned func(weburl.URL) bool,
	each func(crawl.Task) error) error {
	if err := n.note("open"); err != nil {
		return err
	}
	for _, t := range n.open {
		if weburl.InRanges(in, t.URL.Key()) && owned(t.URL) {
			if err := each(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *node) Reopen(_ context.Context, _ crawl.JobID, keys ...weburl.Key) error {
	return n.note("reopen %d", len(keys))
}

func (n *node) Expect(context.Context, ...crawl.Task) error { return nil }
func (n *node) Claimed(context.Context, crawl.JobID, weburl.URL, crawl.Share) error {
	return nil
}

func (n *node) Unfollowed(_ context.Context, in []weburl.KeyRange, before time.Time,
	each func(crawl.Task) error) error {
	n.before = before
	if err := n.note("unfollowed"); err != nil {
		return err
	}
	for _, t := range n.lost {
		if !weburl.InRanges(in, t.URL.Key()) {
			continue
		}
		if err := each(t); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) Forget(_ context.Context, _ crawl.JobID, keys ...weburl.Key) error {
	return n.note("forget %d", len(keys))
}
func (n *node) Waiting(context.Context, crawl.JobID) (int64, error) { return 0, nil }

func (n *node) Wake() {}
func (n *node) InFlight() map[int]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.busy
}
func (n *node) Unsent() bool                { return n.unsent }
func (n *node) Flush(context.Context) error { return n.note("flush") }
func (n *node) Queue(_ context.Context, tasks ...crawl.Task) error {
	return n.note("queue %d", len(tasks))
}

func (n *node) KeepPlaces(context.Context, ...crawl.Task) error                    { return nil }
func (n *node) Recount(context.Context, ...crawl.JobID) error                      { return nil }
func (n *node) VisitAnew(context.Context, crawl.JobID, ...weburl.URL) (int, error) { return 0, nil }

func (n *node) StopWaiting() { _ = n.note("stop waiting") }

const vnodes = 16

// ringOf is a ring of settled nodes.
func ringOf(t testing.TB, names ...string) *ring.Table {
	t.Helper()
	table, err := ring.Create(vnodes, ring.ByHost, 7)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		table = joined(t, table, name, uint64(i+1))
	}
	return table
}

// joined is the ring after a node has joined and all moves are over.
func joined(t testing.TB, table *ring.Table, name string, incarnation uint64) *ring.Table {
	t.Helper()
	return ring.Settle(joining(t, table, name, incarnation))
}

func joining(t testing.TB, table *ring.Table, name string, incarnation uint64) *ring.Table {
	t.Helper()
	n := ring.Node{Name: name, Address: name + ":5672", Weight: ring.Unit, Incarnation: incarnation}
	present := map[string]struct{}{name: {}}
	for _, m := range table.Nodes() {
		present[m.Name] = struct{}{}
	}
	next, err := table.Reconcile(ring.Seen{Registered: []ring.Node{n}, Present: present})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func urls(t testing.TB, n int) []crawl.Task {
	t.Helper()
	out := make([]crawl.Task, n)
	for i := range out {
		u, err := weburl.Parse(fmt.Sprintf("http://h%d.test/", i))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = crawl.Task{Job: "j", URL: u}
	}
	return out
}

func begin(t *testing.T, n *node) *Ownership {
	t.Helper()
	tt, err := Begin(context.Background(), Config{Node: "a", Patience: 20 * time.Second,
		Quiet: func(context.Context) bool { return n.quiet }, Log: slog.New(slog.DiscardHandler)},
		Deps{Member: n, Members: n, Ledger: n, Following: n})
	if err != nil {
		t.Fatal(err)
	}
	return tt
}

// places counts the tasks by what may be done with them: own and leased, own and held, or another's.
func places(tt *Ownership, tasks []crawl.Task) (lease, hold, others int) {
	for _, task := range tasks {
		switch p := tt.Place(task.URL); {
		case p.Node != "":
			others++
		case p.Lease:
			lease++
		default:
			hold++
		}
	}
	return lease, hold, others
}

func TestANodeLetsGoOnlyOfWhatIsNotInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{table: ringOf(t, "a"), inc: 1}
		tt := begin(t, n)
		tasks := urls(t, 200)
		if lease, _, _ := places(tt, tasks); lease != 200 {
			t.Fatalf("the only node may lease %d of 200", lease)
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() { _ = tt.Run(ctx, n) }()
		synctest.Wait()
		n.said()
		next := joining(t, n.table, "b", 2)
		hand, _ := next.Duties("a")
		n.change(func() { n.table, n.busy = next, map[int]int{hand[0].Index: 1} })
		synctest.Wait()
		want := []string{"flush", fmt.Sprintf("finish %d handing", len(hand)-1)}
		if got := n.said(); !slices.Equal(got, want) {
			t.Errorf("with one lease under way: %q, want %q", got, want)
		}
		if _, _, others := places(tt, tasks); others < 60 || others > 140 {
			t.Errorf("%d of 200 are b's", others)
		}
		n.change(func() { n.busy = nil })
		time.Sleep(2 * busyLook)
		if got := n.said(); !slices.Equal(got, []string{"flush", "finish 1 handing"}) {
			t.Errorf("after its end: %q", got)
		}
	})
}

func TestADeadLetterDoesNotHoldUpAMoveForEver(t *testing.T) {
	for name, tt := range map[string]struct {
		unsent, quiet bool
		want          int
	}{
		"its message is nowhere": {quiet: true, want: 8},
		"it is somewhere":        {want: 7},
		"it was not sent yet":    {quiet: true, unsent: true, want: 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &node{table: ringOf(t, "a"), inc: 1, quiet: tt.quiet, unsent: tt.unsent}
				land := begin(t, n)
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				go func() { _ = land.Run(ctx, n) }()
				next := joining(t, n.table, "b", 2)
				hand, _ := next.Duties("a")
				n.change(func() { n.table, n.busy = next, map[int]int{hand[0].Index: 1} })
				time.Sleep(4 * time.Minute)
				if left, _ := n.Table().Duties("a"); len(left) != 1 {
					t.Errorf("after 4 minutes %d are to be handed over", len(left))
				}
				time.Sleep(2 * time.Minute)
				if left, _ := n.Table().Duties("a"); 8-len(left) != tt.want {
					t.Errorf("after 6 minutes %d of 8 were handed over, want %d", 8-len(left), tt.want)
				}
			})
		})
	}
}

func TestANodeReadsTheLedgerBeforeItLeasesWhatItGot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{table: ringOf(t, "b", "a"), inc: 2, open: urls(t, 200), fail: map[string]bool{"open": true}}
		n.fail["finish 8 recovering"] = true
		tt := begin(t, n)
		before := time.Now()
		lease, hold, others := places(tt, n.open)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() { _ = tt.Run(ctx, n) }()
		time.Sleep(time.Minute)
		n.said()
		start := time.Now()
		dead, err := n.table.Reconcile(ring.Seen{Present: map[string]struct{}{"a": {}}, Dead: map[string]uint64{"b": 1}})
		if err != nil {
			t.Fatal(err)
		}
		n.change(func() { n.table = dead })
		synctest.Wait()
		if l, h, o := places(tt, n.open); l != lease || h != hold+others || o != 0 {
			t.Errorf("while the ledger cannot be read: %d leased, %d held, %d others'; before %d, %d, %d", l, h, o, lease, hold,
				others)
		}
		time.Sleep(5 * time.Second)
		epoch := fmt.Sprint("raise ", dead.Epoch())
		queue := fmt.Sprint("queue ", others)
		// two tries failed: at open, at finish
		want := []string{epoch, epoch, "open", queue, epoch, "open", queue, "finish 8 recovering"}
		if got := n.said(); !slices.Equal(got, want) {
			t.Errorf("calls %q, want %q", got, want)
		}
		if l, h, o := places(tt, n.open); l != 200 {
			t.Errorf("afterwards %d leased, %d held, %d others'", l, h, o)
		}
		for _, task := range n.open {
			p := tt.Place(task.URL)
			if !p.Since.Equal(before) && p.Since.Before(start) || p.Tenure != 2 {
				t.Errorf("%s since %v: what came with the move came after %v", task.URL, p.Since, start)
			}
		}
	})
}

func TestPagesWhoseLinksWereLostAreFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{table: ringOf(t, "a", "b"), inc: 1}
		tt := begin(t, n)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() { _ = tt.Run(ctx, n) }()
		time.Sleep(time.Minute)
		if got := n.said(); !slices.Equal(got, []string{"enter", "unfollowed", "stop waiting"}) {
			t.Fatalf("after the start: %q", got)
		}
		c := joined(t, n.table, "c", 3)
		var own, other crawl.Task
		for _, task := range urls(t, 50) {
			switch {
			case tt.Place(task.URL).Node != "":
				other = task
			case c.Vnode(c.VnodeOf(task.URL.HostKey())).Owner == "a": // and stays so
				own = task
			}
		}
		robots := own
		robots.Kind, robots.For = crawl.KindRobots, own.URL.Origin()
		n.lost = []crawl.Task{own, other, robots}
		n.change(func() { n.table = c })
		time.Sleep(time.Minute)
		if got := n.said(); len(got) != 0 {
			t.Errorf("a node that joins loses nothing: %q", got)
		}
		gone := time.Now()
		left, err := n.table.Reconcile(ring.Seen{Present: map[string]struct{}{"a": {}, "b": {}},
			Dead: map[string]uint64{"c": 3}})
		if err != nil {
			t.Fatal(err)
		}
		n.change(func() { n.table = ring.Settle(left) })
		time.Sleep(19 * time.Second)
		if got := n.said(); len(got) != 0 {
			t.Errorf("what is on its way elsewhere has time to come: %q", got)
		}
		time.Sleep(10 * time.Second)
		want := []string{"unfollowed", "reopen 1", "queue 1", "forget 1", "queue 1", "stop waiting"}
		if got := n.said(); !slices.Equal(got, want) || !n.before.Equal(gone) {
			t.Errorf("calls %q for pages before %v; want %q for those before %v", got, n.before, want, gone)
		}
	})
}

func TestAOwnershipEndsWithTheRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{table: ringOf(t, "a"), inc: 1}
		tt := begin(t, n)
		tasks := urls(t, 10)
		ended := make(chan error, 1)
		go func() { ended <- tt.Run(context.Background(), n) }()
		synctest.Wait()
		n.change(func() { n.fenced = true })
		if lease, hold, _ := places(tt, tasks); lease != 0 || hold != 10 {
			t.Errorf("fenced: %d may be leased, %d are held", lease, hold)
		}
		n.change(func() { n.fenced = false })
		if lease, _, _ := places(tt, tasks); lease != 10 {
			t.Errorf("not fenced any more: %d of 10 may be leased", lease)
		}
		n.change(func() { n.inc = 9 })
		if lease, _, _ := places(tt, tasks); lease != 0 {
			t.Errorf("under another registration %d may be leased", lease)
		}
		if err := <-ended; !errors.Is(err, ErrOver) {
			t.Errorf("Run ended with %v", err)
		}
	})
}

func TestWhatIsStuckIsTakenBackOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{table: ringOf(t, "a"), inc: 1}
		tt := begin(t, n)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() { _ = tt.Run(ctx, n) }()
		time.Sleep(time.Hour)
		n.said()
		n.lost = urls(t, 1)
		time.Sleep(time.Hour)
		if got := n.said(); len(got) != 0 {
			t.Fatalf("without a reason: %q", got)
		}
		asked := time.Now()
		tt.TakeBack()
		time.Sleep(2 * idleLook)
		if got := n.said(); !slices.Contains(got, "reopen 1") || asked.Sub(n.before) > 21*time.Second ||
			asked.Sub(n.before) < 19*time.Second {
			t.Errorf("calls %q, for pages expected %v ago", got, asked.Sub(n.before))
		}
	})
}
