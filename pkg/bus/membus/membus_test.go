package membus_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
)

// disk is a journal that a crash leaves as it is. It is shared by a bus and its successors.
type disk struct {
	mu   sync.Mutex
	next uint64
	msgs map[uint64]bus.Message
	dead []bus.DeadLetter
	fail error
}

func (d *disk) Append(_ context.Context, msgs ...bus.Message) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return 0, d.fail
	}
	first := d.next + 1
	for _, m := range msgs {
		d.next++
		d.msgs[d.next] = m
	}
	return first, nil
}

func (d *disk) Remove(_ context.Context, seqs ...uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range seqs {
		delete(d.msgs, s)
	}
	return nil
}

func (d *disk) Load(_ context.Context, yield func(uint64, bus.Message) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range slices.Sorted(maps.Keys(d.msgs)) {
		if err := yield(s, d.msgs[s]); err != nil {
			return err
		}
	}
	return nil
}

func (d *disk) Bury(_ context.Context, l bus.DeadLetter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = append(d.dead, l)
	return nil
}

func (d *disk) letters() []bus.DeadLetter {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.dead)
}

func open(d *disk, wire bool) *membus.Bus {
	cfg := membus.Default()
	cfg.Journal, cfg.Dead, cfg.Encode, cfg.Capacity, cfg.Log = d, d, wire, 16, slog.New(slog.DiscardHandler)
	return membus.New(cfg)
}

func instance(d *disk, wire bool) bustest.Instance {
	b := open(d, wire)
	return bustest.Instance{Bus: b, Dead: d.letters, Restart: func(t *testing.T) bustest.Instance {
		crashed := &disk{next: d.next, msgs: maps.Clone(d.msgs)} // what the old bus does from now on is lost
		in := instance(crashed, wire)
		if _, err := in.Bus.(*membus.Bus).Recover(context.Background()); err != nil {
			t.Fatal(err)
		}
		return in
	}}
}

func TestConformance(t *testing.T) {
	for name, wire := range map[string]bool{"by reference": false, "encoded": true} {
		t.Run(name, func(t *testing.T) {
			bustest.Run(t, func(*testing.T) bustest.Instance { return instance(&disk{msgs: map[uint64]bus.Message{}}, wire) })
		})
	}
}

// A root that leaves the journal before its tree is handled would lose the rest of the tree. The control shows that the
// suite notices: a journal that forgets at once fails it.
func TestNegativeControlForgetfulJournal(t *testing.T) {
	d := &disk{msgs: map[uint64]bus.Message{}}
	b := open(d, false)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	took := make(chan struct{})
	go func() {
		_ = b.Consume(ctx, crawl.TopicFetch, bus.Workers{Min: 1, Max: 1}, func(context.Context, bus.Message) error {
			close(took)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	task := crawl.Task{Job: "j"}
	if err := b.Publish(ctx, bus.Message{ID: task.ID(), Event: &crawl.Fetch{Task: task}}); err != nil {
		t.Fatal(err)
	}
	<-took
	if n, _ := open(d, false).Recover(ctx); n != 1 {
		t.Fatalf("%d messages recovered, want 1", n)
	}
	_ = d.Remove(ctx, 1)
	if n, _ := open(d, false).Recover(ctx); n != 0 {
		t.Fatalf("%d messages recovered from a forgetful journal: the check above proves nothing", n)
	}
}

func TestPublishFailsWhenTheJournalDoes(t *testing.T) {
	d := &disk{msgs: map[uint64]bus.Message{}, fail: errors.New("disk full")}
	b := open(d, false)
	err := b.Publish(context.Background(), bus.Message{Event: &crawl.Fetch{}})
	if err == nil || b.Outstanding() != 0 {
		t.Errorf("Publish = %v with %d outstanding, want an error and none", err, b.Outstanding())
	}
}

func TestOutstandingFallsToZero(t *testing.T) {
	d := &disk{msgs: map[uint64]bus.Message{}}
	b := open(d, false)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	done := make(chan struct{}, 100)
	go func() {
		_ = b.Consume(ctx, crawl.TopicFetch, bus.Workers{Min: 1, Max: 4}, func(ctx context.Context, m bus.Message) error {
			e := m.Event.(*crawl.Fetch)
			return b.Publish(ctx, bus.Message{ID: m.ID.Child("t", 0), Event: &crawl.Outcome{Task: e.Task}})
		})
	}()
	go func() {
		_ = b.Consume(ctx, crawl.TopicOutcome, bus.Workers{Min: 1, Max: 4}, func(context.Context, bus.Message) error {
			done <- struct{}{}
			return nil
		})
	}()
	for i := range 100 {
		task := crawl.Task{Job: "j", Visit: i}
		if err := b.Publish(ctx, bus.Message{ID: task.ID(), Event: &crawl.Fetch{Task: task}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		<-done
	}
	for b.Outstanding() != 0 {
		if ctx.Err() != nil {
			t.Fatalf("%d roots outstanding after everything was handled", b.Outstanding())
		}
	}
	if len(d.msgs) != 0 {
		t.Errorf("%d messages left in the journal", len(d.msgs))
	}
}
