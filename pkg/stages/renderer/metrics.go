package renderer

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// metrics are the stage's figures.
type metrics struct {
	renders *prometheus.CounterVec
	cpu     prometheus.Counter
	wall    prometheus.Histogram
}

// newMetrics registers the figures; a nil registry takes none.
func newMetrics(reg prometheus.Registerer) *metrics {
	opts := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "render", Name: name, Help: help}
	}
	m := &metrics{
		renders: prometheus.NewCounterVec(opts("pages_total",
			"Pages at the renderer, by result: done, hang, crash, limit, stop; round: it asked for more; left: its template "+
				"does not pay; no-browser."), []string{"result"}),
		cpu: prometheus.NewCounter(opts("cpu_seconds_total", "Processor time of the browser for renders.")),
		wall: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "whirlpool", Subsystem: "render", Name: "seconds",
			Help: "Time of a render.", Buckets: []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16}}),
	}
	for _, result := range []string{render.Done, render.Hang, render.Crash, render.Limit, "round", "left", "no-browser"} {
		m.renders.WithLabelValues(result) // a series exists from the start
	}
	if reg != nil {
		reg.MustRegister(m.renders, m.cpu, m.wall)
	}
	return m
}

// ended counts a page; res is nil where none was rendered.
func (m *metrics) ended(result string, res *render.Result) {
	m.renders.WithLabelValues(result).Inc()
	if res != nil {
		m.cpu.Add(res.CPU.Seconds())
		m.wall.Observe(res.Wall.Seconds())
	}
}
