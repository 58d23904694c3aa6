package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
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
		one := &delivery{Context: ctx, result: make(chan error, 2)}
		go func() { one.result <- h(one, m) }()
		s.results = append(s.results, <-one.result)
	}
	return nil
}

// delivery is the context of a handler. Its result is what the handler returned, or what it was abandoned with.
type delivery struct {
	context.Context
	result chan error
}

func (d *delivery) Value(key any) any {
	if _, ok := key.(bus.AbandonKey); ok {
		return d
	}
	return d.Context.Value(key)
}

func (d *delivery) Life() context.Context { return d.Context }

func (d *delivery) Abandon(err error) bool {
	d.result <- err
	return true
}

type handler func(context.Context, *crawl.Fetch) ([]crawl.Event, error)

func (h handler) Handle(ctx context.Context, f *crawl.Fetch) ([]crawl.Event, error) { return h(ctx, f) }

func run(t *testing.T, s *script, m *pipeline.Metrics, h handler) {
	t.Helper()
	cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Workers: bus.Workers{Min: 1, Max: 1},
		Log: slog.New(slog.DiscardHandler), Metrics: m}
	if err := pipeline.Run(t.Context(), s, cfg, h); err != nil {
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
	var got []pipeline.Delivery
	run(t, &script{deliver: []bus.Message{message(), again, retried}}, nil,
		func(ctx context.Context, _ *crawl.Fetch) ([]crawl.Event, error) {
			got = append(got, pipeline.DeliveryOf(ctx))
			return nil, nil
		})
	if got[0].Repeat || !got[1].Repeat || !got[2].Repeat || got[2].Attempt != 2 || got[0].ID.IsZero() {
		t.Errorf("deliveries %+v", got)
	}
	if d := pipeline.DeliveryOf(t.Context()); d != (pipeline.Delivery{}) {
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
		"an error is passed on": {script{},
			func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { return nil, broken }, false, "store is away"},
		"a panic buries the message": {script{},
			func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { panic("poison") }, true, "poison"},
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
				t.Errorf("error %v (permanent %v), want one with %q (permanent %v)", err, crawl.IsPermanent(err), tt.want,
					tt.permanent)
			}
			if len(s.published) > 0 {
				t.Errorf("published %+v in spite of it", s.published)
			}
		})
	}
}

// blank is an event that says nothing about itself.
type blank struct{}

func (blank) Topic() string { return crawl.TopicFetch }
func (blank) Key() string   { return "" }

func TestAFailureIsLoggedWithJobAndURL(t *testing.T) {
	a, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	task := crawl.Task{Job: "j", URL: a}
	batch := crawl.Batch{Job: "j", Tasks: crawl.TaskList{task}, Exclusions: crawl.ExclusionList{{URL: task.URL}}}
	later := errors.New("later")
	for name, tt := range map[string]struct {
		event   crawl.Event
		attempt int
		err     error
		want    []string
	}{
		"a task": {&crawl.Fetch{Task: task}, 1, later,
			[]string{"level=WARN", "stage=test", "job=j", "url=http://a.test/", "attempt=1", "error=later"}},
		"often":    {&crawl.Fetch{Task: task}, 3, later, []string{"level=ERROR"}},
		"for good": {&crawl.Fetch{Task: task}, 0, crawl.Permanent(later), []string{"level=ERROR"}},
		"an event of another topic": {&crawl.Page{Task: task}, 0, nil,
			[]string{"level=ERROR", "job=j", "url=http://a.test/", "*crawl.Page"}},
		"a batch":                  {&crawl.Filtered{Batch: batch}, 0, nil, []string{"job=j", "urls=2", "*crawl.Filtered"}},
		"an event without subject": {blank{}, 0, nil, []string{"stage=test", "pipeline_test.blank"}},
		"no event":                 {nil, 0, nil, []string{"stage=test", "<nil>"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Log: slog.New(slog.NewTextHandler(&out, nil))}
			s := &script{deliver: []bus.Message{{ID: task.ID(), Event: tt.event, Attempt: tt.attempt}}}
			h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { return nil, tt.err })
			if err := pipeline.Run(t.Context(), s, cfg, h); err != nil || s.results[0] == nil {
				t.Fatalf("error %v, of the message %v", err, s.results[0])
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) || strings.Count(out.String(), "message failed") != 1 {
					t.Errorf("logged %q, want one line with %q", out.String(), want)
				}
			}
		})
	}
}

