package main

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// tunables are what can be changed while the server runs. What was changed is kept, and wins over the flags.
func (f *serveFlags) tunables(s *served, levels *slog.LevelVar) *api.Tunables {
	t := &api.Tunables{Vault: s.store, Log: s.log, All: []api.Tunable{
		{Key: "max_running", Text: "executions that crawl at once; others wait", Begin: strconv.Itoa(f.maxRunning),
			Source: "flag",
			Check:  api.WholeNumber(1, 1000), Apply: func(_ context.Context, v string, _ int64) error {
				n, err := strconv.Atoi(v)
				s.manager.SetMaxRunning(n)
				return err
			}},
		{Key: "log_level", Text: "what stands in the server's log: debug, info, warn or error, and what is worse",
			Begin:  strings.ToLower(levels.Level().String()),
			Source: "flag", Check: api.LogLevel, Apply: func(_ context.Context, v string,
				_ int64) error {
				return levels.UnmarshalText([]byte(v))
			}},
	}, Fixed: []api.Setting{
		{Key: "listen", Value: f.listen, Default: "127.0.0.1:8711", Source: "flag", Restart: true,
			Text: "address of API and studio"},
		{Key: "dir", Value: f.dir, Default: defaultData, Source: "flag", Restart: true, Text: "directory of all data"}}}
	for _, stage := range crawl.Stages() {
		t.All = append(t.All, workersOf(s, node.Role(stage.Name)))
	}
	return t
}

// workersOf is the bound of a stage's workers. None may be 0: who wants that pauses executions.
func workersOf(s *served, role node.Role) api.Tunable {
	c := s.engine.Capacity()
	return api.Tunable{Key: node.SettingWorkers + string(role), Text: "messages that the stage " + string(role) +
		" handles at once",
		Begin: strconv.Itoa(c.Standard(role)), Source: "default", Check: api.WholeNumber(1, bus.MaxBound),
		Apply: func(_ context.Context, v string, _ int64) error {
			n, err := strconv.Atoi(v)
			if err == nil {
				c.Set(role, n)
			}
			return err
		}}
}
