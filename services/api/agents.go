package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// agents are the copies of this program, and the programs of all nodes: as they say of themselves.
func (s *served) agents(ctx context.Context) ([]api.Agent, error) {
	out, err := s.copies.all(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.engine.Postgres.Agents().All(ctx)
	for i := range all {
		out = append(out, agentOf(&all[i]))
	}
	return out, err
}

func agentOf(a *postgres.Agent) api.Agent {
	out := api.Agent{ID: a.ID, Program: a.Program, Version: a.Version, Started: a.Started, Seen: a.Seen, Node: a.Node,
		State: "idle", Since: a.Since,
		Busy: a.Busy, Handled: a.Handled, Epoch: a.Epoch, Settings: a.Settings, Address: a.Host, CPUs: a.CPUs,
		Memory: a.Memory, DiskFree: a.DiskFree, DiskAll: a.DiskAll, Workers: a.Workers}
	switch {
	case a.Wish == postgres.WishDrain:
		out.State = "draining"
	case a.Wish == postgres.WishStop:
		out.State = "stopped"
	case a.Busy > 0:
		out.State = "busy"
	}
	return out
}

// AskAgent implements api.Crawls. The program hears of it with its next beat.
func (c *crawls) AskAgent(ctx context.Context, id string, wish api.AgentWish) error {
	err := c.s.engine.Postgres.Agents().Wish(ctx, id, map[api.AgentWish]string{api.AgentStart: postgres.WishWork,
		api.AgentStop:  postgres.WishStop,
		api.AgentDrain: postgres.WishDrain}[wish])
	switch {
	case errors.Is(err, postgres.ErrNoAgent):
		return fmt.Errorf("program %.80q: it does not run, or is a copy of the API: %w", id, workflow.ErrNotFound)
	case errors.Is(err, postgres.ErrEnding):
		return fmt.Errorf("%w: %.80q is about to end", workflow.ErrConflict, id)
	}
	return err
}
