package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// alertsEvery is how often rules are judged.
const alertsEvery = 10 * time.Second

// judge judges all rules, and moves alerts from one state to the next.
func (c *conductor) judge(ctx context.Context) error {
	rules, err := c.rules(ctx)
	if err != nil {
		return err
	}
	before, err := c.store.Alerts(ctx)
	if err != nil || len(rules) == 0 && len(before) == 0 {
		return err
	}
	l, err := c.lookAround(ctx)
	if err != nil {
		return err
	}
	open := make(map[string]*Alert, len(before))
	for i := range before {
		open[before[i].Rule+"\x00"+before[i].Subject] = &before[i]
	}
	var errs []error
	for i := range rules {
		if r := &rules[i]; !r.Disabled {
			errs = append(errs, c.judgeRule(ctx, r, l, open))
		}
	}
	for _, a := range open { // what holds no more, and what is of rules that are gone
		errs = append(errs, c.over(ctx, a, ruleOf(rules, a.Rule)))
	}
	return errors.Join(errs...)
}

func ruleOf(rules []AlertRule, name string) *AlertRule {
	for i := range rules {
		if rules[i].Name == name && !rules[i].Disabled {
			return &rules[i]
		}
	}
	return nil
}

// judgeRule moves the alerts of what a rule holds of, and takes them out of open.
func (c *conductor) judgeRule(ctx context.Context, r *AlertRule, l *look, open map[string]*Alert) error {
	hold, repeat, err := r.checked()
	if err != nil {
		return err
	}
	kind := watched[r.On]
	most := r.Threshold
	if most == 0 {
		most = kind.threshold
	}
	l.of = r.Workflow
	var errs []error
	seen := map[string]bool{}
	for _, t := range kind.find(l, most) {
		if seen[t.subject] {
			continue
		}
		seen[t.subject] = true
		key := r.Name + "\x00" + t.subject
		errs = append(errs, c.holds(ctx, r, &t, open[key], hold, repeat))
		delete(open, key)
	}
	return errors.Join(errs...)
}

// holds moves the alert of what a rule holds of; a nil: it has just begun.
func (c *conductor) holds(ctx context.Context, r *AlertRule, t *trouble, a *Alert, hold, repeat time.Duration) error {
	now, was := c.now(), AlertOK
	next := Alert{Rule: r.Name, Subject: t.subject, State: AlertPending, Since: now}
	if a != nil {
		next, was = *a, a.State
	}
	next.Severity, next.Text, next.Value = cmp.Or(r.Severity, "warning"), t.text, t.value
	next.Workflow, next.Execution = t.workflow, t.execution
	if next.State == AlertPending && now.Sub(next.Since) >= hold {
		next.State, next.Fired = AlertFiring, now
	}
	var out []Delivery
	tell := next.State == AlertFiring &&
		(was != AlertFiring || next.Told.IsZero() || repeat > 0 && now.Sub(next.Told) >= repeat)
	if tell && !now.Before(r.Silenced) {
		next.Told = now
		out = c.deliveries(r, &next, "firing")
	}
	if a != nil && next == *a {
		return nil
	}
	var e *Event
	if next.State != was {
		e = c.alertEvent(&next)
	}
	return unlessStale(c.store.SetAlert(ctx, &next, was, out, e))
}

// over ends an alert. Its end is told where its beginning was.
func (c *conductor) over(ctx context.Context, a *Alert, r *AlertRule) error {
	next := *a
	next.State = AlertOK
	var out []Delivery
	if r != nil && a.State == AlertFiring && !a.Told.IsZero() && !c.now().Before(r.Silenced) {
		out = c.deliveries(r, &next, "resolved")
	}
	var e *Event
	if a.State == AlertFiring {
		e = c.alertEvent(&next)
	}
	return unlessStale(c.store.SetAlert(ctx, &next, a.State, out, e))
}

// unlessStale leaves out that another conductor was faster.
func unlessStale(err error) error {
	if errors.Is(err, ErrStale) {
		return nil
	}
	return err
}

func (c *conductor) alertEvent(a *Alert) *Event {
	kind := "alert." + string(a.State)
	if a.State == AlertOK {
		kind = "alert.resolved"
	}
	e := c.event(conductorName, kind,
		map[string]any{"rule": a.Rule, "subject": a.Subject, "severity": a.Severity, "text": a.Text})
	e.Workflow = a.Workflow
	return &e
}

// deliveries are the messages of an alert, one for each channel of its rule.
func (m *Manager) deliveries(r *AlertRule, a *Alert, kind string) []Delivery {
	out := make([]Delivery, 0, len(r.Channels))
	data, _ := json.Marshal(map[string]any{"rule": r.Name, "on": r.On, "subject": a.Subject, "severity": a.Severity,
		"text":  a.Text, // plain values
		"value": a.Value, "execution": a.Execution, "since": a.Since, "state": kind})
	for _, channel := range r.Channels {
		d := m.delivery(channel, "org.whirlpool.alert."+kind,
			fmt.Sprintf("%s: %s is %s", a.Severity, r.Name+" "+a.Subject, kind))
		d.Rule, d.Subject, d.Data = r.Name, a.Subject, data
		d.Text = fmt.Sprintf("%s\n\nRule: %s\nSince: %s\n", a.Text, r.Name, a.Since.Format(time.RFC3339))
		if kind == "resolved" {
			d.Text = "This is over. It was:\n" + d.Text
		}
		out = append(out, d)
	}
	return out
}

func (m *Manager) delivery(channel, kind, title string) Delivery {
	return Delivery{ID: "dl_" + ulid(m.now()), Channel: channel, Type: kind, Title: title, State: DeliveryDue,
		Created: m.now(), Next: m.now(), Left: MaxTries, Tries: []DeliveryTry{}}
}
