package crawl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// JobMode says whether a job ends.
type JobMode string

// The modes.
const (
	ModeOnce       JobMode = "once"       // each URL is visited once; empty means the same
	ModeContinuous JobMode = "continuous" // pages are visited again, until the job is stopped
)

// Revisiting says how the pages of a continuous job are visited again.
type Revisiting struct {
	// revisits a day, over all hosts
	Budget int `json:"budget,omitempty" yaml:"budget,omitempty"`
	// time after which a page is visited again, however seldom it seems to change
	MaxAge Duration `json:"max_age,omitempty" yaml:"max_age,omitempty"`
	// least time between two visits of a page
	MinInterval Duration `json:"min_interval,omitempty" yaml:"min_interval,omitempty"`
	// what the freshness of pages is worth: the first that matches a URL counts
	Weights []RevisitWeight `json:"weights,omitempty" yaml:"weights,omitempty"`
	// misses in a row after which a page is gone: 404 counts once, 410 twice
	Gone int `json:"gone,omitempty" yaml:"gone,omitempty"`
	// earlier versions of a record that are kept
	History int `json:"history,omitempty" yaml:"history,omitempty"`
}

// RevisitWeight is what the freshness of some pages is worth.
type RevisitWeight struct {
	Match  string  `json:"match" yaml:"match"`   // regular expression (RE2) over the URL
	Weight float64 `json:"weight" yaml:"weight"` // beside 1, which other pages have
}

// The defaults of Revisiting, and its bounds.
const (
	DefaultRevisits = 10_000
	DefaultMaxAge   = 120 * 24 * time.Hour
	DefaultGone     = 3
	MaxHistory      = 100
	leastInterval   = time.Minute
)

// Filled returns the settings with the defaults of those that are not set.
func (r Revisiting) Filled() Revisiting {
	if r.Budget <= 0 {
		r.Budget = DefaultRevisits
	}
	if r.MaxAge <= 0 {
		r.MaxAge = Duration(DefaultMaxAge)
	}
	if r.MinInterval <= 0 {
		r.MinInterval = Duration(revisit.Default().Least)
	}
	if r.Gone <= 0 {
		r.Gone = DefaultGone
	}
	return r
}

// Revisits reports whether pages of the job are visited again.
func (j *Job) Revisits() bool { return j.Mode == ModeContinuous }

// Policy is what the job's pages are scheduled by, without a threshold.
func (r Revisiting) Policy() revisit.Policy {
	r = r.Filled()
	return revisit.Policy{Least: r.MinInterval.D(), Most: r.MaxAge.D(), GoneAt: uint8(min(r.Gone, 255))}
}

// WeightOf compiles the weights of URLs: what the freshness of each is worth.
func (r Revisiting) WeightOf() (func(url string) float64, error) {
	patterns := make([]*regexp.Regexp, len(r.Weights))
	for i := range r.Weights {
		var err error
		if patterns[i], err = regexp.Compile(r.Weights[i].Match); err != nil {
			return nil, fmt.Errorf("revisit.weights[%d].match: %w", i, err)
		}
	}
	weights := slices.Clone(r.Weights)
	return func(url string) float64 {
		for i, p := range patterns {
			if p.MatchString(url) {
				return weights[i].Weight
			}
		}
		return 1
	}, nil
}

// checkRevisits finds what is wrong with how a job visits pages again.
func checkRevisits(j *Job) (errs []error) {
	bad := func(cond bool, key, format string, args ...any) {
		if cond {
			errs = append(errs, &KeyError{key, fmt.Sprintf(format, args...)})
		}
	}
	bad(j.Mode != "" && j.Mode != ModeOnce && j.Mode != ModeContinuous, "mode", "%q: want once or continuous",
		string(j.Mode))
	bad(j.Revisits() && j.Order == OrderBreadth, "mode",
		"continuous: order breadth crawls level by level, and levels of a crawl "+
			"that never ends have no end: leave out order")
	r := j.Revisit.Filled()
	bad(r.MinInterval.D() < leastInterval, "revisit.min_interval", "%v: want 1m at least", r.MinInterval)
	bad(r.MinInterval > r.MaxAge, "revisit.min_interval", "%v: want no more than max_age, which is %v", r.MinInterval,
		r.MaxAge)
	patterns := make([]string, 0, len(j.Revisit.Weights))
	for i, w := range j.Revisit.Weights {
		patterns = append(patterns, w.Match)
		bad(!(w.Weight > 0), fmt.Sprintf("revisit.weights[%d].weight", i), "%v: want more than 0; exclude leaves pages out",
			w.Weight)
	}
	for _, err := range checkPatterns("revisit.weights", patterns) {
		if k := (*KeyError)(nil); errors.As(err, &k) {
			k.Key += ".match"
		}
		errs = append(errs, err)
	}
	return errs
}
