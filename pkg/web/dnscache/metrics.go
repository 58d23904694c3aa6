package dnscache

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the latencies of lookups by whether memory had the answer, and the results of those that went out.
type metrics struct {
	cached, uncached     prometheus.Observer
	found, absent, fails prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) metrics {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "whirlpool", Subsystem: "dns",
		Name: "lookup_seconds", Help: "Time of a lookup, by whether the answer was in memory.",
		Buckets: prometheus.ExponentialBuckets(1e-6, 3, 16)}, []string{"cached"})
	results := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "dns",
		Name: "answers_total", Help: "Lookups that were not in memory, by result."}, []string{"result"})
	if reg != nil {
		reg.MustRegister(seconds, results)
	}
	return metrics{cached: seconds.WithLabelValues("yes"), uncached: seconds.WithLabelValues("no"),
		found: results.WithLabelValues("found"), absent: results.WithLabelValues("no-such-host"),
		fails: results.WithLabelValues("failed")}
}

func (m *metrics) observe(cached bool, err error, took time.Duration) {
	if cached {
		m.cached.Observe(took.Seconds())
		return
	}
	m.uncached.Observe(took.Seconds())
	switch {
	case err == nil:
		m.found.Inc()
	case errors.Is(err, ErrNoSuchHost):
		m.absent.Inc()
	default:
		m.fails.Inc()
	}
}
