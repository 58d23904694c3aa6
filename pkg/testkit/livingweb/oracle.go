package livingweb

import (
	"math"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Figures are how fresh a crawl was between two days, and what others would have been with as many visits. All are
// parts of the time, over all pages that change.
type Figures struct {
	Fresh   float64 // the crawl
	Bound   float64 // one that knows all rates, where changes come at random
	Uniform float64 // each page as often as the others
	Nutch   float64 // intervals that shrink by a fifth with a change and grow by two fifths without
	PerDay  float64 // visits
}

// Figures compares what was fetched between two days.
func (s *Server) Figures(from, to float64) (f Figures) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.PerDay = s.perDay(from, to)
	f.Fresh, f.Bound = s.freshOf(s.made(), from, to), s.bound(f.PerDay)
	f.Uniform, f.Nutch = s.freshOf(s.uniform(f.PerDay, to), from, to), s.freshOf(s.nutch(f.PerDay, to), from, to)
	return f
}

// Series are the Figures of each day until a day, where the others have as many visits as the crawl had from a day on.
func (s *Server) Series(from, to float64) (days []Figures) {
	s.mu.Lock()
	defer s.mu.Unlock()
	perDay := s.perDay(from, to)
	made, uniform, nutch, bound := s.made(), s.uniform(perDay, to), s.nutch(perDay, to), s.bound(perDay)
	for day := 0.; day+1 <= to; day++ {
		days = append(days, Figures{Fresh: s.freshOf(made, day, day+1), Uniform: s.freshOf(uniform, day, day+1),
			Nutch: s.freshOf(nutch, day, day+1), Bound: bound, PerDay: perDay})
	}
	return days
}

// perDay is how many visits a day the crawl made.
func (s *Server) perDay(from, to float64) float64 {
	visits := 0
	for _, p := range s.pages[:s.cfg.Pages] {
		for _, at := range p.fetches {
			if at >= from && at < to {
				visits++
			}
		}
	}
	return float64(visits) / (to - from)
}

// made are the visits of the crawl, by page.
func (s *Server) made() [][]float64 {
	out := make([][]float64, s.cfg.Pages)
	for i, p := range s.pages[:s.cfg.Pages] {
		out[i] = p.fetches
	}
	return out
}

// freshOf is the part of the time in which visits bring what the pages say.
func (s *Server) freshOf(visits [][]float64, from, to float64) float64 {
	sum := 0.
	for i, p := range s.pages[:s.cfg.Pages] {
		sum += p.fresh(visits[i], from, to)
	}
	return sum / float64(s.cfg.Pages)
}

// fresh is the part of the time in which the last fetch brought what the page says.
func (p *page) fresh(fetches []float64, from, to float64) float64 {
	sum := 0.
	for i, at := range fetches {
		end := to
		if i+1 < len(fetches) {
			end = min(end, fetches[i+1])
		}
		if n := p.version(at); n < len(p.changes) {
			end = min(end, p.changes[n])
		}
		sum += max(end-max(at, from), 0)
	}
	return sum / (to - from)
}

// bound is what one reaches that knows all rates: each page at its own pace, the value of all visits the same.
func (s *Server) bound(perDay float64) float64 {
	low, high := 1e-6, 1e6
	for range 60 {
		mid, sum := math.Sqrt(low*high), 0.
		for _, p := range s.pages[:s.cfg.Pages] {
			sum += 1 / revisit.Interval(p.rate, 1, mid)
		}
		if sum > perDay {
			low = mid
		} else {
			high = mid
		}
	}
	sum := 0.
	for _, p := range s.pages[:s.cfg.Pages] {
		sum += revisit.Fresh(p.rate, revisit.Interval(p.rate, 1, high))
	}
	return sum / float64(s.cfg.Pages)
}

// uniform visits all pages in turn.
func (s *Server) uniform(perDay, to float64) [][]float64 {
	every, out := float64(s.cfg.Pages)/perDay, make([][]float64, s.cfg.Pages)
	for i := range out {
		for at := every*float64(i)/float64(s.cfg.Pages) - every; at < to; at += every {
			out[i] = append(out[i], at)
		}
	}
	return out
}

// nutch visits the page that is due first, as many a day as there are.
func (s *Server) nutch(perDay, to float64) [][]float64 {
	n := s.cfg.Pages
	due, interval, fetches := make([]float64, n), make([]float64, n), make([][]float64, n)
	for i := range due {
		interval[i] = float64(n) / perDay
		due[i] = interval[i] * float64(i) / float64(n)
	}
	for at := 0.; at < to; at += 1 / perDay {
		i := slices.Index(due, slices.Min(due))
		p := s.pages[i]
		if k := len(fetches[i]); k > 0 && p.version(at) == p.version(fetches[i][k-1]) {
			interval[i] = min(interval[i]*1.4, 365)
		} else {
			interval[i] = max(interval[i]*.8, 1./24)
		}
		fetches[i], due[i] = append(fetches[i], at), at+interval[i]
	}
	return fetches
}

// Day is the day that it is.
func (s *Server) Day() float64 { return s.now() }

// LastVersion is the version of a page that was fetched last; −1: it never was.
func (s *Server) LastVersion(url string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pages {
		if s.hosts[p.host]+p.path == url {
			if n := len(p.fetches); n > 0 {
				return p.version(p.fetches[n-1])
			}
		}
	}
	return -1
}

// Fetched is how often a page was fetched.
func (s *Server) Fetched(url string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pages {
		if s.hosts[p.host]+p.path == url {
			return len(p.fetches)
		}
	}
	return 0
}

// LeastFetched is how often the page was fetched that was fetched least.
func (s *Server) LeastFetched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := math.MaxInt
	for _, p := range s.pages {
		least = min(least, len(p.fetches))
	}
	return least
}
