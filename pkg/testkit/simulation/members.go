package simulation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// members refuse the late writes of nodes, as the rows of that name do in PostgreSQL.
type members struct {
	mu   sync.Mutex
	rows map[string]floor
}

type floor struct{ incarnation, epoch uint64 }

// Enter makes the writes of a registration count.
func (m *members) Enter(_ context.Context, k ring.Token) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if row := m.rows[k.Node]; row.incarnation < k.Incarnation {
		m.rows[k.Node] = floor{k.Incarnation, max(k.Epoch, row.epoch)}
	}
	return nil
}

// Raise refuses what is written under an older table than t or by registrations that t knows to be over.
func (m *members) Raise(_ context.Context, t *ring.Table) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range t.Nodes() {
		row := m.rows[n.Name]
		if n.Incarnation == 0 && n.State == ring.Gone { // dead, whatever its incarnation was
			row.epoch = max(row.epoch, t.Epoch())
			m.rows[n.Name] = row
			continue
		}
		m.rows[n.Name] = floor{max(row.incarnation, n.Incarnation), max(row.epoch, t.Epoch())}
	}
	return nil
}

// admit returns an error where a node's write does not count.
func (m *members) admit(k ring.Token, ok bool) error {
	m.mu.Lock()
	row := m.rows[k.Node]
	m.mu.Unlock()
	if !ok || k.Incarnation != row.incarnation || k.Epoch < row.epoch {
		return &bus.RetryError{After: time.Second, Expected: true,
			Err: fmt.Errorf("simulation: %+v, of whom %+v is asked: %w", k, row, ring.ErrFenced)}
	}
	return nil
}

// fencedLedger is the ledger as one node writes it.
type fencedLedger struct {
	*ledger
	node *Node
}

func (l fencedLedger) admit() error {
	c := l.node.cluster
	if c.cfg.Broken.Unfenced == l.node.Name {
		return nil
	}
	return c.members.admit(l.node.member.Token())
}

// Claim implements crawl.URLSet.
func (l fencedLedger) Claim(ctx context.Context, job crawl.JobID, by crawl.MessageID,
	tasks []crawl.Task) ([]crawl.Claimed, error) {
	if err := l.admit(); err != nil {
		return nil, err
	}
	return l.ledger.Claim(ctx, job, by, tasks)
}

// Finish implements crawl.Ledger.
func (l fencedLedger) Finish(ctx context.Context, job crawl.JobID, entries ...crawl.Entry) error {
	if err := l.admit(); err != nil {
		return err
	}
	return l.ledger.Finish(ctx, job, entries...)
}

// Reopen implements crawl.Ledger.
func (l fencedLedger) Reopen(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	if err := l.admit(); err != nil {
		return err
	}
	return l.ledger.Reopen(ctx, job, keys...)
}

// Open hands the open URLs in the ranges that owned accepts to each. It takes the time that PostgreSQL would:
// see openRate.
func (l fencedLedger) Open(ctx context.Context, in []weburl.KeyRange, owned func(weburl.URL) bool,
	each func(crawl.Task) error) error {
	n, w := 0, l.web
	if l.node.cluster.cfg.Broken.NoRecovery {
		return nil
	}
	for h := range w.hosts() {
		if u := w.url(h, w.first[h]); !owned(u) || !weburl.InRanges(in, u.Key()) {
			continue
		}
		for _, p := range l.openOf(h) {
			n++
			if err := each(crawl.Task{Job: jobID, URL: w.url(h, p), Priority: crawl.DefaultPriority}); err != nil {
				return err
			}
		}
	}
	if !sleep(ctx, tick(time.Duration(n)*time.Second/openRate)) {
		return ctx.Err()
	}
	return nil
}

// openRate is how many open URLs a second the ledger gives back.
const openRate = 100_000

// openOf returns the open pages of a host.
func (l *ledger) openOf(h int) (pages []uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := l.web.first[h]; p < l.web.first[h+1]; p++ {
		if l.urls[p].state == crawl.StateOpen {
			pages = append(pages, p)
		}
	}
	return pages
}
