// Package handover applies the ring to a node's frontier: which URLs belong to this node, which hosts it may contact
// and since when, and its part in moving virtual nodes from one node to another.
//
// It knows no technology. docs/design/nodes.md says what it relies on, and why nothing is lost with a node.
package handover

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline/recovery"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Member is this node's membership (member.Member).
type Member interface {
	Table() *ring.Table
	Fenced() bool
	Incarnation() uint64
	Token() (ring.Token, bool)
	Finish(ctx context.Context, parts ...ring.Part) (counted int, err error)
	Watch() (<-chan struct{}, func())
}

// Members keeps what refuses the late writes of nodes.
type Members interface {
	// Enter makes the writes of a registration count.
	Enter(ctx context.Context, k ring.Token) error
	// Raise refuses, from its return on, what is written under an older table than t, or by registrations that t knows
	// to be over.
	Raise(ctx context.Context, t *ring.Table) error
}

// Frontier is the node's frontier, which leases only what the node owns.
type Frontier interface {
	Wake()
	InFlight() map[int]int
	Unsent() bool
	Flush(ctx context.Context) error
	Queue(ctx context.Context, tasks ...crawl.Task) error
	KeepPlaces(ctx context.Context, tasks ...crawl.Task) error
	Recount(ctx context.Context, jobs ...crawl.JobID) error
	StopWaiting()
	VisitAnew(ctx context.Context, job crawl.JobID, pages ...weburl.URL) (int, error)
}

// Place is what a node may do with a URL. The frontier has a type with the same fields: who joins the two converts one
// into the other, so the compiler sees where they differ.
type Place struct {
	Node   string    // the owner; empty: this node
	Lease  bool      // this node may contact the host now
	Since  time.Time // from when this node may
	Vnode  int       // the virtual node of the URL
	Factor int       // by what the delays of the job are multiplied, at least 1
	Tenure uint64    // the registration under which this node leases
}

// Config names the node and sets its times.
type Config struct {
	Node string
	// Patience is how long the links of a page may be on their way, after a node was lost, before the page is fetched
	// again.
	Patience time.Duration
	// Addresses and Recall are for a ring that is partitioned by ip. Recall answers from memory, and where it cannot it
	// calls Wake later.
	Addresses ring.Addresses
	Recall    ring.Addresses
	// Quiet reports whether no lease and no outcome is in the node's broker. A lease under way then will never end,
	// because its message is a dead letter.
	Quiet func(ctx context.Context) bool
	Log   *slog.Logger
}

// Deps are what an Ownership works with.
type Deps struct {
	Member    Member
	Members   Members
	Ledger    recovery.Ledger
	Following crawl.Following
	Visits    recovery.Visits // nil: no page is visited again
}

// ErrOver says that the registration under which a frontier worked is over: what it has in memory may be old.
var ErrOver = errors.New("this node's registration in the ring is over")

// Ownership is what the node owns under one registration. It says what the
// frontier may do with a URL. Make it with Begin.
type Ownership struct {
	cfg   Config
	deps  Deps
	token ring.Token // of the beginning
	view  atomic.Pointer[view]
	stuck atomic.Bool // TakeBack was called

	// Run's.
	members map[member]bool // of the newest table that was looked at
	reclaim []time.Time     // when the following is to be looked at; in order
	waits   time.Time       // since when a lease under way holds up a hand-over; zero: none does
}

// member is a node at an address: at another one it has other queues.
type member struct{ name, address string }

// view is a table and since when this node may lease from its virtual nodes.
type view struct {
	table  *ring.Table
	factor int
	since  map[int]since // of the virtual nodes that it may lease from: a small part of all
	latest time.Time     // of since
}

// since is the epoch at which a virtual node came to this node and when it could lease from it.
type since struct {
	epoch uint64
	at    time.Time
}

// Begin waits until the node is a member of the ring and its writes count.
func Begin(ctx context.Context, cfg Config, deps Deps) (*Ownership, error) {
	t := &Ownership{cfg: cfg, deps: deps}
	changed, stop := deps.Member.Watch()
	defer stop()
	for {
		if k, ok := deps.Member.Token(); ok {
			if err := deps.Members.Enter(ctx, k); err != nil {
				return nil, err
			}
			t.token = k
			t.update(deps.Member.Table())
			return t, nil
		}
		if !wait(ctx, changed, time.Second) {
			return nil, context.Cause(ctx)
		}
	}
}

// over reports whether the node has another registration by now.
func (t *Ownership) over() bool { return t.deps.Member.Incarnation() != t.token.Incarnation }

// Place says whose a URL is, and whether this node may lease it now. It answers from memory.
//
//nolint:contextcheck // a look into memory; Place has no context
func (t *Ownership) Place(u weburl.URL) Place {
	v := t.view.Load()
	vnode, err := vnodeOf(context.Background(), v.table, u, t.cfg.Recall)
	if err != nil {
		return Place{Factor: 1}
	}
	p := Place{Vnode: vnode, Factor: v.factor, Tenure: t.token.Incarnation}
	if owner := v.table.Vnode(vnode).Owner; owner != t.cfg.Node {
		p.Node = owner // of nobody: it waits here
		return p
	}
	if p.Since = v.since[vnode].at; v.table.Partition() == ring.ByURL {
		p.Since = v.latest // other URLs of the host are of other virtual nodes
	}
	_, may := v.since[vnode]
	p.Lease = may && !t.deps.Member.Fenced() && !t.over()
	return p
}

// vnodeOf returns the virtual node of a URL. Only a partition by address can fail.
func vnodeOf(ctx context.Context, table *ring.Table, u weburl.URL, addresses ring.Addresses) (int, error) {
	key, err := table.Partition().Key(ctx, u, addresses)
	if err != nil {
		return 0, err
	}
	return table.VnodeOf(key), nil
}

// update takes over a table. What this node could lease before, and has not lost since, it could lease as long.
func (t *Ownership) update(table *ring.Table) (changed bool) {
	old := t.view.Load()
	if old != nil && old.table == table {
		return false
	}
	now := time.Now()
	v := &view{table: table, factor: table.DelayFactor(), since: map[int]since{}}
	for i := range table.Len() {
		if !table.MayLease(t.cfg.Node, i) {
			continue
		}
		s := since{table.Vnode(i).Since, now}
		if old != nil {
			if before, could := old.since[i]; could && before.epoch == s.epoch {
				s = before
			}
		}
		v.since[i] = s
		if s.at.After(v.latest) {
			v.latest = s.at
		}
	}
	t.view.Store(v)
	return true
}

// wait waits for d or a value of changed, and reports whether ctx is alive.
func wait(ctx context.Context, changed <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
