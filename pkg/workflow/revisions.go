package workflow

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Events about revisions of an execution's settings.
const (
	EventProposed  = "execution.revision_proposed"
	EventRevised   = "execution.revised"
	EventDiscarded = "execution.revision_discarded"
)

// Note is who makes a revision, and why.
type Note struct {
	Actor   string
	Message string
	Undoes  uint32 // epoch of the revision that it takes back; 0: none
}

// RevisionEvent is the data of those events.
type RevisionEvent struct {
	Proposal int64          `json:"proposal"` // number that tells proposals of one epoch apart
	Epoch    uint32         `json:"epoch"`
	Message  string         `json:"message,omitempty"`
	Undoes   uint32         `json:"undoes,omitempty"`
	Reason   string         `json:"reason,omitempty"` // why it was discarded
	Changes  []crawl.Change `json:"changes"`
}

// Revise makes next of a job that is what from says. It notes the proposal, has do make the revision, and notes what
// came of it. Without a change do is not called, and the epoch stays.
func (m *Manager) Revise(ctx context.Context, n Note, from, next *crawl.Job,
	do func() (epoch uint32, changes []crawl.Change, err error)) (uint32, []crawl.Change, error) {
	epoch, changes := crawl.EpochOf(from.Epoch), crawl.Changes(from, next)
	if len(changes) == 0 {
		return epoch, []crawl.Change{}, nil
	}
	r, err := m.Propose(ctx, n, from.ID, epoch+1, changes)
	if err != nil {
		return 0, nil, err
	}
	if epoch, changes, err = do(); err != nil {
		return 0, nil, errors.Join(err, m.Discarded(context.WithoutCancel(ctx), n.Actor, from.ID, *r, err))
	}
	if r.Epoch, r.Changes = epoch, changes; len(changes) > 0 {
		_, err = m.Revised(ctx, n.Actor, from.ID, r)
	}
	return epoch, changes, err
}

// Propose notes that a revision is to be made, before it is checked.
func (m *Manager) Propose(ctx context.Context, n Note, id crawl.JobID, epoch uint32,
	changes []crawl.Change) (*RevisionEvent, error) {
	r := &RevisionEvent{Proposal: time.Now().UnixNano(), Epoch: epoch, Message: n.Message, Undoes: n.Undoes,
		Changes: changes}
	return r, m.revision(ctx, n.Actor, EventProposed, id, r)
}

// Discarded notes that a proposed revision cannot be, and why.
func (m *Manager) Discarded(ctx context.Context, actor string, id crawl.JobID, r RevisionEvent, why error) error {
	r.Reason = why.Error()
	return m.revision(ctx, actor, EventDiscarded, id, &r)
}

func (m *Manager) revision(ctx context.Context, actor, kind string, id crawl.JobID, r *RevisionEvent) error {
	e := m.event(actor, kind, r)
	e.Execution = id
	return m.store.AddEvent(ctx, e)
}

// Revised notes that the engine runs the execution by a further revision of its settings.
func (m *Manager) Revised(ctx context.Context, actor string, id crawl.JobID, r *RevisionEvent) (*Execution, error) {
	return m.change(ctx, id, func(x *Execution) ([]Event, error) {
		if r.Epoch <= x.Epoch {
			return nil, nil
		}
		x.Epoch = r.Epoch
		return []Event{m.event(actor, EventRevised, r)}, nil
	})
}

// NoteRevisions notes the revisions that the engine goes by and that were not noted, because the program was ended in
// between. jobNow returns a job as it was last revised, nil for one that the engine does not know, and jobAt as it was
// in an epoch.
func (m *Manager) NoteRevisions(ctx context.Context, jobNow func(context.Context, crawl.JobID) (*crawl.Job, error),
	jobAt func(context.Context, crawl.JobID, uint32) (*crawl.Job, error)) error {
	begun, err := m.Begun(ctx)
	if err != nil {
		return err
	}
	for i := range begun {
		x := &begun[i]
		job, err := jobNow(ctx, x.ID)
		if err != nil {
			return err
		}
		if job == nil || crawl.EpochOf(job.Epoch) <= x.Epoch {
			continue
		}
		before, err := jobAt(ctx, x.ID, x.Epoch)
		if err != nil {
			return err
		}
		r := &RevisionEvent{Epoch: crawl.EpochOf(job.Epoch), Changes: crawl.Changes(before, job)}
		if _, err := m.Revised(ctx, "server", x.ID, r); err != nil {
			return err
		}
	}
	return nil
}
