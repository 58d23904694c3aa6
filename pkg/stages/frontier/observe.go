package frontier

import (
	"context"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// resultOf is what an outcome says of its page. awaits is true where the content tells, which comes as an observation
// of its own.
func resultOf(out *crawl.Outcome) (result revisit.Result, awaits bool) {
	switch out.Verdict {
	case crawl.VerdictDone:
		switch {
		case out.Status == 304:
			return revisit.Same, false
		case out.Status/100 == 2:
			return revisit.Seen, true
		case out.Status == 301 || out.Status == 308:
			return revisit.Relocated, false
		}
	case crawl.VerdictGone:
		if out.Status == 410 {
			return revisit.Removed, false
		}
		return revisit.Missing, false
	case crawl.VerdictBlocked:
		if out.Reason == crawl.ReasonRobots {
			return revisit.Forbidden, false
		}
		if out.Status >= 400 {
			return revisit.Missing, false
		}
	}
	return revisit.Failed, false
}

// visited reports whether an outcome is that of a URL that may be visited again.
func visited(out *crawl.Outcome) bool {
	k := out.Task.Kind
	return out.Verdict.Final() && (k == crawl.KindPage || k == crawl.KindSitemap)
}

// begins reports whether the URL of a first outcome is visited again: a page, a list of links, and a seed in any case.
func begins(out *crawl.Outcome) bool {
	return out.Verdict == crawl.VerdictDone && out.Status/100 == 2 || out.Task.Seed
}

// revisitAll notes what outcomes say of pages that are visited again.
func (o Outcomes) revisitAll(ctx context.Context, d *digest) error {
	if o.f.again.store == nil {
		return nil
	}
	byJob := map[*jobState][]*result{}
	for _, r := range d.rs {
		if !r.gone && r.job.Revisits() && visited(&r.Outcome) {
			byJob[r.js] = append(byJob[r.js], r)
		}
	}
	for js, rs := range byJob {
		a, err := o.f.again.of(o.f.jobNow(js))
		if a == nil {
			if err != nil {
				return err
			}
			continue
		}
		o.f.learnCaps(a, rs)
		outs := make([]*crawl.Outcome, len(rs))
		for i, r := range rs {
			outs[i] = &r.Outcome
		}
		marks, err := o.f.noteVisits(ctx, a, outs)
		if err != nil {
			return err
		}
		for i, m := range marks {
			if m != nil {
				rs[i].then = append(rs[i].then, &crawl.Document{Page: crawl.Page{Task: outs[i].Task}, Mark: m})
			}
		}
	}
	return nil
}

// revisitDismissed notes the same of tasks that were concluded without a fetch.
func (dp *dispatcher) revisitDismissed(ctx context.Context, outs []*crawl.Outcome) error {
	if dp.again.store == nil {
		return nil
	}
	for _, out := range outs {
		js, err := dp.jobOf(ctx, out.Task.Job)
		if err != nil {
			return err
		}
		a, err := dp.again.of(dp.jobNow(js))
		if err == nil && a != nil && visited(out) {
			_, err = dp.noteVisits(ctx, a, []*crawl.Outcome{out})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// learnCaps notes what the hosts of outcomes leave to revisits.
func (f *Frontier) learnCaps(a *again, rs []*result) {
	type seen struct {
		host      hostID
		gap, took time.Duration
	}
	var all []seen
	f.mu.Lock()
	for _, r := range rs {
		if h := f.hosts.of(r.Task.URL.HostKey()); h != nil && r.Contacted() {
			all = append(all, seen{hostOf(r.Task.URL.Key()), h.gap(r.job), h.rec.Rest.Took})
		}
	}
	f.mu.Unlock()
	for _, s := range all {
		a.learnCap(s.host, s.gap, s.took, f.again.calendar)
	}
}

// noteVisits takes in what outcomes of a job say of their pages, and returns what is to be noted in their records.
func (f *Frontier) noteVisits(ctx context.Context, a *again, outs []*crawl.Outcome) ([]*crawl.RecordMark, error) {
	urls := make([]weburl.URL, len(outs))
	for i := range outs {
		urls[i] = outs[i].Task.URL
	}
	marks := make([]*crawl.RecordMark, len(outs))
	var over []weburl.Key
	now := f.again.now()
	err := f.again.change(ctx, outs[0].Task.Job, urls, func(i int, s *revisit.State) bool {
		if outs[i].Verdict == crawl.VerdictExcluded {
			over = append(over, urls[i].Key())
			return false
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		put := a.outcome(outs[i], s, now, f.again.calendar)
		marks[i] = a.markOf(outs[i], s)
		return put
	})
	if err == nil && len(over) > 0 {
		err = wasDiscarded(f.again.store.Drop(ctx, outs[0].Task.Job, over...))
	}
	return marks, err
}

// outcome takes in what an outcome says of its page, and reports whether that is to be stored. What an outcome with
// content says is only that the page is visited again some day, if nothing more is heard of it. mu is held.
func (a *again) outcome(out *crawl.Outcome, s *revisit.State, now time.Time, c revisit.Calendar) bool {
	t, k := &out.Task, out.Task.URL.Key()
	visit := uint32(max(t.Visit, 0))
	if s.Visits > visit || *s == (revisit.State{}) && visit == 0 && !begins(out) {
		return false
	}
	a.weigh(t, s, false)
	result, awaits := resultOf(out)
	if awaits {
		seen := *s
		seen.Last, seen.Visits, seen.Misses, seen.Gone = now, max(s.Visits, 1), 0, false
		s.Due = a.due(k, &seen, false, now)
		return true
	}
	o := revisit.Observation{Visit: visit, At: c.At(out.Started), Result: result}
	if result == revisit.Relocated {
		o.Sum = xxh3.HashString(out.Location.String())
	}
	a.observe(k, s, o, now)
	return true
}

// observe takes in what a visit found. mu is held.
func (a *again) observe(k weburl.Key, s *revisit.State, o revisit.Observation, now time.Time) {
	before := s.Changes
	*s = revisit.Observe(*s, o, revisit.Rate{})
	if s.IsGone(a.policy) {
		s.Gone = true
	}
	s.Due = a.due(k, s, o.Result == revisit.Failed, now)
	a.visits.add(now, o.Result != revisit.Failed && o.Visit > 0, s.Changes > before)
}

// weigh gives a page its kind and weight. mu is held.
func (a *again) weigh(t *crawl.Task, s *revisit.State, copied bool) {
	switch {
	case t.Kind == crawl.KindSitemap:
		s.Kind = revisit.List
	case t.Seed:
		s.Kind = revisit.Seed
	}
	weight := revisit.PageWeight(a.weight(t.URL.String()), t.Depth, 1)
	if copied {
		weight /= copyWeight
	}
	s.Weight = max(revisit.WeightOctet(weight), 1)
}

// copyWeight: the freshness of a page that copies another one is worth so much less.
const copyWeight = 4

// markOf is what is to be noted in the record of a page. It is the same when an outcome comes again.
func (a *again) markOf(out *crawl.Outcome, s *revisit.State) *crawl.RecordMark {
	if out.Task.Kind != crawl.KindPage || out.Task.Visit == 0 || s.Visits != uint32(out.Task.Visit)+1 {
		return nil
	}
	switch result, _ := resultOf(out); {
	case s.Gone && (result == revisit.Missing || result == revisit.Removed):
		return &crawl.RecordMark{GoneAt: out.Started}
	case s.Withdrawn && result == revisit.Forbidden:
		return &crawl.RecordMark{WithdrawnAt: out.Started}
	}
	return nil
}

// observed takes in what was found out about a page besides its outcome.
func (o Outcomes) observed(ctx context.Context, out *crawl.Outcome) error {
	js, err := o.f.jobOf(ctx, out.Task.Job)
	if err != nil {
		return err
	}
	a, err := o.f.again.of(o.f.jobNow(js))
	if a == nil || js.discarded(&out.Task) {
		return err
	}
	now := o.f.again.now()
	return o.f.again.change(ctx, out.Task.Job, []weburl.URL{out.Task.URL}, func(_ int, s *revisit.State) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.observation(out, s, now, o.f.again.calendar)
	})
}

// observation takes it in, and reports whether that is to be stored. mu is held.
func (a *again) observation(out *crawl.Outcome, s *revisit.State, now time.Time, c revisit.Calendar) bool {
	t, seen, visit := &out.Task, out.Observed, uint32(max(out.Task.Visit, 0))
	switch seen.What {
	case crawl.ObservedNewLinks: // of the last visit, or of one whose content is still to be heard of
		if visit == 0 || visit+1 < s.Visits || s.Recent&1 != 0 || *s == (revisit.State{}) {
			return false
		}
		s.Recent |= 1
		return true
	case crawl.ObservedContent:
		if visit < s.Visits {
			return false
		}
		a.weigh(t, s, seen.Copy)
		a.observe(t.URL.Key(), s, revisit.Observation{Visit: visit, At: c.At(seen.At), Result: seen.Result, Sum: seen.Sum, Near: seen.Near}, now)
		return true
	}
	return false
}
