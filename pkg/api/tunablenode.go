package api

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// nodeName is what a node may be called.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// find finds a setting by its key, or that of one node by KEY@NODE; nil: there is none.
func (t *Tunables) find(key string) *Tunable {
	base, node, of := strings.Cut(key, "@")
	for i := range t.All {
		one := &t.All[i]
		switch {
		case one.Key != base:
		case !of:
			return one
		case one.ApplyNode != nil && nodeName.MatchString(node):
			return one.on(node)
		}
	}
	return nil
}

// on is the setting of one node. Its empty value is that of all nodes.
func (t *Tunable) on(node string) *Tunable {
	return &Tunable{Key: t.Key + "@" + node, Source: "default",
		Text: "on the node " + node + "; empty: as on all nodes: " + t.Text,
		Check: func(v string) string {
			if v == "" {
				return ""
			}
			return t.Check(v)
		},
		Apply: func(ctx context.Context, v string, version int64) error { return t.ApplyNode(ctx, node, v, version) }}
}

// all are the settings, and those of single nodes that were changed.
func (t *Tunables) all(last map[string]SettingChanged) []Tunable {
	out := slices.Clone(t.All)
	for _, key := range slices.Sorted(maps.Keys(last)) {
		if strings.Contains(key, "@") {
			if one := t.find(key); one != nil {
				out = append(out, *one)
			}
		}
	}
	return out
}
