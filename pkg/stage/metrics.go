package stage

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Metrics are the figures of a node's stages, by the label stage.
type Metrics struct {
	in, out, retried, dead *prometheus.CounterVec
	latency                *prometheus.HistogramVec
}

// NewMetrics registers the metrics of stages.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "stage", Name: name, Help: help},
			[]string{"stage"})
		reg.MustRegister(c)
		return c
	}
	m := &Metrics{
		in:      counter("messages_in_total", "Messages handled, repeats included."),
		out:     counter("messages_out_total", "Messages published."),
		retried: counter("messages_retried_total", "Messages whose handler failed for now."),
		dead:    counter("messages_dead_total", "Messages whose handler failed for good."),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "whirlpool", Subsystem: "stage",
			Name: "handle_seconds", Help: "Time from delivery until the outputs were published.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10)}, []string{"stage"}),
	}
	reg.MustRegister(m.latency)
	return m
}

func (m *Metrics) observe(stage string, out int, took time.Duration, err error) {
	if m == nil {
		return
	}
	m.in.WithLabelValues(stage).Inc()
	m.out.WithLabelValues(stage).Add(float64(out))
	m.latency.WithLabelValues(stage).Observe(took.Seconds())
	switch {
	case err == nil:
	case crawl.IsPermanent(err):
		m.dead.WithLabelValues(stage).Inc()
	default:
		m.retried.WithLabelValues(stage).Inc()
	}
}