// A store that stays away is one line a minute, and an error to people.
func TestAStoreThatStaysAwayIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Log: slog.New(slog.NewTextHandler(&out, nil))}
		s := &script{}
		for range 40 {
			m := message()
			m.Attempt = 6
			s.deliver = append(s.deliver, m)
		}
		h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
			return nil, fmt.Errorf("ledger: %w", &bus.AwayError{Err: errors.New("it only reads")})
		})
		if err := pipeline.Run(t.Context(), s, cfg, h); err != nil || len(s.results) != 40 || !bus.IsAway(s.results[0]) {
			t.Fatalf("error %v, of the messages %v", err, s.results)
		}
		if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=ERROR") ||
			!strings.Contains(got, "it only reads") {
			t.Errorf("logged %q, want one error", got)
		}
	})
}

// A refusal by the fence, say, concerns each message that a node has in hand: that is one line and no alarm, however
// often they come back.
func TestExpectedRefusalsAreOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Log: slog.New(slog.NewTextHandler(&out, nil))}
		refusal := &bus.RetryError{After: time.Second, Err: errors.New("fenced"), Expected: true}
		s := &script{}
		for attempt := range 40 {
			m := message()
			m.Attempt = attempt
			s.deliver = append(s.deliver, m)
		}
		n := 0
		h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
			if n++; n == 39 {
				time.Sleep(time.Minute) // in the test's own time
			}
			return nil, fmt.Errorf("store: %w", refusal)
		})
		if err := pipeline.Run(t.Context(), s, cfg, h); err != nil || len(s.results) != 40 || !bus.IsExpected(s.results[0]) {
			t.Fatalf("error %v, of the messages %v", err, s.results)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || strings.Contains(out.String(), "level=WARN") || strings.Contains(out.String(), "level=ERROR") {
			t.Fatalf("logged %q, want two lines in a minute", out.String())
		}
		for i, want := range []string{"others_since_the_last_line=0", "others_since_the_last_line=37"} {
			for _, want := range []string{want, "level=INFO", "stage=test", "fenced"} {
				if !strings.Contains(lines[i], want) {
					t.Errorf("line %d is %q, want one with %q", i, lines[i], want)
				}
			}
		}
	})
}

func TestMetricsCountWhatHappened(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	n := 0
	run(t, &script{deliver: []bus.Message{message(), message(), message()}}, pipeline.NewMetrics(reg),
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

// settler is a handler that notes how much was published when it is told.
type settler struct {
	handler
	bus  *script
	seen []int
	err  error
}

func (s *settler) Published(context.Context, *crawl.Fetch) error {
	s.seen = append(s.seen, len(s.bus.published))
	return s.err
}

func TestSettlersAreToldAfterTheOutputsArePublished(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		handled, refused, noted error
		outputs                 int
		told                    int
	}{
		"with outputs":         {outputs: 2, told: 1},
		"without":              {told: 1},
		"the handler fails":    {handled: broken, outputs: 1},
		"the bus refuses":      {refused: broken, outputs: 1},
		"the note is not made": {noted: broken, outputs: 1, told: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := &script{deliver: []bus.Message{message()}, refuse: tt.refused}
			s := &settler{bus: b, err: tt.noted, handler: func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
				return make([]crawl.Event, tt.outputs), tt.handled
			}}
			cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Workers: bus.Workers{Min: 1, Max: 1},
				Log: slog.New(slog.DiscardHandler)}
			if err := pipeline.Run[*crawl.Fetch](t.Context(), b, cfg, s); err != nil {
				t.Fatal(err)
			}
			if len(s.seen) != tt.told || tt.told > 0 && s.seen[0] != tt.outputs {
				t.Errorf("told after %v outputs, want %d times after %d", s.seen, tt.told, tt.outputs)
			}
			if failed := errors.Join(tt.handled, tt.refused, tt.noted) != nil; failed != (b.results[0] != nil) {
				t.Errorf("the message ended with %v", b.results[0])
			}
		})
	}
}

