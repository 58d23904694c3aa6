package api

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// States of a revision.
const (
	RevisionProposed   = "proposed"   // it is checked
	RevisionActive     = "active"     // it applies
	RevisionSuperseded = "superseded" // another one applies; what it began is finished by it
	RevisionDiscarded  = "discarded"  // it cannot be: nothing changed
)

// Revision is the settings of an execution from a moment on, or a proposal of them.
type Revision struct {
	Epoch   uint32          `json:"epoch"`
	State   string          `json:"state" enum:"proposed,active,superseded,discarded"`
	At      time.Time       `json:"at"`
	By      string          `json:"by,omitempty" doc:"who made it; none: it began with the execution"`
	Message string          `json:"message,omitempty"`
	Undoes  uint32          `json:"undoes,omitempty" doc:"epoch of the revision that it takes back"`
	Reason  string          `json:"reason,omitempty" doc:"why it was discarded"`
	Changes []crawl.Change  `json:"changes" doc:"from the one before"`
	Job     json.RawMessage `json:"job,omitempty" doc:"all settings, by the keys of a job file; none of what was discarded"`
}

func (s *Server) listRevisions(ctx context.Context, in *ExecutionPath) (*body[workflow.List[Revision]], error) {
	e, err := s.Workflows.Execution(ctx, in.job())
	if err != nil {
		return nil, err
	}
	revisions, err := s.Crawls.Revisions(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	notes, err := s.notes(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	out := []Revision{}
	for i, r := range revisions {
		rev := Revision{Epoch: crawl.EpochOf(r.Job.Epoch), At: r.At, State: RevisionSuperseded, Changes: []crawl.Change{}}
		if i == len(revisions)-1 {
			rev.State = RevisionActive
		}
		if i > 0 {
			rev.Changes = full(crawl.Changes(revisions[i-1].Job, r.Job))
		}
		if n := notes.active[rev.Epoch]; n != nil {
			rev.By, rev.Message, rev.Undoes = n.by, n.Message, n.Undoes
		}
		if rev.Job, err = r.Job.Settings(); err != nil {
			return nil, err
		}
		out = append(out, rev)
	}
	out = append(out, notes.others(revisions)...)
	slices.SortStableFunc(out, func(a, b Revision) int { return b.At.Compare(a.At) }) // the newest first
	return list(ctx, s, &workflow.List[Revision]{Items: out}, nil)
}

// noted is what the events of an execution tell of its revisions.
type noted struct {
	active    map[uint32]*note
	proposals []*note
	discarded map[int64]*note // by proposal
}

type note struct {
	workflow.RevisionEvent
	by string
	at time.Time
	id int64
}

// notes reads the events about revisions.
func (s *Server) notes(ctx context.Context, id crawl.JobID) (*noted, error) {
	out := &noted{active: map[uint32]*note{}, discarded: map[int64]*note{}}
	filter := workflow.EventFilter{Execution: id,
		Types: []string{workflow.EventProposed, workflow.EventRevised, workflow.EventDiscarded}}
	for after := int64(0); ; {
		const most = 200
		events, err := s.Workflows.Events(ctx, filter, after, most)
		if err != nil {
			return nil, err
		}
		for i := range events {
			after = events[i].ID
			out.add(&events[i])
		}
		if len(events) < most {
			return out, nil
		}
	}
}

func (n *noted) add(e *workflow.Event) {
	one := &note{by: e.Actor, at: e.At, id: e.ID}
	if json.Unmarshal(e.Data, &one.RevisionEvent) != nil {
		return // of a later program
	}
	switch e.Type {
	case workflow.EventProposed:
		n.proposals = append(n.proposals, one)
		if n.active[one.Epoch] == nil { // if the program ended before it noted that it applies
			n.active[one.Epoch] = one
		}
	case workflow.EventRevised:
		n.active[one.Epoch] = one
	case workflow.EventDiscarded:
		n.discarded[one.Proposal] = one
		if a := n.active[one.Epoch]; a != nil && a.Proposal == one.Proposal {
			delete(n.active, one.Epoch)
		}
	}
}

// others are the proposals that do not apply.
func (n *noted) others(revisions []crawl.Revision) (out []Revision) {
	last := uint32(0)
	if len(revisions) > 0 {
		last = crawl.EpochOf(revisions[len(revisions)-1].Job.Epoch)
	}
	for _, p := range n.proposals {
		r := Revision{Epoch: p.Epoch, State: RevisionProposed, At: p.at, By: p.by, Message: p.Message, Undoes: p.Undoes,
			Changes: full(p.Changes)}
		d := n.discarded[p.Proposal]
		switch a := n.active[p.Epoch]; {
		case d != nil:
			r.State, r.Reason = RevisionDiscarded, d.Reason
		case a != nil && a.Proposal == p.Proposal && p.Epoch <= last:
			continue // it applies, or did
		case p.Epoch <= last:
			r.State, r.Reason = RevisionDiscarded, "the server ended before it applied"
		}
		out = append(out, r)
	}
	return out
}
