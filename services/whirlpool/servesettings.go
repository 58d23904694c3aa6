package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// serverSettings are what can be changed while the server runs. What was changed is kept, and wins over the flags.
type serverSettings struct {
	store   api.Vault
	manager *workflow.Manager
	levels  *slog.LevelVar
	flags   *serveFlags
	began   slog.Level
}

const sectionSettings = "settings"

// setting is one that can be changed.
type setting struct {
	key, text string
	begin     string              // without a change
	now       func() string       //
	set       func(string) string // what is wrong with a value; empty: nothing, and it applies
}

func (s *serverSettings) all() []setting {
	return []setting{
		{key: "max_running", text: "executions that crawl at once; others wait", begin: strconv.Itoa(s.flags.maxRunning),
			now: func() string { return strconv.Itoa(s.manager.MaxRunning()) },
			set: func(v string) string {
				n, err := strconv.Atoi(v)
				if err != nil || n < 1 || n > 1000 {
					return "give a number from 1 to 1000"
				}
				s.manager.SetMaxRunning(n)
				return ""
			}},
		{key: "log_level", text: "what stands in the server's log: debug, info, warn or error, and what is worse", begin: strings.ToLower(s.began.String()),
			now: func() string { return strings.ToLower(s.levels.Level().String()) },
			set: func(v string) string {
				var l slog.Level
				if l.UnmarshalText([]byte(v)) != nil {
					return "give debug, info, warn or error"
				}
				s.levels.Set(l)
				return ""
			}},
	}
}

// restore makes changes of earlier runs apply.
func (s *serverSettings) restore(ctx context.Context) error {
	for _, one := range s.all() {
		v, err := s.store.Value(ctx, sectionSettings, one.key)
		if err != nil {
			return err
		}
		if v != nil {
			one.set(string(v)) // it was good when it was stored; a wrong one leaves what the flags say
		}
	}
	return nil
}

// Settings implements api.Settings.
func (s *serverSettings) Settings(context.Context) ([]api.Setting, error) {
	out := []api.Setting{}
	for _, one := range s.all() {
		v := api.Setting{Key: one.key, Value: one.now(), Default: one.begin, Source: "flag", Text: one.text}
		if v.Value != v.Default {
			v.Source = "changed"
		}
		out = append(out, v)
	}
	return append(out,
		api.Setting{Key: "listen", Value: s.flags.listen, Default: "127.0.0.1:8711", Source: "flag", Restart: true, Text: "address of API and studio"},
		api.Setting{Key: "dir", Value: s.flags.dir, Default: defaultData, Source: "flag", Restart: true, Text: "directory of all data"}), nil
}

// Set implements api.Settings.
func (s *serverSettings) Set(ctx context.Context, actor, key, value string) error {
	for _, one := range s.all() {
		if one.key != key {
			continue
		}
		if wrong := one.set(value); wrong != "" {
			return &workflow.Invalid{Faults: []workflow.Fault{{Key: key, Message: fmt.Sprintf("%s: %q: %s", key, value, wrong)}}}
		}
		slog.Info("a setting was changed", "key", key, "value", value, "by", actor)
		return s.store.SetValue(ctx, sectionSettings, key, []byte(value))
	}
	return &workflow.Invalid{Faults: []workflow.Fault{{Key: key, Message: key + " cannot be changed while the server runs: give it as a flag and start again"}}}
}
