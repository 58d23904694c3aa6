package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline/recovery"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const (
	// busyLook is how often a node looks at what it has to hand over or to take back, idleLook how often when there is
	// nothing.
	busyLook = 100 * time.Millisecond
	idleLook = time.Second
	// lostLease is how long a hand-over waits before it doubts that a lease will end: no request takes as long.
	lostLease = 5 * time.Minute
)

// Run does the node's part of every move until ctx is done, and then returns nil, or until the registration has ended:
// ErrOver. Errors of stores are logged and retried.
func (t *Ownership) Run(ctx context.Context, f Frontier) error {
	changed, stop := t.deps.Member.Watch()
	defer stop()
	t.reclaimAfter(t.cfg.Patience) // what was lost while this node was away
	for {
		if t.over() {
			return ErrOver
		}
		busy, err := t.look(ctx, f)
		if err != nil && ctx.Err() == nil {
			t.sayWhy(ctx, err)
		}
		pause := idleLook
		if busy {
			pause = busyLook
		}
		if err != nil {
			pause = idleLook
		}
		if !wait(ctx, changed, pause) {
			return nil
		}
	}
}

// sayWhy logs what has to be retried. A refusal by the fence is not a fault: the node has lost its place for the
// moment, which its membership has logged.
func (t *Ownership) sayWhy(ctx context.Context, err error) {
	level := slog.LevelWarn
	if errors.Is(err, ring.ErrFenced) {
		level = slog.LevelInfo
	}
	t.cfg.Log.Log(ctx, level, "a part of a move in the ring is tried again", "error", err)
}

// look does what is to be done now. busy: something is left that time will settle.
func (t *Ownership) look(ctx context.Context, f Frontier) (busy bool, err error) {
	table := t.deps.Member.Table()
	if t.update(table) {
		t.noteDepartures(table)
		f.Wake()
	}
	if t.deps.Member.Fenced() {
		return true, nil
	}
	hand, regain := table.Duties(t.cfg.Node)
	return len(hand)+len(regain) > 0,
		errors.Join(t.handOver(ctx, f, hand), t.takeOver(ctx, f, table, regain), t.takeBack(ctx, f))
}

// handOver gives up the virtual nodes of which nothing is in flight. The frontier leases nothing of them since update.
func (t *Ownership) handOver(ctx context.Context, f Frontier, hand []ring.Vnode) error {
	busy := f.InFlight()
	var parts []ring.Part
	for _, v := range hand {
		if busy[v.Index] == 0 {
			parts = append(parts, v.Part())
		}
	}
	switch {
	case len(parts) == len(hand):
		t.waits = time.Time{}
	case t.waits.IsZero():
		t.waits = time.Now()
	case time.Since(t.waits) > lostLease && !f.Unsent() && t.cfg.Quiet(ctx):
		t.cfg.Log.Warn("leases of virtual nodes that are handed over will never end: their messages are dead letters",
			"leases", len(hand)-len(parts))
		for _, v := range hand {
			if busy[v.Index] > 0 {
				parts = append(parts, v.Part())
			}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	if err := f.Flush(ctx); err != nil {
		return fmt.Errorf("hand over %d virtual nodes: %w", len(parts), err)
	}
	n, err := t.deps.Member.Finish(ctx, parts...)
	if err == nil {
		t.cfg.Log.Info("virtual nodes were handed over", "virtual_nodes", n, "in_flight", len(hand)-len(parts))
	}
	return err
}

// takeOver queues what is open of virtual nodes that came to this node.
func (t *Ownership) takeOver(ctx context.Context, f Frontier, table *ring.Table, gained []ring.Vnode) error {
	if len(gained) == 0 {
		return nil
	}
	start := time.Now()
	if err := t.deps.Members.Raise(ctx, table); err != nil {
		return fmt.Errorf("take over %d virtual nodes: %w", len(gained), err)
	}
	mine := make([]bool, table.Len())
	parts := make([]ring.Part, len(gained))
	for i, v := range gained {
		mine[v.Index], parts[i] = true, v.Part()
	}
	var unplaced error
	owned := func(u weburl.URL) bool {
		v, err := vnodeOf(ctx, table, u, t.cfg.Addresses)
		unplaced = cmp.Or(unplaced, err)
		return err == nil && mine[v]
	}
	r, in := t.Recovery(), table.KeyRanges(func(vnode int) bool { return mine[vnode] })
	open, err := r.Open(ctx, f, in, owned, nil)
	visits := 0
	if err == nil {
		visits, err = r.VisitAnew(ctx, f, in, owned, nil)
	}
	if err = errors.Join(err, unplaced); err != nil {
		return fmt.Errorf("take over %d virtual nodes: %w", len(gained), err)
	}
	n, err := t.deps.Member.Finish(ctx, parts...)
	if err != nil {
		return err
	}
	t.cfg.Log.Info("virtual nodes were taken over", "virtual_nodes", n, "open_urls", open, "visits", visits,
		"took", time.Since(start))
	t.reclaimAfter(t.cfg.Patience)
	return nil
}

// noteDepartures sees to it that pages are taken back whose links a node took with it.
func (t *Ownership) noteDepartures(table *ring.Table) {
	now := map[member]bool{}
	for _, n := range table.Nodes() {
		if n.State != ring.Gone {
			now[member{n.Name, n.Address}] = true
		}
	}
	for m := range t.members {
		if !now[m] {
			t.cfg.Log.Info("a node has left the ring: pages whose links it had are fetched again", "node", m.name,
				"after", t.cfg.Patience)
			t.reclaimAfter(t.cfg.Patience)
		}
	}
	t.members = now
}

func (t *Ownership) reclaimAfter(d time.Duration) {
	t.reclaim = append(t.reclaim, time.Now().Add(d))
	slices.SortFunc(t.reclaim, time.Time.Compare)
}

// TakeBack makes the node take back the pages whose links have been on their way for longer than the patience, although
// no node has left. Call it if nothing moves on any more.
func (t *Ownership) TakeBack() { t.stuck.Store(true) }

// takeBack, when it is time, takes back the pages of this node's hosts whose links were lost on their way: those that
// were expected before a node was missed, and whose links are still not claimed after the time that living nodes take.
func (t *Ownership) takeBack(ctx context.Context, f Frontier) error {
	now := time.Now()
	if t.stuck.Swap(false) {
		t.reclaimAfter(0)
		now = time.Now()
	}
	if len(t.reclaim) == 0 || t.reclaim[0].After(now) {
		return nil
	}
	r := t.Recovery()
	lost, err := r.Unfollowed(ctx, t.reclaim[0].Add(-t.cfg.Patience))
	if err != nil {
		return err
	}
	if err := r.FetchAgain(ctx, f, lost...); err != nil {
		return err
	}
	if len(lost) > 0 {
		t.cfg.Log.Info("pages are fetched again, because their links were lost with a node", "pages", len(lost))
	}
	t.reclaim = t.reclaim[1:]
	return nil
}

// Recovery brings back what belongs to this node.
func (t *Ownership) Recovery() *recovery.Recovery {
	return &recovery.Recovery{Ledger: t.deps.Ledger, Following: t.deps.Following, Visits: t.deps.Visits, Log: t.cfg.Log,
		Mine:   func(u weburl.URL) bool { return t.Place(u).Node == "" },
		Ranges: func() []weburl.KeyRange { return t.view.Load().table.Owned(t.cfg.Node) }}
}
