package fetch

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// metrics count outcomes and time the requests that were sent.
type metrics struct {
	outcomes *prometheus.CounterVec
	statuses *prometheus.CounterVec
	bytes    prometheus.Counter
	seconds  prometheus.Histogram
	first    prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) *metrics {
	opts := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "fetch", Name: name, Help: help}
	}
	times := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "whirlpool", Subsystem: "fetch", Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(0.001, 3, 12)})
	}
	m := &metrics{
		outcomes: prometheus.NewCounterVec(opts("outcomes_total", "Attempts by verdict and reason."),
			[]string{"kind", "verdict", "reason"}),
		statuses: prometheus.NewCounterVec(opts("answers_total", "Answers by the first digit of their status."), []string{"status"}),
		bytes:    prometheus.NewCounter(opts("body_bytes_total", "Decoded octets of spooled bodies and robots.txt files.")),
		seconds:  times("seconds", "Time from the request to the end of the answer."),
		first:    times("first_byte_seconds", "Time from the request to the answer's header."),
	}
	if reg != nil {
		reg.MustRegister(m.outcomes, m.statuses, m.bytes, m.seconds, m.first)
	}
	return m
}

func (m *metrics) observe(out *crawl.Outcome) {
	m.outcomes.WithLabelValues(out.Task.Kind.String(), out.Verdict.String(), out.Reason).Inc()
	if out.Contacted() {
		m.seconds.Observe(out.Ended.Sub(out.Started).Seconds())
	}
	if out.Status == 0 {
		return
	}
	m.statuses.WithLabelValues(strconv.Itoa(out.Status/100) + "xx").Inc()
	m.bytes.Add(float64(out.Bytes))
	m.first.Observe(out.FirstByte.Seconds())
}
