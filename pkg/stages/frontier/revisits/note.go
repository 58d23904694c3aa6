package revisits

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

// Visited reports whether an outcome is that of a URL that may be visited again.
func Visited(out *crawl.Outcome) bool {
	k := out.Task.Kind
	return out.Verdict.Final() && (k == crawl.KindPage || k == crawl.KindSitemap)
}

// begins reports whether the URL of a first outcome is visited again: a page, a list of links, and a seed in any case.
func begins(out *crawl.Outcome) bool {
	return out.Verdict == crawl.VerdictDone && out.Status/100 == 2 || out.Task.Seed
}

// NoteVisits takes in what outcomes of the job say of their pages, and returns what is to be noted in their records, in
// the same order; nil: nothing.
func (j *Job) NoteVisits(ctx context.Context, outs []*crawl.Outcome) ([]*crawl.RecordMark, error) {
	urls := make([]weburl.URL, len(outs))
	for i := range outs {
		urls[i] = outs[i].Task.URL
	}
	marks := make([]*crawl.RecordMark, len(outs))
	var over []weburl.Key
	if err := j.know(ctx, urls); err != nil {
		return nil, err
	}
	now := j.book.Now()
	err := j.book.change(ctx, j.id, urls, func(i int, s *revisit.State) bool {
		if outs[i].Verdict == crawl.VerdictExcluded {
			over = append(over, urls[i].Key())
			return false
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		put := j.outcome(outs[i], s, now)
		marks[i] = markOf(outs[i], s)
		return put
	})
	if err == nil && len(over) > 0 {
		err = crawl.UnlessDiscarded(j.book.cfg.Store.Drop(ctx, j.id, over...))
	}
	return marks, err
}

// markOf is what is to be noted in the record of a page. Where an outcome comes again, so does its mark.
func markOf(out *crawl.Outcome, s *revisit.State) *crawl.RecordMark {
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
