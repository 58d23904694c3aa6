package main

import (
	"context"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// unsettled are the states in which the explorer follows an execution.
var unsettled = []workflow.State{workflow.Starting, workflow.Running, workflow.Pausing, workflow.Paused,
	workflow.Stopping, workflow.Cancelling, workflow.Finalizing}

// follow has the explorer follow what crawls, by the events of executions.
func (s *served) follow(ctx context.Context) error {
	news := s.manager.Subscribe(ctx)
	last := int64(0)
	if events, err := s.manager.Events(ctx, workflow.EventFilter{Last: true}, 0, 1); err == nil && len(events) > 0 {
		last = events[0].ID
	}
	running, err := s.manager.Executions(ctx, workflow.ExecutionFilter{States: unsettled}, workflow.Page{Limit: 200})
	if err != nil {
		return err
	}
	for _, e := range running.Items {
		s.noted(ctx, &workflow.Event{Execution: e.ID, Type: "execution.started"})
	}
	for {
		events, err := s.manager.Events(ctx, workflow.EventFilter{}, last, 200)
		if err != nil && ctx.Err() == nil {
			s.log.Error("the explorer does not hear what is crawled", "error", err)
		}
		for i := range events {
			last = events[i].ID
			s.noted(ctx, &events[i])
		}
		if len(events) == 200 {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		}
	}
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
