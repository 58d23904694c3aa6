package chain

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Figures are what a node did since the program started.
type Figures struct {
	Node    string      `json:"node"`
	At      crawl.Point `json:"at"`
	Use     string      `json:"use"`
	Calls   int64       `json:"calls"`
	Patched int64       `json:"patched"`
	Dropped int64       `json:"dropped"`
	Errors  int64       `json:"errors"`
	Skipped int64       `json:"skipped"` // "when" was not true
	Passed  int64       `json:"passed"`  // not called, because it had failed too often
	// P50 and P95 are times of a call, rounded up to a bound: within a factor of two. 0: there was none.
	P50 time.Duration `json:"p50"`
	P95 time.Duration `json:"p95"`
	// Tripped is until when it is not called, because it failed too often; zero: it is.
	Tripped time.Time `json:"tripped,omitzero"`

	took [len(bounds) + 1]int64
}

// bounds are those of the classes of times.
var bounds = [...]time.Duration{1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 64e3, 128e3, 256e3, 512e3, 1e6, 2e6, 4e6, 8e6, 16e6,
	32e6, 64e6, 128e6, 256e6, 512e6, 1e9, 2e9}

func (f *Figures) add(took time.Duration) {
	f.Calls++
	i, _ := slices.BinarySearch(bounds[:], took)
	f.took[i]++
}

// quantile is the bound below which a part of the calls lie.
func (f *Figures) quantile(part float64) time.Duration {
	if f.Calls == 0 {
		return 0
	}
	sum := int64(0)
	for i, n := range f.took {
		if sum += n; float64(sum) >= part*float64(f.Calls) {
			return bounds[min(i, len(bounds)-1)]
		}
	}
	return bounds[len(bounds)-1]
}

// Figures returns what the nodes of a job did, in the order of the points and of their names.
func (r *Runner) Figures(job crawl.JobID) []Figures {
	r.mu.Lock()
	var mine []*state
	for k, s := range r.states {
		if k.job == job {
			mine = append(mine, s)
		}
	}
	r.mu.Unlock()
	out := make([]Figures, 0, len(mine))
	for _, s := range mine {
		s.mu.Lock()
		f := s.figures
		s.mu.Unlock()
		f.P50, f.P95 = f.quantile(.5), f.quantile(.95)
		out = append(out, f)
	}
	return sorted(out)
}

// Lately returns the figures of the jobs that plug-ins were called for last, of so many at most.
func (r *Runner) Lately(most int) map[crawl.JobID][]Figures {
	r.mu.Lock()
	last := map[crawl.JobID]uint64{}
	for k, s := range r.states {
		last[k.job] = max(last[k.job], s.last)
	}
	for k, c := range r.compiled {
		if at, known := last[k.job]; known {
			last[k.job] = max(at, c.last)
		}
	}
	r.mu.Unlock()
	jobs := slices.SortedFunc(maps.Keys(last), func(a, b crawl.JobID) int { return cmp.Compare(last[b], last[a]) })
	all := map[crawl.JobID][]Figures{}
	for _, id := range jobs[:min(len(jobs), most)] {
		all[id] = r.Figures(id)
	}
	return all
}

// Join adds up figures of several programs, by node, point and plug-in. Times of calls are the longest of them.
func Join(parts ...[]Figures) []Figures {
	type key struct {
		node string
		at   crawl.Point
		use  string
	}
	sums := map[key]Figures{}
	for _, part := range parts {
		for i := range part {
			f := &part[i]
			k := key{f.Node, f.At, f.Use}
			s, known := sums[k]
			if !known {
				s = Figures{Node: f.Node, At: f.At, Use: f.Use}
			}
			s.Calls, s.Patched, s.Dropped, s.Errors = s.Calls+f.Calls, s.Patched+f.Patched, s.Dropped+f.Dropped,
				s.Errors+f.Errors
			s.Skipped, s.Passed = s.Skipped+f.Skipped, s.Passed+f.Passed
			s.P50, s.P95 = max(s.P50, f.P50), max(s.P95, f.P95)
			if f.Tripped.After(s.Tripped) {
				s.Tripped = f.Tripped
			}
			sums[k] = s
		}
	}
	return sorted(slices.Collect(maps.Values(sums)))
}

func sorted(all []Figures) []Figures {
	slices.SortFunc(all, func(a, b Figures) int {
		return cmp.Or(slices.Index(crawl.NodePoints(), a.At)-slices.Index(crawl.NodePoints(), b.At),
			cmp.Compare(a.Node, b.Node), cmp.Compare(a.Use, b.Use))
	})
	return all
}

// Forget drops the figures of a job that was deleted.
func (r *Runner) Forget(job crawl.JobID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.states {
		if k.job == job {
			delete(r.states, k)
		}
	}
}

// metrics are the calls of all jobs, by plug-in.
type metrics struct {
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	if reg == nil {
		return nil
	}
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "plugin",
			Name: "calls_total", Help: "Calls of plug-ins by what came of them: pass, patch, drop, links or error."},
			[]string{"plugin", "point", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "whirlpool", Subsystem: "plugin",
			Name: "seconds", Help: "Time of a call of a plug-in.", Buckets: prometheus.ExponentialBuckets(1e-6, 4, 11)},
			[]string{"plugin", "point"}),
	}
	reg.MustRegister(m.calls, m.seconds)
	return m
}

func (m *metrics) observe(n *node, result string, took time.Duration) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(n.spec.Use, string(n.spec.At), result).Inc()
	m.seconds.WithLabelValues(n.spec.Use, string(n.spec.At)).Observe(took.Seconds())
}
