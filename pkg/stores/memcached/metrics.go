package memcached

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count what was asked for and stored, by cache (robots, urls, dns) and result.
type metrics struct{ gets, stores *prometheus.CounterVec }

func newMetrics(reg prometheus.Registerer) metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "memcached", Name: name,
			Help: help},
			[]string{"cache", "result"})
		if reg != nil {
			reg.MustRegister(c)
		}
		return c
	}
	return metrics{
		gets: counter("gets_total", "Values asked for: hit, miss, error, or skipped while a server is left alone."),
		stores: counter("stores_total",
			"Values stored: ok, error, skipped while a server is left alone, or dropped because too many waited."),
	}
}

func (m *metrics) got(cache string, hits, asked int, err error) {
	m.gets.WithLabelValues(cache, "hit").Add(float64(hits))
	m.gets.WithLabelValues(cache, result(err, "miss")).Add(float64(asked - hits))
}

func (m *metrics) stored(cache string, err error) {
	m.stores.WithLabelValues(cache, result(err, "ok")).Inc()
}

// errDropped says that a value was not stored because too many waited.
var errDropped = errors.New("too many values wait to be stored")

func result(err error, good string) string {
	switch {
	case err == nil:
		return good
	case errors.Is(err, errDropped):
		return "dropped"
	case errors.Is(err, errResting), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "skipped"
	}
	return "error"
}
