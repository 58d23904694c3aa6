package pipeline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// What is left of a job that was deleted is acknowledged, and counted apart: it is neither tried again nor buried.
func TestWhatWasDiscardedIsLetGo(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	s := &script{deliver: []bus.Message{message()}}
	run(t, s, pipeline.NewMetrics(reg), func(context.Context, *crawl.Fetch) ([]crawl.Event, error) {
		return nil, fmt.Errorf("job: %w", crawl.ErrDiscarded)
	})
	got := gather(t, reg)
	if s.results[0] != nil || got["whirlpool_stage_messages_discarded_total"] != 1 ||
		got["whirlpool_stage_messages_dead_total"] != 0 || got["whirlpool_stage_messages_retried_total"] != 0 {
		t.Errorf("settled with %v, counted %v", s.results[0], got)
	}
}
