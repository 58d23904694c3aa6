package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/spool"
)

// forks makes, of a page, so many documents with its body.
type forks int

func (n forks) Handle(_ context.Context, p *crawl.Page) (out []crawl.Event, err error) {
	for range n {
		out = append(out, &crawl.Document{Page: *p})
	}
	return append(out, &crawl.Links{Task: p.Task}), nil
}

func openSpool(t *testing.T) *spool.Spool {
	t.Helper()
	cfg := spool.Default()
	cfg.Dir, cfg.MaxUsed = t.TempDir(), 1
	s, err := spool.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// page is a message with a body in a spool.
func page(t *testing.T, s *spool.Spool) (bus.Message, crawl.BodyRef) {
	t.Helper()
	ref, err := s.Put(t.Context(), strings.NewReader("the body"))
	if err != nil {
		t.Fatal(err)
	}
	task := crawl.Task{Job: "j"}
	return bus.Message{ID: task.ID(), Event: &crawl.Page{Task: task, Body: ref}}, ref
}

func runPage(t *testing.T, s *script, bodies crawl.Bodies, h pipeline.Handler[*crawl.Page]) {
	t.Helper()
	cfg := pipeline.Config{Name: "test", Topic: crawl.TopicParse, Bodies: bodies, Log: slog.New(slog.DiscardHandler)}
	if err := pipeline.Run(t.Context(), s, cfg, h); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, s *spool.Spool, ref crawl.BodyRef) bool {
	t.Helper()
	r, err := s.Open(t.Context(), ref)
	if err != nil {
		return false
	}
	defer r.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	return err == nil && b.String() == "the body"
}

// A body stays until each of its users has released it, in whatever order, and however often messages come.
func TestABodyStaysUntilItsLastUserIsDone(t *testing.T) {
	for users := range forks(4) {
		s := openSpool(t)
		m, ref := page(t, s)
		b := &script{deliver: []bus.Message{m}}
		runPage(t, b, s, users)
		if users == 0 && has(t, s, ref) {
			t.Error("a body that nobody needs any more was not released")
		}
		first := slices.Clone(b.published)
		again := *m.Event.(*crawl.Page)
		again.Body = ref
		m.Event, m.Redelivered = &again, true
		b.deliver, b.published = []bus.Message{m}, nil
		runPage(t, b, s, users)
		documents := first[:users]
		for i, d := range documents {
			if a, b := d.Event.(*crawl.Document).Page.Body, b.published[i].Event.(*crawl.Document).Page.Body; a != b {
				t.Errorf("%d users: the message came again, and user %d got %s, not %s", users, i, b, a)
			}
		}
		for i, d := range documents {
			end := &script{deliver: []bus.Message{{ID: d.ID, Event: &d.Event.(*crawl.Document).Page}}}
			runPage(t, end, s, forks(0))
			for j, other := range documents {
				if got := has(t, s, other.Event.(*crawl.Document).Page.Body); got != (j > i) {
					t.Errorf("%d users: user %d is done; user %d finds the body: %v", users, i, j, got)
				}
			}
		}
	}
}

// The control: where events share one reference, the first user takes the body from the others.
func TestNegativeControlBodyThatIsNotShared(t *testing.T) {
	s := openSpool(t)
	m, ref := page(t, s)
	b := &script{deliver: []bus.Message{m}}
	runPage(t, b, nil, forks(2)) // a runner that knows nothing of bodies
	end := &script{deliver: []bus.Message{{ID: m.ID, Event: &b.published[0].Event.(*crawl.Document).Page}}}
	runPage(t, end, s, forks(0))
	if has(t, s, ref) {
		t.Error("the second user still finds the body: the test of the runner proves nothing")
	}
}

// A body is not released before the outputs of its last user are published, nor with a message that comes again.
func TestABodyIsKeptUntilTheOutputsArePublished(t *testing.T) {
	s := openSpool(t)
	m, ref := page(t, s)
	for name, b := range map[string]*script{
		"the bus refuses":   {deliver: []bus.Message{m}, refuse: errors.New("no broker")},
		"the handler fails": {deliver: []bus.Message{m}},
	} {
		var h pipeline.Handler[*crawl.Page] = forks(0)
		if b.refuse == nil {
			h = stub[*crawl.Page]{err: errors.New("no store")}
		}
		if runPage(t, b, s, h); b.results[0] == nil || !has(t, s, ref) {
			t.Errorf("%s: settled with %v; the body is there: %v", name, b.results[0], has(t, s, ref))
		}
	}
	runPage(t, &script{deliver: []bus.Message{m}}, s, stub[*crawl.Page]{err: crawl.ErrDiscarded})
	if has(t, s, ref) {
		t.Error("the body of a deleted job's page stays")
	}
}

// A body that is released is a sign that the message was handled: nothing is published again. One that was lost goes on
// as it is, for whoever opens it to find out.
func TestAMessageWhoseBodyIsGone(t *testing.T) {
	s := openSpool(t)
	m, ref := page(t, s)
	if err := s.Release(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	b := &script{deliver: []bus.Message{m}}
	if runPage(t, b, s, forks(2)); len(b.published) > 0 || b.results[0] != nil {
		t.Errorf("released: %d messages are published again, settled with %v", len(b.published), b.results[0])
	}
	_, foreign := page(t, openSpool(t))
	m.Event.(*crawl.Page).Body = foreign
	b = &script{deliver: []bus.Message{m}}
	if runPage(t, b, s, forks(2)); len(b.published) != 3 || b.results[0] != nil {
		t.Errorf("lost: %d messages are published, want 3; settled with %v", len(b.published), b.results[0])
	}
}
