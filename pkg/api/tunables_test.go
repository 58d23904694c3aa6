package api

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tunablesOf is the settings of one copy of a program; what holds in it is in applied.
func tunablesOf(v Vault, applied map[string]string) *Tunables {
	one := func(key, begin string, check func(string) string) Tunable {
		return Tunable{Key: key, Begin: begin, Source: "file", Check: check,
			Apply: func(_ context.Context, value string, _ int64) error { applied[key] = value; return nil }}
	}
	return &Tunables{Vault: v, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(1, 0).UTC() },
		All:   []Tunable{one("max_running", "10", WholeNumber(1, 1000)), one("log.level", "info", LogLevel)},
		Fixed: []Setting{{Key: "listen", Value: ":1", Restart: true}}}
}

// A node may have a value of its own, with its source, version and undo; empty is that of all nodes.
func TestSettingsOfOneNode(t *testing.T) {
	applied, ctx := map[string]string{}, t.Context()
	s := tunablesOf(NewMemory(), applied)
	s.All[0].ApplyNode = func(_ context.Context, node, value string, _ int64) error { applied[node] = value; return nil }
	for _, bad := range [][2]string{{"max_running@", "1"}, {"max_running@a b", "1"}, {"max_running@n1@n2", "1"},
		{"max_running@n1", "0"},
		{"log.level@n1", "warn"}, {"listen@n1", ":2"}} {
		if err := s.Set(ctx, "me", bad[0], bad[1]); err == nil {
			t.Errorf("%s may be %q", bad[0], bad[1])
		}
	}
	for _, value := range []string{"16", "3"} {
		if err := s.Set(ctx, "me", "max_running@n1", value); err != nil || applied["n1"] != value ||
			applied["max_running"] != "10" {
			t.Fatalf("%v, %v", applied, err)
		}
	}
	list, err := s.Settings(ctx)
	if err != nil || len(list) != 4 || !list[0].PerNode || list[2].Key != "max_running@n1" || list[2].Value != "3" ||
		list[2].Version != 2 ||
		*list[2].Was != "16" || list[2].Source != "changed" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, want := range []string{"16", "3"} { // to undo twice is to undo the undoing
		if err := s.Undo(ctx, "you", "max_running@n1"); err != nil || applied["n1"] != want {
			t.Errorf("undone: %v, %v", applied, err)
		}
	}
	if err := s.Set(ctx, "me", "max_running@n1", ""); err != nil || applied["n1"] != "" {
		t.Errorf("as on all nodes: %v, %v", applied, err)
	}
	fresh := map[string]string{} // another copy
	other := &Tunables{Vault: s.Vault, Log: s.Log, Now: s.Now, Fixed: s.Fixed}
	other.All = slices.Clone(s.All)
	other.All[0].ApplyNode = func(_ context.Context, node, value string, version int64) error {
		fresh[node] = fmt.Sprint(value, version)
		return nil
	}
	if err := other.Refresh(ctx); err != nil || fresh["n1"] != "5" {
		t.Errorf("another copy: %v, %v", fresh, err)
	}
}

func TestSettingsAreChangedUndoneAndHeardOf(t *testing.T) {
	v, here, there := NewMemory(), map[string]string{}, map[string]string{}
	a, b, ctx := tunablesOf(v, here), tunablesOf(v, there), t.Context()
	if err := a.Refresh(ctx); err != nil || here["max_running"] != "10" {
		t.Fatalf("at the start %v holds, %v", here, err)
	}
	for _, bad := range [][2]string{{"max_running", "0"}, {"max_running", "x"}, {"log.level", "loud"}, {"listen", ":2"},
		{"none", "1"}} {
		if err := a.Set(ctx, "me", bad[0], bad[1]); err == nil {
			t.Errorf("%s may be %q", bad[0], bad[1])
		}
	}
	for key, want := range map[string]string{"max_runnin": "did you mean max_running?",
		"log.level@n1": "no values of single", "listen": "start it again. What can be is max_running, log.level"} {
		if err := a.Set(ctx, "me", key, "5"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", key, err, want)
		}
	}
	if err := a.Undo(ctx, "me", "max_running"); err == nil {
		t.Error("what was never changed was undone")
	}
	for _, value := range []string{"16", "16", "3"} { // the second changes nothing
		if err := a.Set(ctx, "me", "max_running", value); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Refresh(ctx); err != nil || here["max_running"] != "3" || there["max_running"] != "3" {
		t.Errorf("%v holds here and %v there, %v", here, there, err)
	}
	if err := b.Undo(ctx, "you", "max_running"); err != nil || there["max_running"] != "16" {
		t.Errorf("undone: %v, %v", there, err)
	}
	list, err := b.Settings(ctx)
	if err != nil || len(list) != 3 || list[0].Value != "16" || list[0].Source != "changed" || list[0].Version != 3 ||
		list[0].By != "you" || *list[0].Was != "3" ||
		list[1].Source != "file" || list[1].Version != 0 {
		t.Errorf("the settings are %+v, %v", list, err)
	}
	changes, err := b.Changes(ctx)
	if err != nil || len(changes) != 3 || changes[0].Version != 3 || changes[0].Was != "3" || changes[2].Was != "10" {
		t.Errorf("the changes are %+v, %v", changes, err)
	}
}

func TestASettingOfAnEarlierVersion(t *testing.T) {
	v, here := NewMemory(), map[string]string{}
	if err := v.SetValue(t.Context(), sectionSettings, "max_running", []byte("7")); err != nil {
		t.Fatal(err)
	}
	a := tunablesOf(v, here)
	if err := a.Refresh(t.Context()); err != nil || here["max_running"] != "7" {
		t.Errorf("%v holds, %v", here, err)
	}
	if err := a.Set(t.Context(), "me", "max_running", "8"); err != nil {
		t.Fatal(err)
	}
	if err := a.Undo(t.Context(), "me", "max_running"); err != nil || here["max_running"] != "7" {
		t.Errorf("undone: %v, %v", here, err)
	}
}

// Copies of the program that change settings at once all have their versions: none is lost.
func TestSettingsChangedByManyAtOnce(t *testing.T) {
	v := NewMemory()
	const copies, each = 8, 10
	var wg sync.WaitGroup
	for c := range copies {
		wg.Go(func() {
			one := tunablesOf(v, map[string]string{})
			for n := range each {
				if err := one.Set(t.Context(), fmt.Sprint(c), "max_running", fmt.Sprint(1+c*each+n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	changes, err := tunablesOf(v, map[string]string{}).Changes(t.Context())
	if err != nil || len(changes) != copies*each || changes[0].Version != copies*each {
		t.Fatalf("there are %d changes, %v", len(changes), err)
	}
	for i, c := range changes[:len(changes)-1] {
		if c.Was != changes[i+1].Value {
			t.Errorf("change %d says that %s was before, not %s", c.Version, c.Was, changes[i+1].Value)
		}
	}
}
