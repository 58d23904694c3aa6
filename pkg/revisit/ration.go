package revisit

import "time"

// Ration gives visits out at a rate: those of the crawl, or of a host. What is not taken is lost but for Burst visits.
// It is a token bucket that mistrusts the clock: a jump forward is worth no more than a full bucket, and one back is
// worth nothing. So a day has PerDay visits, and Burst more for each jump. The zero value gives none.
type Ration struct {
	PerDay, Burst float64
	left          float64
	at            time.Time
}

// NewRation returns a ration with a full bucket. burst is at least 1.
func NewRation(perDay, burst float64) Ration {
	burst = max(burst, 1)
	return Ration{PerDay: perDay, Burst: burst, left: burst}
}

// Left is how many visits may be begun at a time; calls with later times give more.
func (r *Ration) Left(now time.Time) int {
	if !r.at.IsZero() {
		r.left = min(r.left+max(now.Sub(r.at).Hours(), 0)/24*r.PerDay, r.Burst)
	}
	r.at = now
	return int(r.left + 1e-9) // sums of parts of 1 may miss it by a little
}

// Take takes a visit, and reports whether there was one.
func (r *Ration) Take(now time.Time) bool {
	if r.Left(now) < 1 {
		return false
	}
	r.left--
	return true
}

// HostPerDay is how many revisits a day politeness leaves to a host: share of what the largest of its delay, its
// Crawl-delay and five times its last download time allow. share is below 1, as discovery, robots.txt and retries need
// turns too: .8 where nothing else is known.
func HostPerDay(delay, crawlDelay, download time.Duration, share float64) float64 {
	return share * float64(24*time.Hour) / float64(max(delay, crawlDelay, 5*download, time.Millisecond))
}

// Shares divides turns between revisits and discovery by deficit round robin: each has its share over time, and what
// has nothing to do gives its turns away without a claim to have them back.
type Shares struct {
	discovery float64 // its part, in [.1, .9]
	owed      float64 // turns that discovery was not given
}

// NewShares gives discovery a part of the turns; both sides have a tenth at least.
func NewShares(discovery float64) Shares { return Shares{discovery: min(max(discovery, .1), .9)} }

// Discover reports whether the next turn is discovery's, by what waits.
func (s *Shares) Discover(revisits, discovery bool) bool {
	if !revisits || !discovery {
		s.owed = 0
		return discovery
	}
	s.owed += s.discovery
	if s.owed < .5 {
		return false
	}
	s.owed--
	return true
}
