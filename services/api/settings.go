package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// settings are what can be changed while the program runs. They are kept in the control store: all copies go by them
// within some seconds.
type settings struct{ s *served }

const (
	sectionSettings = "settings"
	refreshEvery    = 5 * time.Second
)

// maxRunning is the setting's key.
const maxRunning = "max_running"

// follow goes by changes that other copies made, until ctx is done.
func (s *settings) follow(ctx context.Context) error {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.refresh(ctx); err != nil && ctx.Err() == nil {
			s.s.log.Warn("changes of settings are not heard of", "error", err)
		}
	}
}

// refresh goes by what is stored now.
func (s *settings) refresh(ctx context.Context) error {
	v, err := s.s.store.Value(ctx, sectionSettings, maxRunning)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(v))
	if v == nil || err != nil || n < 1 {
		n = s.s.p.Config.API.MaxRunning
	}
	if n != s.s.manager.MaxRunning() {
		s.s.manager.SetMaxRunning(n)
	}
	return nil
}

// Settings implements api.Settings.
func (s *settings) Settings(context.Context) ([]api.Setting, error) {
	c := s.s.p.Config
	v := api.Setting{Key: maxRunning, Value: strconv.Itoa(s.s.manager.MaxRunning()), Default: strconv.Itoa(c.API.MaxRunning), Source: "file",
		Text: "executions that crawl at once; others wait"}
	if v.Value != v.Default {
		v.Source = "changed"
	}
	fixed := func(key, value, text string) api.Setting {
		return api.Setting{Key: key, Value: value, Default: value, Source: "file", Restart: true, Text: text}
	}
	return []api.Setting{v, fixed("api.url", c.API.URL, "by which browsers reach the studio"),
		fixed("oidc.issuer", c.OIDC.Issuer, "who signs people in"), fixed("fetch.allow_private", strconv.FormatBool(c.Fetch.AllowPrivate),
			"private addresses may be crawled")}, nil
}

// Set implements api.Settings.
func (s *settings) Set(ctx context.Context, actor, key, value string) error {
	if key != maxRunning {
		return wrong(key, key+" cannot be changed while the program runs: change the configuration and start again")
	}
	if n, err := strconv.Atoi(value); err != nil || n < 1 || n > 1000 {
		return wrong(key, fmt.Sprintf("%s: %q: give a number from 1 to 1000", key, value))
	}
	if err := s.s.store.SetValue(ctx, sectionSettings, key, []byte(value)); err != nil {
		return err
	}
	s.s.log.Info("a setting was changed", "key", key, "value", value, "by", actor)
	return s.refresh(ctx)
}

func wrong(key, text string) error {
	return &workflow.Invalid{Faults: []workflow.Fault{{Key: key, Message: text}}}
}
