package workflow_test

import (
	"context"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// More events than are read at once are heard of in their order, and none that came before.
func TestTailHearsOfAllThatComesLater(t *testing.T) {
	w := newWorld(t)
	record := func(kind string) {
		if err := w.Record(bg, workflow.Event{Type: kind}); err != nil {
			t.Fatal(err)
		}
	}
	record("before")
	ctx, stop := context.WithCancel(bg)
	defer stop()
	tail := w.Tail(ctx)
	const all = 250
	for range all {
		record("early")
	}
	var heard []string
	last := int64(0)
	tail.Each(ctx, func(e *workflow.Event) {
		if e.ID <= last {
			t.Errorf("event %d after %d", e.ID, last)
		}
		last, heard = e.ID, append(heard, e.Type)
		switch len(heard) {
		case all:
			record("late")
		case all + 1:
			stop()
		}
	})
	if len(heard) != all+1 || slices.Contains(heard, "before") || heard[all] != "late" {
		t.Errorf("heard of %d events, the last %q", len(heard), heard[len(heard)-1])
	}
}

// A revision that the engine goes by is noted once, of executions that have begun.
func TestRevisionsThatNobodyNotedAreNoted(t *testing.T) {
	w := newWorld(t)
	w.create(simple)
	unknown := w.start()
	w.conduct()
	runs := w.start()
	w.until(runs, workflow.Running)
	w.until(unknown, workflow.Running)
	w.stop()
	pending := w.start()
	asked := map[crawl.JobID]int{}
	note := func() {
		now := func(_ context.Context, id crawl.JobID) (*crawl.Job, error) {
			if asked[id]++; id == unknown {
				return nil, nil
			}
			return &crawl.Job{ID: id, Epoch: 2, MaxPages: 7}, nil
		}
		at := func(_ context.Context, id crawl.JobID, epoch uint32) (*crawl.Job, error) {
			return &crawl.Job{ID: id, Epoch: epoch}, nil
		}
		if err := w.NoteRevisions(bg, now, at); err != nil {
			t.Fatal(err)
		}
	}
	note()
	note()
	if asked[pending] > 0 || asked[runs] != 2 {
		t.Errorf("asked for jobs: %v", asked)
	}
	events, err := w.Events(bg, workflow.EventFilter{Types: []string{workflow.EventRevised}}, 0, 9)
	if err != nil || len(events) != 1 || events[0].Execution != runs || events[0].Actor != "server" {
		t.Errorf("events %+v, %v", events, err)
	}
}
