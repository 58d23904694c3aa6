package main

import (
	"context"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// unsettled are the states of executions that have begun and not ended.
var unsettled = []workflow.State{workflow.Starting, workflow.Running, workflow.Pausing, workflow.Paused,
	workflow.Stopping, workflow.Cancelling, workflow.Finalizing}

// follow tells the explorer what becomes of executions that somebody has looked at. Those that nobody looks at are not
// copied here: the cluster has them.
func (s *served) follow(ctx context.Context) error {
	news := s.manager.Subscribe(ctx)
	last := int64(0)
	if events, err := s.manager.Events(ctx, workflow.EventFilter{Last: true}, 0, 1); err == nil && len(events) > 0 {
		last = events[0].ID
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
	case kind == "revised":
		err = s.explorer.Refresh(ctx, e.Execution)
	case kind == "deleted":
		err = s.explorer.Forget(e.Execution)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("search and lists of an execution may be behind", "execution", e.Execution, "error", err)
	}
}
