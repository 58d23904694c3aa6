// Package livingweb is a small web whose pages change while it is served: at random, in bursts or by day, each at a
// rate of its own, seeded. It knows when each page changed and when it was fetched, so it can tell how fresh a crawl
// was: it is the oracle of tests and demos of continuous crawls.
package livingweb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// Habit is how pages change.
type Habit int

// The habits.
const (
	Poisson Habit = iota // at random
	Bursty               // ten days of changes after forty of silence
	Daily                // at random, within eight hours of the day
)

// Config says what web it is.
type Config struct {
	Seed         uint64
	Hosts, Pages int // Pages in all, besides the home page of each host
	Habit        Habit
	// Days is for how long pages change.
	Days float64
	// Median is the time between two changes of the page in the middle, in days; Spread the deviation of the logarithm.
	Median, Spread float64
	Calendar       revisit.Calendar
	Lists          bool   // each host has a sitemap with the dates of changes, which its robots.txt names
	Dated          bool   // answers have a Last-Modified
	At             string // address of the hosts; empty: 127.0.0.1
}

// Web is a living web.
type Web struct {
	cfg   Config
	pages []*page
	mu    sync.Mutex
	total int
}

// page is a page and what happened to it. Times are days since Calendar.Start.
type page struct {
	id      uint64
	host    int
	path    string
	rate    float64
	changes []float64
	fetches []float64
	status  int     // of its answers; 0: 200
	since   float64 // the day on which it came back
	noIndex bool
}

// New makes a web. Nothing is served yet.
func New(cfg Config) *Web {
	w := &Web{cfg: cfg}
	rng := rand.New(rand.NewPCG(cfg.Seed, 1))
	for i := range cfg.Pages {
		p := &page{id: uint64(i), host: i % cfg.Hosts, path: fmt.Sprintf("/page/%s", letters(uint64(i))),
			rate: math.Exp(rng.NormFloat64()*cfg.Spread) / cfg.Median}
		p.changes = changes(cfg.Habit, p.rate, cfg.Days, rng)
		w.pages = append(w.pages, p)
	}
	for h := range cfg.Hosts {
		w.pages = append(w.pages, &page{id: uint64(cfg.Pages + h), host: h, path: "/"})
	}
	return w
}

// changes are the times at which a page changes.
func changes(habit Habit, rate, days float64, rng *rand.Rand) (at []float64) {
	switch habit {
	case Bursty:
		for t := rng.Float64() * -40; t < days; {
			t += 40 * rng.ExpFloat64()
			end := t + 10*rng.ExpFloat64()
			for ; t < end; t += rng.ExpFloat64() / (5 * rate) {
				if t > 0 && t < days {
					at = append(at, t)
				}
			}
		}
	case Daily:
		for t := 0.; t < days; {
			t += rng.ExpFloat64() / rate
			day, part := math.Modf(t)
			at = append(at, day+1./3+part/3)
		}
	default:
		for t := rng.ExpFloat64() / rate; t < days; t += rng.ExpFloat64() / rate {
			at = append(at, t)
		}
	}
	return at
}

// now is the day that it is.
func (w *Web) now() float64 {
	c := w.cfg.Calendar
	return c.At(time.Now()).Sub(c.Start).Hours() / 24
}

// version is how often the page had changed by a day.
func (p *page) version(day float64) int {
	return sort.SearchFloat64s(p.changes, day)
}

// letters writes a number in letters: digits count for little in what a page says.
func letters(n uint64) string {
	var b strings.Builder
	for range 6 {
		b.WriteByte("bcdfghklmnprstvz"[n%16])
		b.WriteByte("aeio"[n/16%4])
		n /= 64
	}
	return b.String()
}

// text is what a page says in a version, and Version what tells the versions apart.
func (p *page) text(version int) string {
	rng := rand.New(rand.NewPCG(p.id, uint64(version)+1))
	words := make([]string, 0, 60)
	for i := range 60 {
		if i < 30 { // what stays
			words = append(words, letters(p.id*31+uint64(i)))
			continue
		}
		words = append(words, letters(rng.Uint64()))
	}
	return "state " + Version(version) + " says " + strings.Join(words, " ")
}

// Version is the word by which a version of a page is known in its text.
func Version(n int) string { return "q" + letters(uint64(n)) + "q" }

// Requests is how many requests for pages came.
func (w *Web) Requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}

// SetGone lets a page be missing from now on, or be there again; SetNoIndex lets it ask not to be kept. They answer
// whether there is such a page.
func (w *Web) SetGone(path string, gone bool) bool {
	if gone {
		return w.SetStatus(path, http.StatusNotFound)
	}
	return w.SetStatus(path, 0)
}

// SetStatus lets a page be answered with a status from now on: 404, 410, 301 to [MovedTo], 200 with a text that says
// "not found" (a soft 404), or 0, which is as it was: the page is there again, and that is a change.
func (w *Web) SetStatus(path string, status int) bool {
	day := w.now()
	return w.set(path, func(p *page) {
		if p.status != 0 && status == 0 {
			p.since = day
		}
		p.status = status
	})
}

// SetNoIndex lets a page ask not to be kept, or to be.
func (w *Web) SetNoIndex(path string, noIndex bool) bool {
	return w.set(path, func(p *page) { p.noIndex = noIndex })
}

func (w *Web) set(path string, change func(*page)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pages {
		if p.path == path {
			change(p)
			return true
		}
	}
	return false
}

// Calendar is the time by which its pages change.
func (w *Web) Calendar() revisit.Calendar { return w.cfg.Calendar }
