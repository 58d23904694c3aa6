package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// apply makes a server what the documents say: channels before the rules that name them, workflows before both that
// watch them.
func (d *applied) apply(ctx context.Context, c *client.Client, dry bool) (done []api.ApplyResult, err error) {
	if err := d.checkAlerts(ctx, c); err != nil { // before the first of the file is touched
		return nil, err
	}
	if len(d.jobs)+len(d.schedules) > 0 {
		if done, err = c.Apply(ctx, d.jobs, d.schedules, dry); err != nil {
			return nil, d.explain(ctx, c, err)
		}
	}
	for _, step := range []func(context.Context, *client.Client, bool) ([]api.ApplyResult, error){d.applyChannels,
		d.applyRules} {
		more, err := step(ctx, c, dry)
		if done = append(done, more...); err != nil {
			return nil, afterwards(err, done, dry)
		}
	}
	return done, nil
}

// afterwards adds to an error what was applied before it came up.
func afterwards(err error, done []api.ApplyResult, dry bool) error {
	var names []string
	for i := range done {
		if done[i].Action != "none" {
			names = append(names, done[i].Slug+" ("+done[i].Action+")")
		}
	}
	if dry || len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w; before that was applied: %s; apply the file again when it is corrected", err,
		strings.Join(names, ", "))
}

// checkAlerts says what is wrong with the channels and rules, as far as a client can know: the list of channels is for
// operators, and whoever may not see it hears of a missing one from the server.
func (d *applied) checkAlerts(ctx context.Context, c *client.Client) error {
	known := map[string]bool{}
	for i := range d.channels {
		ch := &d.channels[i]
		if bad := ch.Check(); bad != nil {
			return fmt.Errorf("channel %s: %w", ch.Name, bad)
		}
		known[ch.Name] = true
	}
	if len(d.rules) == 0 {
		return nil
	}
	there, err := c.AlertChannels(ctx)
	var refused *client.Problem
	if hidden := errors.As(err, &refused) && refused.Status == http.StatusForbidden; hidden {
		known = nil
	} else if err != nil {
		return err
	}
	for i := range there {
		known[there[i].Name] = true
	}
	for i := range d.rules {
		if err := d.checkRule(ctx, c, &d.rules[i], known); err != nil {
			return fmt.Errorf("alert %s: %w", d.rules[i].Name, err)
		}
	}
	return nil
}

// checkRule says what is wrong with a rule. known are the channels that there are or will be; nil: nobody knows.
func (d *applied) checkRule(ctx context.Context, c *client.Client, r *workflow.AlertRule, known map[string]bool) error {
	if err := r.Check(); err != nil {
		return err
	}
	for _, name := range r.Channels {
		if known != nil && !known[name] {
			return fmt.Errorf("there is no channel %q: add it to the file (channel: %s), or name one of `whirlpool alert "+
				"channels`", name, name)
		}
	}
	if r.Workflow == "" || slices.ContainsFunc(d.jobs, func(a api.Applied) bool { return a.Slug == r.Workflow }) {
		return nil
	}
	_, err := c.Workflow(ctx, r.Workflow)
	return err
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
		at := slices.IndexFunc(there, func(o notify.Channel) bool { return o.Name == ch.Name })
		action := actionOf(at < 0, at >= 0 && reflect.DeepEqual(there[at], *ch))
		if action != "none" && !dry {
			if err := c.SetAlertChannel(ctx, *ch); err != nil {
				return done, fmt.Errorf("channel %s: %w", ch.Name, err)
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
				return done, fmt.Errorf("alert %s: %w", r.Name, err)
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
