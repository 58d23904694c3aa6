package engine

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Stats implements workflow.Engine.
func (e *Engine) Stats(ctx context.Context, id crawl.JobID) (*workflow.Stats, error) {
	store := e.Store()
	tally, err := store.URLs().Tally(ctx, id)
	if err != nil {
		return nil, err
	}
	census, err := store.Census(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &workflow.Stats{Pages: tally.Pages, Claimed: tally.Claimed, Open: tally.Claimed, Verdicts: tally.Verdicts,
		Statuses: tally.Statuses, Excluded: tally.Excluded, Records: census.Records, Hosts: census.Hosts,
		Clusters: census.Clusters, Copies: census.Copies}
	for _, n := range tally.Verdicts {
		s.Open -= n
	}
	state, known, err := e.State(ctx, id)
	if err != nil || !known {
		return s, err
	}
	s.Letters = state.Letters
	if s.Bound, err = e.bound(ctx, state.Job, tally.Pages); err != nil {
		return nil, err
	}
	if s.Bytes, err = report.TreeSize(e.JobDir(id)); err != nil {
		return nil, err
	}
	s.Outputs = e.outputs(id)
	return s, e.readLog(ctx, id, s)
}

// bound is what of a job's budgets is spent, by the stores; empty: nothing.
func (e *Engine) bound(ctx context.Context, job *crawl.Job, pages int64) (string, error) {
	if job.MaxPages > 0 && pages >= int64(job.MaxPages) {
		return fmt.Sprintf("max_pages %d", job.MaxPages), nil
	}
	if !job.Bounds.Counted() {
		return "", nil
	}
	spent, err := e.Store().Spending().Spent(ctx, job.ID)
	return job.Bounds.Met(spent), err
}

// logPage is how many lines of crawl.log are read at once.
const logPage = 4096

// readLog adds what crawl.log tells: pages by depth, and the time from its first line to its last.
func (e *Engine) readLog(ctx context.Context, id crawl.JobID, s *workflow.Stats) error {
	log, err := e.Store().JobLog(ctx, id)
	if err != nil {
		return err
	}
	var first, last time.Time
	s.Depths = map[int]int64{}
	for from := int64(0); ; {
		lines, next, err := log.LinesFrom(ctx, id, from, logPage)
		if err != nil {
			return err
		}
		for i := range lines {
			l := &lines[i]
			if first.IsZero() || l.At.Before(first) {
				first = l.At
			}
			if l.At.After(last) {
				last = l.At
			}
			if l.Kind == crawl.KindPage && l.Verdict == crawl.VerdictDone && l.Status/100 == http.StatusOK/100 {
				s.Depths[l.Depth]++
			}
		}
		if from = next; len(lines) < logPage {
			s.DurationS = last.Sub(first).Seconds()
			return nil
		}
	}
}

// Audit implements workflow.Engine.
func (e *Engine) Audit(ctx context.Context, id crawl.JobID) (*workflow.AuditSummary, error) {
	r, err := e.Store().AuditJob(ctx, id)
	if err != nil {
		return nil, err
	}
	return workflow.Audited(&r, time.Now()), nil
}
