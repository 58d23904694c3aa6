package pipeline

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Metrics are the figures of a node's stages, by the label stage. How deep a stage's queue is, the bus knows.
type Metrics struct {
	in, out, retried, dead, discarded *prometheus.CounterVec
	latency                           *prometheus.HistogramVec
	busy, limit                       *prometheus.GaugeVec
	load                              load
}

// load counts what the stages of a program do, all together.
type load struct{ busy, handled atomic.Int64 }

// Load returns how many messages are being handled now, and how many were handled since the start.
func (m *Metrics) Load() (busy, handled int64) { return m.load.busy.Load(), m.load.handled.Load() }

// bounded notes how many messages of a stage may be handled at once now.
func (m *Metrics) bounded(stage string, most int) {
	if m != nil {
		m.limit.WithLabelValues(stage).Set(float64(most))
	}
}

// NewMetrics registers the metrics of stages.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	labels := []string{"stage"}
	counter := func(name, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "stage", Name: name,
			Help: help}, labels)
		reg.MustRegister(c)
		return c
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "whirlpool", Subsystem: "stage", Name: name, Help: help},
			labels)
		reg.MustRegister(g)
		return g
	}
	m := &Metrics{
		in:        counter("messages_in_total", "Messages handled, repeats included."),
		out:       counter("messages_out_total", "Messages published."),
		retried:   counter("messages_retried_total", "Messages whose handler failed for now."),
		dead:      counter("messages_dead_total", "Messages whose handler failed for good."),
		discarded: counter("messages_discarded_total", "Messages of jobs that were deleted."),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "whirlpool", Subsystem: "stage",
			Name: "handle_seconds", Help: "Time from delivery until the outputs were published.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10)}, labels),
		busy:  gauge("workers_busy", "Messages being handled now."),
		limit: gauge("workers_limit", "Messages that may be handled at once."),
	}
	reg.MustRegister(m.latency)
	return m
}

// figures are the metrics of one stage. They exist from its start, so that a rate over them is known from the first
// message.
type figures struct {
	in, out, retried, dead, discarded prometheus.Counter
	latency                           prometheus.Observer
	busy                              prometheus.Gauge
	load                              *load
}

// of returns the figures of a stage with so many workers; nil where m is.
func (m *Metrics) of(stage string, workers bus.Workers) *figures {
	if m == nil {
		return nil
	}
	m.bounded(stage, workers.Most())
	return &figures{in: m.in.WithLabelValues(stage), out: m.out.WithLabelValues(stage),
		retried: m.retried.WithLabelValues(stage), dead: m.dead.WithLabelValues(stage),
		discarded: m.discarded.WithLabelValues(stage), latency: m.latency.WithLabelValues(stage),
		busy: m.busy.WithLabelValues(stage), load: &m.load}
}

// began notes that a worker took up a message.
func (f *figures) began() {
	if f != nil {
		f.busy.Inc()
		f.load.busy.Add(1)
	}
}

// letGo notes that a message belonged to a job that was deleted.
func (f *figures) letGo() {
	if f != nil {
		f.discarded.Inc()
	}
}

// ended notes what became of a message that its handler's attempt-th failures came before. One whose handler was
// stopped from outside, as cancelled says, did not fail.
func (f *figures) ended(out, attempt int, took time.Duration, err error, cancelled bool) {
	if f == nil {
		return
	}
	f.busy.Dec()
	f.load.busy.Add(-1)
	f.load.handled.Add(1)
	f.in.Inc()
	f.out.Add(float64(out))
	f.latency.Observe(took.Seconds())
	if err == nil || cancelled {
		return
	}
	if again, _ := bus.Disposition(err, attempt); again {
		f.retried.Inc()
	} else {
		f.dead.Inc()
	}
}
