package frontier

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// observed takes in what was found out about a page besides its outcome. What another node's page says goes on to its
// owner: a link may lead from one node's page to the host of another, and a host may have moved.
func (o Outcomes) observed(ctx context.Context, out *crawl.Outcome) ([]crawl.Event, error) {
	if out.Observed.What == crawl.ObservedTold {
		return o.told(ctx, out)
	}
	if p := o.f.duties.place(out.Task.URL); p.Node != "" {
		told := *out
		told.Node = p.Node
		return []crawl.Event{&told}, nil
	}
	return o.observedHere(ctx, out)
}

func (o Outcomes) observedHere(ctx context.Context, out *crawl.Outcome) (marks []crawl.Event, err error) {
	js, err := o.f.jobOf(ctx, out.Task.Job)
	if err != nil {
		return nil, err
	}
	a, err := o.f.again.of(o.f.jobNow(js))
	if a == nil || js.discarded(&out.Task) {
		return nil, err
	}
	if err := o.f.again.know(ctx, out.Task.Job, a, []weburl.URL{out.Task.URL}); err != nil {
		return nil, err
	}
	now := o.f.again.now()
	err = o.f.again.change(ctx, out.Task.Job, []weburl.URL{out.Task.URL}, func(_ int, s *revisit.State) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		put := a.observation(out, s, now, o.f.again.calendar)
		marks = nil
		if m := observedMark(out, s); m != nil {
			marks = []crawl.Event{&crawl.Document{Page: crawl.Page{Task: out.Task}, Mark: m}}
		}
		return put
	})
	return marks, err
}

// observedMark is what is to be noted in the record of a page whose content says that it is missing. It is the same
// when an observation comes again.
func observedMark(out *crawl.Outcome, s *revisit.State) *crawl.RecordMark {
	if seen := out.Observed; seen.What != crawl.ObservedContent || seen.Result != revisit.Missing || !s.Gone ||
		out.Task.Visit == 0 || s.Visits != uint32(out.Task.Visit)+1 {
		return nil
	}
	return &crawl.RecordMark{GoneAt: out.Observed.At}
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
		k, at, before := t.URL.Key(), c.At(seen.At), *s
		a.weigh(t, s, seen.Copy)
		if t.Kind == crawl.KindSitemap {
			a.weighList(k, s, seen.Lists)
		}
		a.observe(k, s, revisit.Observation{Visit: visit, At: at, Result: seen.Result, Sum: seen.Sum, Near: seen.Near,
			LastModified: a.datesOf(k, seen.Modified, at)}, now)
		s.Copy = seen.Copy
		a.learn(k, &before, s, seen.Date)
		return true
	}
	return false
}
