package local

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var _ crawl.Unremembered = (*Store)(nil)

// unrememberedLines is how many lines of crawl.log are looked at at once.
const unrememberedLines = 256

// EachUnremembered implements crawl.Unremembered. The ledger has no URLs of what is done, but crawl.log has a line for
// each outcome.
func (s *Store) EachUnremembered(ctx context.Context, job crawl.JobID, each func([]crawl.Task) error) error {
	log, err := s.JobLog(ctx, job)
	if err != nil {
		return err
	}
	for next := int64(0); ; {
		from := next
		var lines []crawl.LogLine
		if lines, next, err = log.LinesFrom(ctx, job, from, unrememberedLines); err != nil || next == from {
			return err
		}
		tasks, err := s.unremembered(ctx, job, lines)
		if err == nil && len(tasks) > 0 {
			err = each(tasks)
		}
		if err != nil {
			return err
		}
	}
}

// unremembered makes the tasks of lines whose URLs are not visited again and were visited.
func (s *Store) unremembered(ctx context.Context, job crawl.JobID, lines []crawl.LogLine) (tasks []crawl.Task,
	err error) {
	var keys []weburl.Key
	for i := range lines {
		l := &lines[i]
		if !l.Verdict.Final() || l.Kind != crawl.KindPage && l.Kind != crawl.KindSitemap {
			continue
		}
		tasks = append(tasks, crawl.Task{Job: job, URL: l.URL, Kind: l.Kind, Depth: l.Depth, Referrer: l.Referrer,
			Epoch:     l.Epoch,
			Relevance: l.Relevance, Seed: l.Depth == 0 && l.Referrer.IsZero() && l.Kind == crawl.KindPage})
		keys = append(keys, l.URL.Key())
	}
	entries, err := s.URLs().Lookup(ctx, job, keys...)
	if err != nil {
		return nil, fmt.Errorf("pages of job %q that are not visited again: %w", job, err)
	}
	states, err := s.Revisits().States(ctx, job, keys...)
	if err != nil {
		return nil, err
	}
	rest := tasks[:0]
	for i := range tasks {
		e, st := &entries[i], &states[i]
		fetched := e.Verdict == crawl.VerdictDone && e.Status/100 == 2
		switch {
		case e.State != crawl.StateDone || !st.Due.IsZero() || st.Visits > e.Visit:
		case *st != (revisit.State{}), fetched: // of the latter nothing is remembered
			rest = append(rest, tasks[i])
		}
	}
	return rest, nil
}
