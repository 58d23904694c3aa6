package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// apply makes a server what the documents say: channels before the rules that name them, workflows before both that
// watch them.
func (d *applied) apply(ctx context.Context, c *client.Client, dry bool) (done []api.ApplyResult, err error) {
	if len(d.jobs)+len(d.schedules) > 0 {
		if done, err = c.Apply(ctx, d.jobs, d.schedules, dry); err != nil {
			return nil, d.explain(ctx, c, err)
		}
	}
	channels, err := d.applyChannels(ctx, c, dry)
	if err != nil {
		return nil, err
	}
	rules, err := d.applyRules(ctx, c, dry)
	return slices.Concat(done, channels, rules), err
}

func (d *applied) applyChannels(ctx context.Context, c *client.Client, dry bool) (done []api.ApplyResult, err error) {
	if len(d.channels) == 0 {
		return nil, nil
	}
	there, err := c.AlertChannels(ctx)
	if err != nil {
		return nil, err
	}
	for i := range d.channels {
		ch := &d.channels[i]
		if bad := ch.Check(); bad != nil {
			return nil, fmt.Errorf("channel %s: %w", ch.Name, bad)
		}
		at := slices.IndexFunc(there, func(o notify.Channel) bool { return o.Name == ch.Name })
		action := actionOf(at < 0, at >= 0 && reflect.DeepEqual(there[at], *ch))
		if action != "none" && !dry {
			if err := c.SetAlertChannel(ctx, *ch); err != nil {
				return nil, fmt.Errorf("channel %s: %w", ch.Name, err)
			}
		}
		done = append(done, api.ApplyResult{Slug: "channel " + ch.Name, Action: action})
	}
	return done, nil
}

func (d *applied) applyRules(ctx context.Context, c *client.Client, dry bool) (done []api.ApplyResult, err error) {
	if len(d.rules) == 0 {
		return nil, nil
	}
	there, err := c.AlertRules(ctx)
	if err != nil {
		return nil, err
	}
	for i := range d.rules {
		r := &d.rules[i]
		at := slices.IndexFunc(there, func(o workflow.AlertRule) bool { return o.Name == r.Name })
		if at >= 0 && r.Silenced.IsZero() {
			r.Silenced = there[at].Silenced // a person's wish for a while
		}
		action := actionOf(at < 0, at >= 0 && reflect.DeepEqual(there[at], *r))
		if action != "none" && !dry {
			if err := c.SetAlertRule(ctx, *r); err != nil {
				return nil, fmt.Errorf("alert %s: %w", r.Name, err)
			}
		}
		done = append(done, api.ApplyResult{Slug: "alert " + r.Name, Action: action})
	}
	return done, nil
}

func actionOf(missing, same bool) string {
	switch {
	case missing:
		return "create"
	case same:
		return "none"
	}
	return "change"
}
