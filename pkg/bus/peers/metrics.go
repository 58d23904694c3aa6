package peers

import "github.com/prometheus/client_golang/prometheus"

// metrics are the figures of what goes to other nodes, by the label node; nil: none.
type metrics struct {
	done, failures *prometheus.CounterVec
	open           prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	if reg == nil {
		return nil
	}
	counter := func(name, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "peer", Name: name,
			Help: help}, []string{"node"})
		reg.MustRegister(c)
		return c
	}
	m := &metrics{
		done: counter("messages_published_total", "Messages that the broker of another node has confirmed."),
		failures: counter("messages_failed_total",
			"Messages that could not be published to another node, and come back; each try counts."),
		open: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "whirlpool", Subsystem: "peer", Name: "nodes",
			Help: "Other nodes that a connection is kept to, or tried."}),
	}
	reg.MustRegister(m.open)
	return m
}

func (m *metrics) published(node string, n int) {
	if m != nil {
		m.done.WithLabelValues(node).Add(float64(n))
	}
}

func (m *metrics) failed(node string, n int) {
	if m != nil {
		m.failures.WithLabelValues(node).Add(float64(n))
	}
}

func (m *metrics) peers(n int) {
	if m != nil {
		m.open.Set(float64(n))
	}
}
