package revisits

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Observe takes in what was found out about a page of this node besides its outcome, and returns what is to be noted in
// its record; nil: nothing.
func (j *Job) Observe(ctx context.Context, out *crawl.Outcome) (mark *crawl.RecordMark, err error) {
	urls := []weburl.URL{out.Task.URL}
	if err := j.know(ctx, urls); err != nil {
		return nil, err
	}
	now := j.book.Now()
	err = j.book.change(ctx, j.id, urls, func(_ int, s *revisit.State) bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		put := j.observation(out, s, now)
		mark = observedMark(out, s)
		return put
	})
	return mark, err
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
func (j *Job) observation(out *crawl.Outcome, s *revisit.State, now time.Time) bool {
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
		k, at, before := t.URL.Key(), j.calendar().At(seen.At), *s
		j.weigh(t, s, seen.Copy)
		if t.Kind == crawl.KindSitemap {
			j.weighList(k, s, seen.Lists)
		}
		j.observe(k, s, revisit.Observation{Visit: visit, At: at, Result: seen.Result, Sum: seen.Sum, Near: seen.Near,
			LastModified: j.datesOf(k, seen.Modified, at)}, now)
		s.Copy = seen.Copy
		j.learn(k, &before, s, seen.Date)
		return true
	}
	return false
}
