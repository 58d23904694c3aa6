package report

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
	Event  json.RawMessage `json:"event"` // decoded; null: it cannot be read
	Job    crawl.JobID     `json:"job,omitempty"`
	Node   string          `json:"node,omitempty"`  // of a ring, in whose broker it lies
	Vhost  string          `json:"vhost,omitempty"` // of a cluster's broker
	Bytes  int             `json:"bytes,omitempty"` // of the message, there
}

// Letters implements View.
func (c *Crawl) Letters(ctx context.Context) ([]Letter, error) {
	out := []Letter{}
	err := c.src.Dead.List(ctx, func(d bus.DeadLetter) error {
		l, err := letterOf(&d)
		out = append(out, l)
		return err
	})
	sortLetters(out)
	return out, err
}

// letterOf makes a letter for people. One whose event could not be read has none.
func letterOf(d *bus.DeadLetter) (Letter, error) {
	l := Letter{ID: d.Message.ID, Topic: d.Topic, Reason: d.Reason, At: d.At.UTC()}
	if d.Message.Event == nil {
		return l, nil
	}
	l.Job, l.Key = JobOf(d.Message.Event), d.Message.Event.Key()
	var err error
	if l.Event, err = json.Marshal(d.Message.Event); err != nil {
		return l, fmt.Errorf("dead letter %s: %w", d.Message.ID, err)
	}
	return l, nil
}

// JobOf is the job that an event belongs to.
func JobOf(e crawl.Event) crawl.JobID {
	switch e := e.(type) {
	case *crawl.Page:
		return e.Task.Job
	case *crawl.Document:
		return e.Page.Task.Job
	case *crawl.Links:
		return e.Task.Job
	case *crawl.Filtered:
		return e.Job
	case *crawl.Claim:
		return e.Job
	}
	if tasks := crawl.TasksOf(e); len(tasks) > 0 {
		return tasks[0].Job
	}
	return ""
}

func sortLetters(ls []Letter) {
	slices.SortStableFunc(ls, func(a,
		b Letter) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID.String(), b.ID.String()))
	})
}

// Revive turns a dead letter into the message that gives it another try in a process that begins anew. That is the
// message itself, with one exception: a page's body does not outlive the process, so a page is fetched again.
func Revive(d bus.DeadLetter) bus.Message {
	m := bus.Message{ID: d.Message.ID, Event: d.Message.Event, Redelivered: true}
	if p, ok := m.Event.(*crawl.Page); ok {
		m.ID, m.Event = p.Task.ID(), &crawl.Fetch{Task: p.Task}
	}
	return m
}
