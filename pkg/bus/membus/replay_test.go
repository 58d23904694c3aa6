package membus_test

import (
	"context"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A replayed dead letter is put into the journal whatever its topic is, though only roots are journaled when they are
// published: it must be delivered in its own topic, marked, and leave the journal once its whole tree is handled.
func TestJournaledMessageOfAnyTopicIsDeliveredAndThenForgotten(t *testing.T) {
	for _, event := range []crawl.Event{&crawl.Fetch{}, &crawl.Page{}, &crawl.Document{}, &crawl.Links{},
		&crawl.Filtered{}, &crawl.Claim{}, &crawl.Fresh{}, &crawl.Outcome{}} {
		t.Run(event.Topic(), func(t *testing.T) { replayOne(t, event) })
	}
}

func replayOne(t *testing.T, event crawl.Event) {
	d := &disk{msgs: map[uint64]bus.Message{}}
	id := crawl.MessageID{7}
	if _, err := d.Append(t.Context(), bus.Message{ID: id, Event: event}); err != nil {
		t.Fatal(err)
	}
	b := open(d, false)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if n, err := b.Recover(ctx); n != 1 || err != nil {
		t.Fatalf("Recover = %d, %v", n, err)
	}
	got, child := make(chan bus.Message, 1), make(chan struct{})
	const below = "below" // a topic that no stage has
	go func() {
		_ = b.Consume(ctx, event.Topic(), bus.Workers{Min: 1, Max: 1}, func(ctx context.Context, m bus.Message) error {
			got <- m
			return b.Publish(ctx, bus.Message{ID: m.ID.Child("t", 0), Event: leaf{}})
		})
	}()
	m := <-got
	if m.ID != id || !m.Redelivered || m.Event.Topic() != event.Topic() {
		t.Errorf("delivered %+v", m)
	}
	if len(d.pending()) != 1 {
		t.Error("the message left the journal before its tree was handled")
	}
	go func() {
		_ = b.Consume(ctx, below, bus.Workers{Min: 1, Max: 1}, func(context.Context, bus.Message) error {
			close(child)
			return nil
		})
	}()
	<-child
	for b.Outstanding() != 0 {
		if ctx.Err() != nil {
			t.Fatal("the tree never ended")
		}
	}
	if left := d.pending(); len(left) != 0 {
		t.Errorf("the journal still holds %v", left)
	}
}

// leaf is an event that leads to nothing.
type leaf struct{}

func (leaf) Topic() string { return "below" }
func (leaf) Key() string   { return "" }

func (d *disk) pending() (seqs []uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for s := range d.msgs {
		seqs = append(seqs, s)
	}
	return seqs
}
