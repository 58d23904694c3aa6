package fetcher

import (
	"context"
	"net"
	"net/http/httptrace"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// metrics count outcomes and time the requests that were sent.
type metrics struct {
	outcomes *prometheus.CounterVec
	statuses *prometheus.CounterVec
	bytes    prometheus.Counter
	seconds  *prometheus.HistogramVec
	first    prometheus.Histogram
	connect  prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) *metrics {
	opts := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "fetch", Name: name, Help: help}
	}
	times := func(name, help string) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "whirlpool", Subsystem: "fetch", Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(0.001, 3, 12)}
	}
	m := &metrics{
		outcomes: prometheus.NewCounterVec(opts("outcomes_total", "Attempts by verdict and reason."),
			[]string{"kind", "verdict", "reason"}),
		statuses: prometheus.NewCounterVec(opts("answers_total", "Answers by the first digit of their status."),
			[]string{"status"}),
		bytes: prometheus.NewCounter(opts("body_bytes_total", "Decoded octets of spooled bodies and robots.txt files.")),
		seconds: prometheus.NewHistogramVec(times("seconds",
			"Time from the request, or the try to connect, to the end of the answer, by the first digit of its status; none: "+
				"no answer."),
			[]string{"status"}),
		first: prometheus.NewHistogram(times("first_byte_seconds", "Time from the request to the answer's header.")),
		connect: prometheus.NewHistogram(times("connect_seconds",
			"Time to connect to an address or to the proxy, without TLS, where it succeeded. Connections that are used again "+
				"are not counted.")),
	}
	if reg != nil {
		reg.MustRegister(m.outcomes, m.statuses, m.bytes, m.seconds, m.first, m.connect)
	}
	return m
}

func (m *metrics) observe(out *crawl.Outcome) {
	m.outcomes.WithLabelValues(out.Task.Kind.String(), out.Verdict.String(), out.Reason).Inc()
	if out.Contacted() {
		m.seconds.WithLabelValues(statusClass(out.Status)).Observe(out.Ended.Sub(out.Started).Seconds())
	}
	if out.Status == 0 {
		return
	}
	m.statuses.WithLabelValues(statusClass(out.Status)).Inc()
	m.bytes.Add(float64(out.Bytes))
	m.first.Observe(out.FirstByte.Seconds())
}

// statusClass returns 2xx for a status from 200 to 299, and so on; none where there was no answer.
func statusClass(status int) string {
	if status == 0 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}

// dialFunc makes connections for a transport.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// timing returns dial with its connections timed, each address by itself and without looking up its name.
func (m *metrics) timing(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var mu sync.Mutex // addresses of two families are dialled at once where the proxy has both
		began := map[string]time.Time{}
		return dial(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			ConnectStart: func(_, addr string) {
				mu.Lock()
				defer mu.Unlock()
				began[addr] = time.Now()
			},
			ConnectDone: func(_, addr string, err error) {
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					m.connect.Observe(time.Since(began[addr]).Seconds())
				}
			},
		}), network, address)
	}
}
