package control

import "time"

// Rate is a rate of pages over the last ten seconds.
type Rate struct {
	samples []sample
	first   int64
	begun   bool
}

type sample struct {
	at    time.Time
	pages int64
}

// Add takes in how many pages there are now, and returns the rate in pages a second.
func (r *Rate) Add(now time.Time, pages int64) float64 {
	if !r.begun {
		r.begun, r.first = true, pages
	}
	r.samples = append(r.samples, sample{now, pages})
	for len(r.samples) > 2 && now.Sub(r.samples[0].at) > 10*time.Second {
		r.samples = r.samples[1:]
	}
	first := r.samples[0]
	if d := now.Sub(first.at).Seconds(); d > 0 {
		return float64(pages-first.pages) / d
	}
	return 0
}

// Overall is the rate since the first Add.
func (r *Rate) Overall(pages int64, took time.Duration) float64 {
	return float64(pages-r.first) / max(took.Seconds(), 1e-9)
}
