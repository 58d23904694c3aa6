package crawl

import (
	"testing"
	"time"
)

// The rest after a request that took so long, to a host with a Crawl-delay and links from other hosts.
func TestRestAfterARequest(t *testing.T) {
	mercator, ok := PresetPoliteness(Mercator)
	usual, okUsual := PresetPoliteness("")
	if _, other := PresetPoliteness("other"); !ok || !okUsual || other {
		t.Fatal("the presets are not mercator and none")
	}
	popular, patient := usual, mercator
	popular.Popularity, popular.Delay = 1, Duration(time.Millisecond)
	patient.Delay = Duration(3 * time.Second)
	const s = time.Second
	for name, c := range map[string]struct {
		p           Politeness
		took, crawl time.Duration
		links       int
		want        time.Duration
	}{
		"default: 5 times":               {usual, s, 0, 0, 5 * s},
		"default: the delay at least":    {usual, s / 10, 0, 0, s},
		"default: bounded":               {usual, 20 * s, 0, 0, 30 * s},
		"mercator: 10 times":             {mercator, s / 5, 0, 0, 2 * s},
		"mercator: no delay besides":     {mercator, s / 1000, 0, 0, s / 100},
		"mercator: Crawl-delay times":    {mercator, 2 * s, 3 * s, 0, 6 * s},
		"mercator: Crawl-delay at least": {mercator, s / 5, 3 * s, 0, 3 * s},
		"mercator: long":                 {mercator, 20 * s, 0, 0, 200 * s},
		"mercator with a delay":          {patient, s / 5, 0, 0, 3 * s},
		"links do not count":             {usual, 2 * s, 0, 1_000_000, 10 * s},
		"nobody links there":             {popular, 2 * s, 0, 0, 10 * s},
		"9 links":                        {popular, 2 * s, 0, 9, 5 * s},
		"999 links":                      {popular, 2 * s, 0, 999, 2500 * time.Millisecond},
		"999 links and a Crawl-delay":    {popular, 2 * s, 9 * s, 999, 9 * s},
	} {
		t.Run(name, func(t *testing.T) {
			j := DefaultJob()
			j.Politeness = c.p
			r := Rest{Took: c.p.Counts(c.took, c.crawl, c.links)}
			if got := r.By(&j, max(c.p.Delay.D(), c.crawl)); got.Round(time.Millisecond) != c.want {
				t.Errorf("rests %v, want %v", got, c.want)
			}
		})
	}
}

func TestPrioritiesOfClasses(t *testing.T) {
	j := DefaultJob()
	if got := j.BestPriority(2); got != MaxPriority {
		t.Errorf("without classes a priority rises to %d", got)
	}
	j.Continuous = []string{"/list/"}
	for name, c := range map[string]struct {
		continuous         bool
		weight, want, best int
	}{
		"one-time": {false, 0, 2, 2}, "one-time, light": {false, 1, 1, 2}, "one-time, heavy": {false, 9, 2, 2},
		"continuous": {true, 0, 3, 4}, "continuous, light": {true, 1, 3, 4}, "continuous, heavy": {true, 9, 4, 4},
	} {
		p := InClass(c.continuous, c.weight)
		if best := j.BestPriority(p); p != c.want || best != c.best {
			t.Errorf("%s: priority %d that rises to %d, want %d and %d", name, p, best, c.want, c.best)
		}
	}
	p := Politeness{Popularity: 1}
	for links, want := range map[int]int{0: 2, 8: 2, 9: 3, 99: 4, 1_000_000: 4} {
		if got := p.PopularPriority(2, links); got != want {
			t.Errorf("%d links raise 2 to %d, want %d", links, got, want)
		}
	}
}
