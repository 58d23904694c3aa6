package node

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// asProgram runs do as the body of a program.
func asProgram(t *testing.T, do func(p *process.Program)) {
	t.Helper()
	cfg := process.Default()
	cfg.HTTP.Listen, cfg.Pprof.Listen, cfg.Node = "127.0.0.1:0", "", "here"
	err := process.Execute(t.Context(), "parser", &cfg, io.Discard,
		func(_ context.Context, p *process.Program) error { do(p); return nil })
	if err != nil {
		t.Fatal(err)
	}
}

func TestAgentsDoWhatIsAskedOfThem(t *testing.T) {
	const configured = 8
	release := map[string]string{SettingIdleRelease: "1m"}
	for name, c := range map[string]struct {
		orders  postgres.Orders
		idle    time.Duration // since when it has nothing to do
		busy    int64
		workers int
		ends    bool
	}{
		"nothing": {workers: configured},
		"more workers": {orders: postgres.Orders{Settings: map[string]string{"workers.parser": "16"}},
			workers: 16},
		"workers of another stage": {orders: postgres.Orders{Settings: map[string]string{"workers.due": "16"}},
			workers: configured},
		"on this node": {orders: postgres.Orders{Settings: map[string]string{"workers.parser": "16",
			"workers.parser@here": "3"}},
			workers: 3},
		"on another node": {orders: postgres.Orders{Settings: map[string]string{"workers.parser": "16",
			"workers.parser@there": "3"}},
			workers: 16},
		"no more on this node": {orders: postgres.Orders{Settings: map[string]string{"workers.parser": "16",
			"workers.parser@here": ""}},
			workers: 16},
		"nonsense": {orders: postgres.Orders{Settings: map[string]string{"workers.parser": "many",
			SettingIdleRelease: "x"}}, workers: configured},
		"to stop": {orders: postgres.Orders{Wish: postgres.WishStop,
			Settings: map[string]string{"workers.parser": "16"}}},
		"to end": {orders: postgres.Orders{Wish: postgres.WishDrain}, ends: true},
		"idle for long, beside another": {orders: postgres.Orders{Settings: release, Others: 1}, idle: time.Hour,
			workers: configured, ends: true},
		"idle for long, alone": {orders: postgres.Orders{Settings: release}, idle: time.Hour,
			workers: configured},
		"idle for a moment": {orders: postgres.Orders{Settings: release, Others: 1}, idle: time.Second,
			workers: configured},
		"busy for long": {orders: postgres.Orders{Settings: release, Others: 1}, idle: time.Hour, busy: 1,
			workers: configured},
		"idle for long, nobody is released": {orders: postgres.Orders{Others: 1}, idle: time.Hour, workers: configured},
		"idle for long, and stopped": {orders: postgres.Orders{Wish: postgres.WishStop, Settings: release, Others: 1},
			idle: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			asProgram(t, func(p *process.Program) {
				cfg, ends := Default(), 0
				c1 := &cluster{p: p, roles: []Role{Parser}, capacity: cfg.Adjust(),
					metrics: pipeline.NewMetrics(prometheus.NewRegistry())}
				c1.capacity.standard[Parser] = configured
				a := c1.newAgent(func() { ends++ })
				a.look()
				a.own.Since, a.own.Busy = time.Now().Add(-c.idle), c.busy
				a.obey(&c.orders)
				a.obey(&c.orders) // again: it ends once
				if got := c1.capacity.Workers(Parser)["parser"]; got != c.workers || ends != map[bool]int{true: 1}[c.ends] {
					t.Errorf("it has %d workers, want %d; it ended %d times, want %v", got, c.workers, ends, c.ends)
				}
			})
		})
	}
}
