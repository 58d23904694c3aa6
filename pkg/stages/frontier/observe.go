package frontier

import (
	"context"
	"time"

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
	for js, rs := range o.f.toRevisit(d.rs) {
		a, err := o.f.again.of(o.f.jobNow(js))
		if a == nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := o.recordAgain(ctx, rs); err != nil {
			return err
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

// toRevisit are the results whose URLs are visited again, by their jobs as they are now: a revision may have come since
// they were looked at, and of what is noted later than that nobody else tells (see Remember).
func (f *Frontier) toRevisit(rs []*result) map[*jobState][]*result {
	byJob := map[*jobState][]*result{}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rs {
		if !r.gone && r.js.job.Revisits() && visited(&r.Outcome) {
			byJob[r.js] = append(byJob[r.js], r)
		}
	}
	return byJob
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
		name      string
		gap, took time.Duration
	}
	var all []seen
	f.mu.Lock()
	for _, r := range rs {
		if h := f.hosts.of(r.Task.URL.HostKey()); h != nil && r.Contacted() {
			all = append(all, seen{hostOf(r.Task.URL.Key()), h.rec.Key, h.gap(r.job), h.rec.Rest.Took})
		}
	}
	f.mu.Unlock()
	for _, s := range all {
		a.learnCap(s.host, s.name, s.gap, s.took, f.again.calendar)
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
	if err := f.again.know(ctx, outs[0].Task.Job, a, urls); err != nil {
		return nil, err
	}
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

// markOf is what is to be noted in the record of a page. Where an outcome comes again, so does its mark.
func (a *again) markOf(out *crawl.Outcome, s *revisit.State) *crawl.RecordMark {
	if out.Task.Kind != crawl.KindPage || out.Task.Visit == 0 || s.Visits != uint32(out.Task.Visit)+1 {
		return nil
	}
	at := out.Started
	if at.IsZero() { // no host was asked: robots.txt forbids it
		at = time.Now().UTC()
	}
	switch result, _ := resultOf(out); {
	case s.Gone && (result == revisit.Missing || result == revisit.Removed):
		return &crawl.RecordMark{GoneAt: at}
	case s.Withdrawn && result == revisit.Forbidden:
		return &crawl.RecordMark{WithdrawnAt: at}
	case result == revisit.Relocated && !out.Location.IsZero() && out.Location != out.Task.URL:
		return &crawl.RecordMark{MovedTo: &out.Location}
	}
	return nil
}
