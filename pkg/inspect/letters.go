package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Letter is a dead letter for people and programs.
type Letter struct {
	ID     crawl.MessageID `json:"id"`
	Topic  string          `json:"topic"`
	Key    string          `json:"key"` // mostly the host
	Reason string          `json:"reason"`
	At     time.Time       `json:"at"`
	Event  json.RawMessage `json:"event"` // decoded
}

// Letters implements View.
func (c *Crawl) Letters(ctx context.Context) ([]Letter, error) {
	out := []Letter{}
	err := c.src.Dead.List(ctx, func(d bus.DeadLetter) error {
		event, err := json.Marshal(d.Message.Event)
		if err != nil {
			return fmt.Errorf("dead letter %s: %w", d.Message.ID, err)
		}
		out = append(out, Letter{ID: d.Message.ID, Topic: d.Topic, Key: d.Message.Event.Key(), Reason: d.Reason, At: d.At.UTC(),
			Event: event})
		return nil
	})
	slices.SortStableFunc(out, func(a, b Letter) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID.String(), b.ID.String())) })
	return out, err
}

// Revive turns a dead letter into the message that gives it another try in a process that begins anew. That is the message
// itself, with one exception: a page's body does not outlive the process, so a page is fetched again.
func Revive(d bus.DeadLetter) bus.Message {
	m := bus.Message{ID: d.Message.ID, Event: d.Message.Event, Redelivered: true}
	if p, ok := m.Event.(*crawl.Page); ok {
		m.ID, m.Event = p.Task.ID(), &crawl.Fetch{Task: p.Task}
	}
	return m
}
