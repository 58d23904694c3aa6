package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
)

// agents are the copies of this program, and the programs that are connected to the cluster's brokers.
func (s *served) agents(ctx context.Context) ([]api.Agent, error) {
	view, err := s.engine.View()
	if err != nil {
		return nil, err
	}
	p, err := view.Pipeline(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.copies.all(ctx)
	if err != nil {
		return nil, err
	}
	for i := range p.Programs {
		one := &p.Programs[i]
		out = append(out, api.Agent{ID: one.Name + "@" + one.Host, Program: one.Name, Address: one.Host, Workers: map[string]int{}})
	}
	return out, nil
}
