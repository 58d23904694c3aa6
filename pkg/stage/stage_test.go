package stage_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stage"
)

// script is a bus that delivers its messages once and keeps what is published and what handlers return.
type script struct {
	deliver   []bus.Message
	published []bus.Message
	results   []error
	refuse    error
}

func (s *script) Publish(_ context.Context, msgs ...bus.Message) error {
	if s.refuse == nil {
		s.published = append(s.published, msgs...)
	}
	return s.refuse
}

func (s *script) Consume(ctx context.Context, _ string, _ bus.Workers, h bus.Handler) error {
	for _, m := range s.deliver {
		s.results = append(s.results, h(ctx, m))
	}
	return nil
}

type handler func(context.Context, *crawl.Fetch) ([]crawl.Event, error)

func (h handler) Handle(ctx context.Context, f *crawl.Fetch) ([]crawl.Event, error) { return h(ctx, f) }

func run(t *testing.T, s *script, m *stage.Metrics, h handler) {
	t.Helper()
	cfg := stage.Config{Name: "test", Topic: crawl.TopicFetch, Workers: bus.Workers{Min: 1, Max: 1},
		Log: slog.New(slog.DiscardHandler), Metrics: m}
	if err := stage.Run(t.Context(), s, cfg, h); err != nil {
		t.Fatal(err)
	}
}

func message() bus.Message {
	task := crawl.Task{Job: "j"}
	return bus.Message{ID: task.ID(), Event: &crawl.Fetch{Task: task}}
}

func TestTheSameMessagePublishesTheSameMessages(t *testing.T) {
	m := message()
	s := &script{deliver: []bus.Message{m, m}}
	run(t, s, nil, func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
		return []crawl.Event{&crawl.Page{}, &crawl.Outcome{}}, nil
	})
	if len(s.published) != 4 || s.published[0].ID != s.published[2].ID || s.published[1].ID != s.published[3].ID {
		t.Fatalf("published %+v", s.published)
	}
	if s.published[0].ID != m.ID.Child("test", 0) || s.published[0].ID == s.published[1].ID {
		t.Errorf("ids %v and %v of outputs of %v", s.published[0].ID, s.published[1].ID, m.ID)
	}
}

func TestHandlerKnowsWhetherTheMessageMayBeARepeat(t *testing.T) {
	again, retried := message(), message()
	again.Redelivered, retried.Attempt = true, 2
	var got []stage.Delivery
	run(t, &script{deliver: []bus.Message{message(), again, retried}}, nil,
		func(ctx context.Context, _ *crawl.Fetch) ([]crawl.Event, error) {
			got = append(got, stage.DeliveryOf(ctx))
			return nil, nil
		})
	if got[0].Repeat || !got[1].Repeat || !got[2].Repeat || got[2].Attempt != 2 || got[0].ID.IsZero() {
		t.Errorf("deliveries %+v", got)
	}
	if d := stage.DeliveryOf(t.Context()); d != (stage.Delivery{}) {
		t.Errorf("delivery %+v outside a handler", d)
	}
}

func TestFaults(t *testing.T) {
	broken := errors.New("store is away")
	for name, tt := range map[string]struct {
		script    script
		handle    handler
		permanent bool
		want      string
	}{
		"an error is passed on":      {script{}, func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { return nil, broken }, false, "store is away"},
		"a panic buries the message": {script{}, func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { panic("poison") }, true, "poison"},
		"outputs that cannot be published": {script{refuse: broken},
			func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
				return []crawl.Event{&crawl.Outcome{}}, nil
			}, false, "store is away"},
		"an event of another topic": {script{deliver: []bus.Message{{Event: &crawl.Page{}}}}, nil, true, "*crawl.Page"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tt.script
			if s.deliver == nil {
				s.deliver = []bus.Message{message()}
			}
			run(t, &s, nil, tt.handle)
			err := s.results[0]
			if err == nil || crawl.IsPermanent(err) != tt.permanent || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v (permanent %v), want one with %q (permanent %v)", err, crawl.IsPermanent(err), tt.want, tt.permanent)
			}
			if len(s.published) > 0 {
				t.Errorf("published %+v in spite of it", s.published)
			}
		})
	}
}

func TestMetricsCountWhatHappened(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	n := 0
	run(t, &script{deliver: []bus.Message{message(), message(), message()}}, stage.NewMetrics(reg),
		func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
			switch n++; n {
			case 1:
				return []crawl.Event{&crawl.Outcome{}, &crawl.Outcome{}}, nil
			case 2:
				return nil, errors.New("later")
			}
			return nil, crawl.Permanent(errors.New("never"))
		})
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		got[f.GetName()] = f.GetMetric()[0].GetCounter().GetValue()
	}
	for name, want := range map[string]float64{"in": 3, "out": 2, "retried": 1, "dead": 1} {
		if v := got["whirlpool_stage_messages_"+name+"_total"]; v != want {
			t.Errorf("%s counts %v, want %v", name, v, want)
		}
	}
}