// A panic is told with its stack, in the log and in the reason that goes into the dead letter.
func TestAPanicKeepsItsStack(t *testing.T) {
	for name, limit := range map[string]time.Duration{"called directly": 0, "with a limit": time.Minute} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Limit: limit,
				Log: slog.New(slog.NewTextHandler(&out, nil))}
			s := &script{deliver: []bus.Message{message()}}
			h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { return poisoned(nil), nil })
			if err := pipeline.Run(t.Context(), s, cfg, h); err != nil {
				t.Fatal(err)
			}
			for where, text := range map[string]string{"the error": s.results[0].Error(), "the log": out.String()} {
				if !strings.Contains(text, "stage test panicked") || !strings.Contains(text, "poisoned") ||
					!strings.Contains(text, "stage_test.go:") {
					t.Errorf("%s says %q, want the stage and the stack", where, text)
				}
			}
		})
	}
}

//go:noinline
func poisoned(m map[string]int) []crawl.Event {
	m["poison"]++
	return nil
}

// A handler that goes by its context is cut off at the limit, tried again and then buried; one that does not is left to
// itself, and its message is not handled again while it runs. Other messages go on.
func TestAHandlerThatNeverEndsIsCutOff(t *testing.T) {
	for name, obeys := range map[string]bool{"it goes by its context": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				stuck, open := message(), make(chan struct{})
				var good bus.Message
				good.ID, good.Event = stuck.ID.Child("other", 0), &crawl.Fetch{}
				s := &script{}
				for attempt := range 3 {
					stuck.Attempt = attempt
					s.deliver = append(s.deliver, stuck, good)
				}
				h := handler(func(ctx context.Context, _ *crawl.Fetch) ([]crawl.Event, error) {
					if pipeline.DeliveryOf(ctx).ID == good.ID {
						return []crawl.Event{&crawl.Outcome{}}, nil
					}
					calls.Add(1)
					if obeys {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					<-open
					return []crawl.Event{&crawl.Page{}}, nil
				})
				var out bytes.Buffer
				cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Limit: time.Minute,
					Log: slog.New(slog.NewTextHandler(&out, nil))}
				began := time.Now()
				if err := pipeline.Run(t.Context(), s, cfg, h); err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				for i := 0; i < len(s.results); i += 2 {
					err := s.results[i]
					again, _ := bus.Disposition(err, i/2)
					if err == nil || !strings.Contains(err.Error(), "stage test: cut off after 1m0s") || again != (i < 4) ||
						s.results[i+1] != nil {
						t.Errorf("delivery %d: error %v (again: %v); of the other message %v", i/2, err, again, s.results[i+1])
					}
				}
				if want := map[bool]int64{true: 3, false: 1}[obeys]; calls.Load() != want || took > 4*time.Minute ||
					len(s.published) != 3 {
					t.Errorf("%d calls in %v, %d outputs; want %d calls, and those of the other message", calls.Load(), took,
						len(s.published), want)
				}
				close(open) // what it returns now is nobody's
				synctest.Wait()
				if len(s.published) != 3 {
					t.Errorf("published %+v", s.published)
				}
			})
		})
	}
}

// When the stage stops, a handler that does not go by its context holds nobody up for ever.
func TestAStopDoesNotWaitForAHandlerThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		open := make(chan struct{})
		s := &script{deliver: []bus.Message{message()}}
		h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { stop(); <-open; return nil, nil })
		cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Limit: time.Hour, Log: slog.New(slog.DiscardHandler)}
		began := time.Now()
		if err := pipeline.Run(ctx, s, cfg, h); err != nil || time.Since(began) > time.Minute || s.results[0] == nil {
			t.Errorf("stopped after %v with %v, of the message %v", time.Since(began), err, s.results)
		}
		close(open)
		synctest.Wait()
	})
}

// A limit costs a call an entry in the list of those that are watched.
func BenchmarkDeliver(b *testing.B) {
	for name, limit := range map[string]time.Duration{"without a limit": 0, "with a limit": time.Minute} {
		b.Run(name, func(b *testing.B) {
			s := &script{deliver: make([]bus.Message, b.N)}
			for i := range s.deliver {
				s.deliver[i] = message()
			}
			b.ReportAllocs()
			b.ResetTimer()
			cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Limit: limit, Log: slog.New(slog.DiscardHandler)}
			h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { return nil, nil })
			if err := pipeline.Run(b.Context(), s, cfg, h); err != nil {
				b.Fatal(err)
			}
		})
	}
}
