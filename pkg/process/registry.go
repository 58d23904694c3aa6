package process

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// newRegistry returns a registry with the figures of the process, and one that says which build it is.
func newRegistry(service, node string) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "whirlpool", Name: "build_info",
		Help: "1, with what runs here in its labels.", ConstLabels: prometheus.Labels{"service": service, "node": node,
			"version": crawl.Version, "revision": revision(), "goversion": runtime.Version()}})
	build.Set(1)
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build)
	return reg
}

// revision is the commit that the program was built from, where the build knew it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
