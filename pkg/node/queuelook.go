package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// queueLooks is how a frontier hears of the looks of audits, and answers them.
type queueLooks interface {
	Asked(ctx context.Context) ([]crawl.QueueLook, error)
	Begin(ctx context.Context, id int64, node string) (first bool, err error)
	Hold(ctx context.Context, id int64, node string, held ...crawl.HeldURL) error
	Answer(ctx context.Context, id int64, a crawl.LookAnswer) error
}

// lookWatch has the frontier look through its queues when an audit asks for it.
type lookWatch struct {
	looks    queueLooks
	frontier *frontier.Frontier
	node     string
	log      *slog.Logger
	answered map[int64]bool
}

const (
	lookEvery = time.Second            // how often it is asked whether an audit waits
	lookTake  = 100 * time.Millisecond // how often what was noted is stored
	holdBatch = 5000                   // URLs that are stored at once
)

// errLookBegun says that a former frontier of the node had begun: what it moved nobody knows.
var errLookBegun = errors.New("its frontier began anew meanwhile")

// run answers until ctx is done.
func (w *lookWatch) run(ctx context.Context) {
	w.answered = map[int64]bool{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("an audit that asked what the frontier holds is not answered", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look answers the audits that wait, one after the other.
func (w *lookWatch) look(ctx context.Context) error {
	asked, err := w.looks.Asked(ctx)
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		clear(w.answered)
	}
	for _, l := range asked {
		if w.answered[l.ID] {
			continue
		}
		w.answered[l.ID] = true
		if err := w.answer(ctx, l); err != nil {
			return errors.Join(err, w.looks.Answer(ctx, l.ID,
				crawl.LookAnswer{Node: w.node, Step: crawl.LookFailed, Fault: err.Error()}))
		}
	}
	return nil
}

// answer answers one audit: it notes until the audit has seen enough.
func (w *lookWatch) answer(ctx context.Context, q crawl.QueueLook) error {
	l, err := w.frontier.BeginLook(ctx, q.Job)
	if err != nil {
		return err
	}
	defer l.End()
	tick := time.NewTicker(lookTake)
	defer tick.Stop()
	for told := crawl.LookStep(0); told < crawl.LookClosed; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		open, closing, err := w.wanted(ctx, q.ID)
		if !open || err != nil {
			return err
		}
		held, read, err := l.Take()
		for len(held) > 0 && err == nil {
			n := min(len(held), holdBatch)
			err = w.hold(ctx, q.ID, &told, held[:n])
			held = held[n:]
		}
		if err == nil {
			err = w.tell(ctx, q.ID, l, &told, read, closing)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether the audit still waits, and whether it asks for the end.
func (w *lookWatch) wanted(ctx context.Context, id int64) (open, closing bool, err error) {
	asked, err := w.looks.Asked(ctx)
	for _, q := range asked {
		if q.ID == id {
			return true, q.Closing, nil
		}
	}
	return false, false, err
}

// begin notes the first answer.
func (w *lookWatch) begin(ctx context.Context, id int64, told *crawl.LookStep) error {
	first, err := w.looks.Begin(ctx, id, w.node)
	if err == nil && !first {
		err = errLookBegun
	}
	if err == nil {
		*told = crawl.LookBegun
	}
	return err
}

func (w *lookWatch) hold(ctx context.Context, id int64, told *crawl.LookStep, held []crawl.HeldURL) error {
	if *told == 0 {
		if err := w.begin(ctx, id, told); err != nil {
			return err
		}
	}
	return w.looks.Hold(ctx, id, w.node, held...)
}

// tell tells the audit how far the frontier is, where that changed. What was noted before the audit asked for the end
// is stored by then.
func (w *lookWatch) tell(ctx context.Context, id int64, l *frontier.Look, told *crawl.LookStep, read,
	closing bool) error {
	if *told == 0 && l.Begun() {
		if err := w.begin(ctx, id, told); err != nil {
			return err
		}
	}
	step := *told
	switch {
	case read && closing:
		step = crawl.LookClosed
	case read:
		step = crawl.LookRead
	}
	if step == *told {
		return nil
	}
	*told = step
	return w.looks.Answer(ctx, id, crawl.LookAnswer{Node: w.node, Step: step, Unread: l.Unread()})
}
