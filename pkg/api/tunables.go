package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Tunable is a setting that can be changed while the program runs.
type Tunable struct {
	Key, Text string
	Begin     string // the value without a change
	Source    string // of that: default, flag or file
	// Check says what is wrong with a value; empty: nothing.
	Check func(value string) string
	// Apply makes a value hold, again and again. version is that of the change; 0: there was none.
	Apply func(ctx context.Context, value string, version int64) error
	// ApplyNode makes a value hold on one node, where KEY@NODE is set; empty: what holds for all. nil: it is no setting of
	// nodes.
	ApplyNode func(ctx context.Context, node, value string, version int64) error
}

// SettingChanged is a change of a setting that was made.
type SettingChanged struct {
	Version int64     `json:"version"` // of all settings: it grows by one with each change
	Key     string    `json:"key"`
	Value   string    `json:"value"`
	Was     string    `json:"was"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// Tunables are the Settings of a program. A change is one entry of a log in the vault: the last one of a key holds, in
// all copies of the program within RefreshEvery.
type Tunables struct {
	Vault Vault
	All   []Tunable
	Fixed []Setting // that need another start
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now

	mu      sync.Mutex
	applied map[string]string
}

// Sections of the vault. An earlier version kept the value alone, in the first one.
const (
	sectionSettings = "settings"
	sectionChanges  = "settings.changes"
)

const (
	// RefreshEvery is how often a program looks for changes that others made.
	RefreshEvery = 5 * time.Second
	keptChanges  = 500
)

var _ Settings = (*Tunables)(nil)

// Run goes by changes that others made, until ctx is done.
func (t *Tunables) Run(ctx context.Context) error {
	tick := time.NewTicker(RefreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := t.Refresh(ctx); err != nil && ctx.Err() == nil {
			t.Log.Warn("changes of settings are not heard of", "error", err)
		}
	}
}

// Refresh makes what is stored hold.
func (t *Tunables) Refresh(ctx context.Context) error {
	last, err := t.last(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.applied == nil {
		t.applied = map[string]string{}
	}
	var errs []error
	all := t.all(last)
	for i := range all {
		one := &all[i]
		c, found := last[one.Key]
		value := one.Begin
		if found && one.Check(c.Value) == "" { // a later version may permit less
			value = c.Value
		}
		if was, known := t.applied[one.Key]; known && was == value {
			continue
		}
		if err := one.Apply(ctx, value, c.Version); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", one.Key, err))
			continue
		}
		t.applied[one.Key] = value
	}
	return errors.Join(errs...)
}

// Settings implements Settings.
func (t *Tunables) Settings(ctx context.Context) ([]Setting, error) {
	last, err := t.last(ctx)
	if err != nil {
		return nil, err
	}
	out := []Setting{}
	all := t.all(last)
	for i := range all {
		one := &all[i]
		s := Setting{Key: one.Key, Value: one.Begin, Default: one.Begin, Source: one.Source, Text: one.Text,
			PerNode: one.ApplyNode != nil}
		if c, found := last[one.Key]; found {
			s.Value, s.Version, s.By, s.At, s.Was = c.Value, c.Version, c.By, c.At, &c.Was
			if c.Value != one.Begin {
				s.Source = "changed"
			}
		}
		out = append(out, s)
	}
	return append(out, t.Fixed...), nil
}

func (t *Tunables) now() time.Time {
	if t.Now == nil {
		return time.Now().UTC().Truncate(time.Second)
	}
	return t.Now()
}

func wrongSetting(key, text string) error {
	return &workflow.Invalid{Faults: []workflow.Fault{{Key: key, Message: text}}}
}

// WholeNumber is a Check: a number within bounds.
func WholeNumber(least, most int) func(string) string {
	return func(v string) string {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Sprintf("give a number from %d to %d", least, most)
		}
		return ""
	}
}

// LogLevel is a Check: a level of the log.
func LogLevel(v string) string {
	var l slog.Level
	if l.UnmarshalText([]byte(v)) != nil {
		return "give debug, info, warn or error"
	}
	return ""
}
