package main

import (
	"context"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// follow tells the explorer what becomes of executions that somebody has looked at. Those that nobody looks at are not
// copied here: the cluster has them.
func (s *served) follow(ctx context.Context) error {
	s.manager.Tail(ctx).Each(ctx, func(e *workflow.Event) { s.noted(ctx, e) })
	return nil
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
