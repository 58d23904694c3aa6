package pipeline_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// gather returns the counters and gauges by name, those of the only stage.
func gather(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		got[f.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return got
}

func TestBusyWorkersAreCountedWhileTheyWork(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	var during map[string]float64
	run(t, &script{deliver: []bus.Message{message()}}, pipeline.NewMetrics(reg),
		func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
			during = gather(t, reg)
			return nil, nil
		})
	const busy, limit = "whirlpool_stage_workers_busy", "whirlpool_stage_workers_limit"
	if after := gather(t, reg); during[busy] != 1 || after[busy] != 0 || during[limit] != 1 {
		t.Errorf("busy %v of %v, afterwards %v", during[busy], during[limit], after[busy])
	}
}

func TestFiguresStandBeforeTheFirstMessage(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	run(t, &script{}, pipeline.NewMetrics(reg), nil)
	got := gather(t, reg)
	for _, name := range []string{"in", "out", "retried", "dead"} {
		if _, ok := got["whirlpool_stage_messages_"+name+"_total"]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestFailuresCountAsTheBusTreatsThem(t *testing.T) {
	spent := message()
	spent.Attempt = bus.MaxAttempts
	for name, tt := range map[string]struct {
		message       bus.Message
		err           error
		stop          bool
		retried, dead float64
	}{
		"a fault that passes":         {message: message(), err: errors.New("later"), retried: 1},
		"one too many":                {message: spent, err: errors.New("later"), dead: 1},
		"a permanent one":             {message: message(), err: crawl.Permanent(errors.New("never")), dead: 1},
		"an event of another topic":   {message: bus.Message{Event: &crawl.Page{}}, dead: 1},
		"the program stopped it":      {message: message(), err: context.Canceled, stop: true},
		"retry, however often before": {message: spent, err: &bus.RetryError{Err: errors.New("x")}, retried: 1},
	} {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewPedanticRegistry()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
				if tt.stop {
					cancel()
				}
				return nil, tt.err
			})
			cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Workers: bus.Workers{Min: 1, Max: 1},
				Log: slog.New(slog.DiscardHandler), Metrics: pipeline.NewMetrics(reg)}
			if err := pipeline.Run(ctx, &script{deliver: []bus.Message{tt.message}}, cfg, h); err != nil {
				t.Fatal(err)
			}
			got := gather(t, reg)
			if got["whirlpool_stage_messages_in_total"] != 1 || got["whirlpool_stage_messages_retried_total"] != tt.retried ||
				got["whirlpool_stage_messages_dead_total"] != tt.dead || got["whirlpool_stage_workers_busy"] != 0 {
				t.Errorf("figures %v, want retried %v, dead %v", got, tt.retried, tt.dead)
			}
		})
	}
}
