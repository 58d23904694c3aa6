package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// tunables are what can be changed while the programs run: of this program's copies, and of the programs of all nodes.
// They are kept in the control store. What the nodes' programs have to know of lies in the database of the nodes.
func (s *served) tunables() *api.Tunables {
	c := s.p.Config
	fixed := func(key, value, text string) api.Setting {
		return api.Setting{Key: key, Value: value, Default: value, Source: "file", Restart: true, Text: text}
	}
	t := &api.Tunables{Vault: s.store, Log: s.log, All: []api.Tunable{
		{Key: "max_running", Text: "executions that crawl at once; others wait", Begin: strconv.Itoa(c.API.MaxRunning),
			Source: "file",
			Check:  api.WholeNumber(1, 1000), Apply: func(_ context.Context, v string, _ int64) error {
				n, err := strconv.Atoi(v)
				s.manager.SetMaxRunning(n)
				return err
			}},
		{Key: node.SettingLogLevel, Text: "what stands in the logs of all programs: debug, info, warn or error, and what " +
			"is worse", Begin: c.Log.Level, Source: "file",
			Check: api.LogLevel, Apply: func(ctx context.Context, v string, version int64) error {
				s.p.SetLogLevel(v)
				return s.configure(ctx, node.SettingLogLevel, v, version)
			}, ApplyNode: s.configureNode(node.SettingLogLevel)},
		{Key: node.SettingIdleRelease,
			Text:  "a program that had nothing to do for so long ends, where another does the same on its node; 0s: none does",
			Begin: "0s", Source: "default", Check: durationFrom(time.Minute),
			Apply: func(ctx context.Context, v string, version int64) error {
				return s.configure(ctx, node.SettingIdleRelease, v, version)
			}, ApplyNode: s.configureNode(node.SettingIdleRelease)},
	}, Fixed: []api.Setting{fixed("api.url", c.API.URL, "by which browsers reach the studio"), fixed("oidc.issuer",
		c.OIDC.Issuer, "who signs people in"),
		fixed("fetch.allow_private", strconv.FormatBool(c.Fetch.AllowPrivate), "private addresses may be crawled")}}
	for _, stage := range crawl.Stages() {
		t.All = append(t.All, s.workers(stage.Name))
	}
	return t
}

// workers is the bound of a stage's workers. This program does not know what the files of the nodes say: it has its
// own.
func (s *served) workers(stage string) api.Tunable {
	c, key := s.p.Config, node.SettingWorkers+stage
	begin := c.Workers.Of(stage)
	if stage == string(node.Fetcher) {
		begin = c.Fetch.Concurrency
	}
	return api.Tunable{Key: key, Begin: strconv.Itoa(begin), Source: "file", Check: api.WholeNumber(0, bus.MaxBound),
		Text:      "messages that each program with the stage " + stage + " handles at once; 0: it takes none",
		Apply:     func(ctx context.Context, v string, version int64) error { return s.configure(ctx, key, v, version) },
		ApplyNode: s.configureNode(key)}
}

// configureNode tells the programs of one node of a change.
func (s *served) configureNode(key string) func(ctx context.Context, on, v string, version int64) error {
	return func(ctx context.Context, on, v string, version int64) error {
		return s.configure(ctx, key+node.OnNode+on, v, version)
	}
}

// configure tells the programs of all nodes of a change. Without one they go by their own files.
func (s *served) configure(ctx context.Context, key, value string, version int64) error {
	if version == 0 {
		return nil
	}
	return s.engine.Postgres.Agents().Configure(ctx, key, value, version)
}

// durationFrom is a Check: 0, or so much.
func durationFrom(least time.Duration) func(string) string {
	return func(v string) string {
		if d, err := time.ParseDuration(v); err != nil || d != 0 && d < least {
			return fmt.Sprintf("give 0s, or at least %v", least)
		}
		return ""
	}
}
