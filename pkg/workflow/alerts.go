package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// Alerting is what the API, the command line and the studio use of alerts.
type Alerting interface {
	Rules(ctx context.Context) ([]AlertRule, error) // by name
	// SetRule stores a rule under its name.
	SetRule(ctx context.Context, actor string, r *AlertRule) error
	RemoveRule(ctx context.Context, actor, name string) error
	Alerts(ctx context.Context) ([]Alert, error)            // that are not ok, the newest first
	Channels(ctx context.Context) ([]notify.Channel, error) // by name
	SetChannel(ctx context.Context, actor string, c *notify.Channel) error
	// RemoveChannel deletes a channel; ErrConflict where a rule names it.
	RemoveChannel(ctx context.Context, actor, name string) error
	// TestChannel sends a message that says that it is a test.
	TestChannel(ctx context.Context, actor, name string) (*Delivery, error)
	Deliveries(ctx context.Context, f DeliveryFilter, p Page) (*List[Delivery], error) // the newest first
	// Resend sends a delivery again that is dead or was sent.
	Resend(ctx context.Context, actor, id string) (*Delivery, error)
}

var _ Alerting = (*Manager)(nil)

const (
	sectionRules    = "alerts.rules"
	sectionChannels = "alerts.channels"
	maxRules        = 200
)

// all reads the values of a section.
func all[T any](ctx context.Context, v Values, section string) (out []T, _ error) {
	err := v.EachValue(ctx, section, func(key string, value []byte) error {
		var item T
		if err := json.Unmarshal(value, &item); err != nil {
			return fmt.Errorf("%s %s: %w", section, key, err)
		}
		out = append(out, item)
		return nil
	})
	return out, err
}

func (m *Manager) rules(ctx context.Context) ([]AlertRule, error) {
	return all[AlertRule](ctx, m.store, sectionRules)
}

// Rules implements Alerting.
func (m *Manager) Rules(ctx context.Context) ([]AlertRule, error) { return m.rules(ctx) }

// SetRule implements Alerting.
func (m *Manager) SetRule(ctx context.Context, actor string, r *AlertRule) error {
	if _, _, err := r.checked(); err != nil {
		return err
	}
	if r.Workflow != "" {
		w, err := m.store.Workflow(ctx, r.Workflow)
		if err != nil {
			return err
		}
		r.Workflow = w.Slug
	}
	for _, name := range r.Channels {
		if _, err := m.Channel(ctx, name); errors.Is(err, ErrNotFound) {
			return invalid("channels", "there is no channel %q: make it first", name)
		} else if err != nil {
			return err
		}
	}
	return m.setNamed(ctx, actor, sectionRules, r.Name, "alert.rule_set", r)
}

// setNamed stores a rule or a channel, and tells it.
func (m *Manager) setNamed(ctx context.Context, actor, section, name, kind string, v any) error {
	there := 0
	err := m.store.EachValue(ctx, section, func(key string, _ []byte) error {
		if key != name {
			there++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if there >= maxRules {
		return invalid("name", "there are %d, more there cannot be: remove one", maxRules)
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = m.store.SetValue(ctx, section, name, data)
	}
	if err == nil {
		err = m.store.AddEvent(ctx, m.event(actor, kind, map[string]string{"name": name}))
	}
	m.nudge()
	return err
}

// RemoveRule implements Alerting.
func (m *Manager) RemoveRule(ctx context.Context, actor, name string) error {
	return m.removeNamed(ctx, actor, sectionRules, name, "alert.rule_removed")
}

func (m *Manager) removeNamed(ctx context.Context, actor, section, name, kind string) error {
	data, err := m.store.Value(ctx, section, name)
	if err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("%.80q: %w", name, ErrNotFound)
	}
	if err := m.store.SetValue(ctx, section, name, nil); err != nil {
		return err
	}
	m.nudge()
	return m.store.AddEvent(ctx, m.event(actor, kind, map[string]string{"name": name}))
}

// Alerts implements Alerting.
func (m *Manager) Alerts(ctx context.Context) ([]Alert, error) { return m.store.Alerts(ctx) }

// Channels implements Alerting.
func (m *Manager) Channels(ctx context.Context) ([]notify.Channel, error) {
	return all[notify.Channel](ctx, m.store, sectionChannels)
}

// Channel finds a channel by its name.
func (m *Manager) Channel(ctx context.Context, name string) (*notify.Channel, error) {
	data, err := m.store.Value(ctx, sectionChannels, name)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, fmt.Errorf("channel %.80q: %w", name, ErrNotFound)
	}
	c := new(notify.Channel)
	return c, json.Unmarshal(data, c)
}

// SetChannel implements Alerting.
func (m *Manager) SetChannel(ctx context.Context, actor string, c *notify.Channel) error {
	if f := c.Check(); f != nil {
		return &Invalid{[]Fault{{Key: f.Key, Message: f.Error()}}}
	}
	return m.setNamed(ctx, actor, sectionChannels, c.Name, "alert.channel_set", c)
}

// RemoveChannel implements Alerting.
func (m *Manager) RemoveChannel(ctx context.Context, actor, name string) error {
	rules, err := m.rules(ctx)
	if err != nil {
		return err
	}
	for i := range rules {
		if one(name, rules[i].Channels...) {
			return fmt.Errorf("%w: rule %s sends to channel %s: change it first", ErrConflict, rules[i].Name, name)
		}
	}
	return m.removeNamed(ctx, actor, sectionChannels, name, "alert.channel_removed")
}

// TestChannel implements Alerting.
func (m *Manager) TestChannel(ctx context.Context, actor, name string) (*Delivery, error) {
	if _, err := m.Channel(ctx, name); err != nil {
		return nil, err
	}
	d := m.test(name, actor)
	if err := m.store.AddDelivery(ctx, &d); err != nil {
		return nil, err
	}
	m.posted()
	return &d, nil
}

// posted has the conductor deliver now.
func (m *Manager) posted() {
	select {
	case m.post <- struct{}{}:
	default:
	}
}

// Deliveries implements Alerting.
func (m *Manager) Deliveries(ctx context.Context, f DeliveryFilter, p Page) (*List[Delivery], error) {
	return m.store.Deliveries(ctx, f, bounded(p))
}

// Resend implements Alerting.
func (m *Manager) Resend(ctx context.Context, actor, id string) (*Delivery, error) {
	d, err := m.store.Delivery(ctx, id)
	if err != nil || d.State == DeliveryDue {
		return d, err
	}
	was := d.State
	d.State, d.Next, d.Left = DeliveryDue, m.now(), MaxTries
	e := m.event(actor, "delivery.resent", map[string]string{"delivery": d.ID, "channel": d.Channel})
	if err := m.store.SetDelivery(ctx, d, was, &e); err != nil {
		return nil, err
	}
	m.posted()
	return d, nil
}
