package revisits

import (
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// outcome takes in what an outcome says of its page, and reports whether that is to be stored. What an outcome with
// content says is only that the page is visited again some day, if nothing more is heard of it. mu is held.
func (j *Job) outcome(out *crawl.Outcome, s *revisit.State, now time.Time) bool {
	t, k := &out.Task, out.Task.URL.Key()
	visit := uint32(max(t.Visit, 0))
	if s.Visits > visit || *s == (revisit.State{}) && visit == 0 && !begins(out) {
		return false
	}
	j.weigh(t, s, false)
	result, awaits := resultOf(out)
	if awaits {
		seen := *s
		seen.Last, seen.Visits, seen.Misses, seen.Gone = now, max(s.Visits, 1), 0, false
		s.Due = j.due(k, &seen, false, now)
		return true
	}
	o := revisit.Observation{Visit: visit, At: now, Result: result}
	if !out.Started.IsZero() {
		o.At = j.calendar().At(out.Started)
	}
	if result == revisit.Relocated {
		o.Sum = xxh3.HashString(out.Location.String())
	}
	before := *s
	j.observe(k, s, o, now)
	j.learn(k, &before, s, crawl.DateUnknown)
	return true
}

// observe takes in what a visit found. mu is held.
func (j *Job) observe(k weburl.Key, s *revisit.State, o revisit.Observation, now time.Time) {
	before := s.Changes
	*s = revisit.Observe(*s, o, revisit.Rate{})
	if s.IsGone(j.policy) {
		s.Gone, s.Signal = true, o.At.Truncate(time.Second)
	}
	s.Due = j.due(k, s, o.Result == revisit.Failed, now)
	if o.Result != revisit.Failed && o.Visit > 0 {
		j.visits.add(now, s.Changes > before)
	}
}

// weigh gives a page its kind and weight. mu is held.
func (j *Job) weigh(t *crawl.Task, s *revisit.State, copied bool) {
	switch {
	case t.Kind == crawl.KindSitemap && s.Kind == revisit.List && s.Weight > 0:
		return // by what it lists: see weighList
	case t.Kind == crawl.KindSitemap:
		s.Kind = revisit.List
	case t.Seed:
		s.Kind = revisit.Seed
	}
	weight := revisit.PageWeight(j.weight(t.URL.String()), t.Depth, 1)
	if copied {
		weight /= copyWeight
	}
	s.Weight = max(revisit.WeightOctet(weight), 1)
}

// weighList gives a sitemap or a feed the weight of the changes that it tells of: those of as many pages as it lists,
// as far as the signals of its host tell of changes, and never less than that of a page. mu is held.
func (j *Job) weighList(k weburl.Key, s *revisit.State, lists int) {
	if l := j.learned[hostOf(k)]; l != nil {
		s.Weight = max(revisit.WeightOctet(max(float64(lists)*l.Signals.Recall(), 1)), 1)
	}
}

// copyWeight: the freshness of a page that copies another one is worth so much less.
const copyWeight = 4
