package main

import (
	"context"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// follow has the explorer follow what crawls, by the events of executions.
func (s *served) follow(ctx context.Context) error {
	tail := s.manager.Tail(ctx) // before the list: no execution begins between them
	begun, err := s.manager.Begun(ctx)
	if err != nil {
		return err
	}
	for i := range begun {
		s.noted(ctx, &workflow.Event{Execution: begun[i].ID, Type: "execution.started"})
	}
	tail.Each(ctx, func(e *workflow.Event) { s.noted(ctx, e) })
	return nil
}

// noted does what an event asks of the explorer.
func (s *served) noted(ctx context.Context, e *workflow.Event) {
	var err error
	switch kind, of := strings.CutPrefix(e.Type, "execution."); {
	case !of:
	case kind == "started":
		err = s.explorer.Follow(ctx, e.Execution)
	case kind == "revised":
		err = s.explorer.Refresh(ctx, e.Execution)
	case kind == "deleted":
		err = s.explorer.Forget(e.Execution)
	case workflow.State(kind).Ended():
		s.explorer.Unfollow(e.Execution) //nolint:contextcheck // what it completes outlives the event
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("search and lists of an execution may be behind", "execution", e.Execution, "error", err)
	}
}
