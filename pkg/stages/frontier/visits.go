package frontier

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier/revisits"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// revisitAll notes what outcomes say of pages that are visited again.
func (o Outcomes) revisitAll(ctx context.Context, d *digest) error {
	if !o.f.book.On() {
		return nil
	}
	for js, rs := range o.f.toRevisit(d.rs) {
		a, err := o.f.book.Job(o.f.jobNow(js))
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
		marks, err := a.NoteVisits(ctx, outs)
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
		if !r.gone && r.js.job.Revisits() && revisits.Visited(&r.Outcome) {
			byJob[r.js] = append(byJob[r.js], r)
		}
	}
	return byJob
}

// revisitDismissed notes the same of tasks that were concluded without a fetch.
func (dp *dispatcher) revisitDismissed(ctx context.Context, outs []*crawl.Outcome) error {
	if !dp.book.On() {
		return nil
	}
	for _, out := range outs {
		js, err := dp.jobOf(ctx, out.Task.Job)
		if err != nil {
			return err
		}
		a, err := dp.book.Job(dp.jobNow(js))
		if err == nil && a != nil && revisits.Visited(out) {
			_, err = a.NoteVisits(ctx, []*crawl.Outcome{out})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// learnCaps notes what the hosts of outcomes leave to revisits.
func (f *Frontier) learnCaps(a *revisits.Job, rs []*result) {
	type seen struct {
		page      weburl.URL
		host      string
		gap, took time.Duration
	}
	var all []seen
	f.mu.Lock()
	for _, r := range rs {
		if h := f.hosts.of(r.Task.URL.HostKey()); h != nil && r.Contacted() {
			all = append(all, seen{r.Task.URL, h.rec.Key, h.gap(r.job), h.rec.Rest.Took})
		}
	}
	f.mu.Unlock()
	for _, s := range all {
		a.LearnCap(s.page, s.host, s.gap, s.took)
	}
}

// recordAgain records results once more that were recorded while their job visited its URLs once, and that are noted by
// a revision by which it is continuous: what their next visits need is kept with them.
func (o Outcomes) recordAgain(ctx context.Context, rs []*result) error {
	outs := make([]*crawl.Outcome, 0, len(rs))
	for _, r := range rs {
		if !r.job.Revisits() {
			outs = append(outs, &r.Outcome)
		}
	}
	if len(outs) == 0 {
		return nil
	}
	return o.f.finish(ctx, outs, make([]bool, len(outs)), rs[0].now)
}
