package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/nearest"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Changes returns the changes that are known, the newest first.
func (t *Tunables) Changes(ctx context.Context) (out []SettingChanged, err error) {
	out = []SettingChanged{}
	err = t.Vault.EachValue(ctx, sectionChanges, func(_ string, value []byte) error {
		var c SettingChanged
		if err := json.Unmarshal(value, &c); err != nil {
			return fmt.Errorf("stored change of a setting: %w", err)
		}
		out = append(out, c)
		return nil
	})
	slices.SortFunc(out, func(a, b SettingChanged) int { return cmp.Compare(b.Version, a.Version) })
	return out, err
}

// last returns the change of each key that holds.
func (t *Tunables) last(ctx context.Context) (map[string]SettingChanged, error) {
	all, err := t.Changes(ctx)
	out := map[string]SettingChanged{}
	for _, c := range slices.Backward(all) {
		out[c.Key] = c
	}
	for i := range t.All {
		key := t.All[i].Key
		if _, found := out[key]; found || err != nil {
			continue
		}
		var v []byte
		if v, err = t.Vault.Value(ctx, sectionSettings, key); v != nil {
			out[key] = SettingChanged{Key: key, Value: string(v), Was: t.All[i].Begin}
		}
	}
	return out, err
}

// Set implements Settings.
func (t *Tunables) Set(ctx context.Context, actor, key, value string) error {
	one := t.find(key)
	if one == nil {
		return wrongSetting(key, t.why(key))
	}
	if wrong := one.Check(value); wrong != "" {
		return wrongSetting(key, fmt.Sprintf("%s: %q: %s", key, value, wrong))
	}
	c, err := t.add(ctx, one, actor, value)
	for errors.Is(err, workflow.ErrStale) { // another was quicker: look again
		c, err = t.add(ctx, one, actor, value)
	}
	if err != nil || c == nil {
		return err
	}
	t.Log.Info("a setting was changed", "key", key, "value", value, "was", c.Was, "version", c.Version, "by", actor)
	return t.Refresh(ctx)
}

// why says why a key cannot be changed: it is mistyped, of no node, or only read at the start.
func (t *Tunables) why(key string) string {
	base, _, ofNode := strings.Cut(key, "@")
	names := make([]string, 0, len(t.All))
	for i := range t.All {
		names = append(names, t.All[i].Key)
	}
	switch meant := nearest.To(base, names, 2); {
	case ofNode && meant == base:
		return key + ": this setting has no values of single nodes, or no node may be called so"
	case meant != "":
		return "there is no setting " + base + "; did you mean " + meant + "?"
	}
	return key + " cannot be changed while the program runs: change its configuration or flags and start it again. " +
		"What can be is " + strings.Join(names, ", ")
}

// add stores a change with the next version; nil: the value holds already.
func (t *Tunables) add(ctx context.Context, one *Tunable, actor, value string) (*SettingChanged, error) {
	all, err := t.Changes(ctx)
	if err != nil {
		return nil, err
	}
	last, err := t.last(ctx)
	if err != nil {
		return nil, err
	}
	c := &SettingChanged{Version: 1, Key: one.Key, Value: value, Was: one.Begin, By: actor, At: t.now()}
	if len(all) > 0 {
		c.Version = all[0].Version + 1
	}
	if l, found := last[one.Key]; found {
		c.Was = l.Value
	}
	if c.Was == value {
		return nil, nil
	}
	return c, t.store(ctx, c, all)
}

// store stores a change where no other has its version, and forgets those that are too old, but for the last of a key.
func (t *Tunables) store(ctx context.Context, c *SettingChanged, all []SettingChanged) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := t.Vault.SwapValue(ctx, sectionChanges, changeKey(c.Version), nil, data); err != nil {
		return err
	}
	seen := map[string]bool{c.Key: true}
	for i, old := range all {
		if seen[old.Key] && i >= keptChanges {
			err = errors.Join(err, t.Vault.SetValue(workflow.WithoutAudit(ctx), sectionChanges, changeKey(old.Version), nil))
		}
		seen[old.Key] = true
	}
	return err
}

func changeKey(version int64) string { return fmt.Sprintf("%012d", version) }

// Undo implements Settings: what held before the last change holds again, by a change of its own.
func (t *Tunables) Undo(ctx context.Context, actor, key string) error {
	last, err := t.last(ctx)
	if err != nil {
		return err
	}
	c, found := last[key]
	if !found {
		return wrongSetting(key, key+" was not changed: there is nothing to undo")
	}
	return t.Set(ctx, actor, key, c.Was)
}
