package fetcher

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// TestRequestsAreTimedByStatusAndConnectionsByThemselves makes three requests over one connection, and one to a port
// where nobody listens.
func TestRequestsAreTimedByStatusAndConnectionsByThemselves(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer srv.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	reg := prometheus.NewPedanticRegistry()
	b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) { d.Metrics = reg })
	for _, url := range []string{srv.URL + "/a", srv.URL + "/b", srv.URL + "/missing", closed.URL + "/"} {
		b.get(url, nil)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			counts[name] = m.GetHistogram().GetSampleCount()
		}
	}
	for name, want := range map[string]uint64{"whirlpool_fetch_seconds 2xx": 2, "whirlpool_fetch_seconds 4xx": 1,
		"whirlpool_fetch_seconds none": 1, "whirlpool_fetch_first_byte_seconds": 3, "whirlpool_fetch_connect_seconds": 1} {
		if got, ok := counts[name]; !ok || got != want {
			t.Errorf("%s counts %d, want %d", name, got, want)
		}
	}
}
