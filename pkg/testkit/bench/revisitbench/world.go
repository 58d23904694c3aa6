package revisitbench

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Config is a web and the visits that there are for it.
type Config struct {
	Name        string
	Pages, Days int
	Seed        uint64
	// Hosts share the pages by Zipf's law. Cap is how much of the day's visits a host takes at most, 0 for no limit.
	Hosts int
	Cap   float64
	// Visits is how many there are a day, by page.
	Visits float64
	// Median is that of the rates of change, a day. Rates are lognormal with 1.4 from the host and 1.4 from the page.
	Median float64
	Habit  Habit
	// Pareto is the exponent of the distribution of weights; 0 where all weigh the same.
	Pareto float64
	// Recall is the part of the changes that the page's sitemap tells of, read once a day; Precision the part of what it
	// tells that is true. 0 for no sitemaps.
	Precision, Recall float64
	// Backlog is the part of the pages that were not visited at the start, Growth the part that is new each day.
	Backlog, Growth float64
	// Discovery is the share of the visits for pages that were not visited yet.
	Discovery float64
}

// Habit is how pages change.
type Habit int

// Changes come at random; in bursts of ten days with forty days of silence between them; or from nine to five.
const (
	Poisson Habit = iota
	Bursty
	Daily
)

// sigma is the spread of the logarithm of rates, of hosts and of pages within them.
const sigma = 1.4

type page struct {
	host         int
	rate, weight float64
	born         float64 // in days
}

type world struct {
	Config
	pages  []page
	caps   []float64 // visits a day, by host
	budget float64   // visits a day
}

func newWorld(c Config) *world {
	r := rand.New(rand.NewPCG(c.Seed, 1))
	w := &world{Config: c, budget: c.Visits * float64(c.Pages)}
	sizes, levels, sum := make([]float64, c.Hosts), make([]float64, c.Hosts), 0.
	for h := range sizes {
		sum += 1 / float64(h+1)
		sizes[h], levels[h] = sum, r.NormFloat64()*sigma
		most := math.Inf(1)
		if c.Cap > 0 {
			most = c.Cap * w.budget
		}
		w.caps = append(w.caps, most)
	}
	grown := int(float64(c.Pages) * c.Growth * float64(c.Days))
	for i := range c.Pages + grown {
		h := sort.SearchFloat64s(sizes, r.Float64()*sum)
		p := page{host: h, rate: c.Median * math.Exp(levels[h]+r.NormFloat64()*sigma), weight: 1}
		if c.Pareto > 0 {
			p.weight = math.Pow(1-r.Float64(), -1/c.Pareto)
		}
		if i >= c.Pages {
			p.born = float64(i-c.Pages) / float64(grown) * float64(c.Days)
		}
		w.pages = append(w.pages, p)
	}
	return w
}

// byHost are the numbers of the pages of each host.
func (w *world) byHost() [][]int {
	all := make([][]int, len(w.caps))
	for i, p := range w.pages {
		all[p.host] = append(all[p.host], i)
	}
	return all
}
