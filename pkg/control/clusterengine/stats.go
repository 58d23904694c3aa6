package clusterengine

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Stats implements workflow.Engine. It reads the whole log.
func (e *Engine) Stats(ctx context.Context, id crawl.JobID) (*workflow.Stats, error) {
	info, known, err := e.info(ctx, id)
	if err != nil {
		return nil, err
	}
	if !known {
		return &workflow.Stats{}, nil
	}
	tally, err := e.Postgres.URLs().Tally(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &workflow.Stats{Pages: tally.Pages, Claimed: tally.Claimed, Open: openOf(tally), Verdicts: tally.Verdicts,
		Statuses: tally.Statuses, Excluded: tally.Excluded}
	if s.Records, err = e.countRecords(ctx, id); err != nil {
		return nil, err
	}
	if s.Letters, _, err = e.countLetters(ctx, id, 0); err != nil {
		return nil, err
	}
	if s.Bound, err = e.bound(ctx, info.Job, tally.Pages); err != nil {
		return nil, err
	}
	return s, e.readLog(ctx, id, s)
}

// countRecords asks the store for its count, and counts where it keeps none.
func (e *Engine) countRecords(ctx context.Context, id crawl.JobID) (n int64, err error) {
	if n, err = e.Mongo.Job(id).Count(ctx); err == nil {
		return n, nil
	}
	n = 0
	err = e.Mongo.Job(id).Keys(ctx, func(weburl.Key) error { n++; return nil })
	return n, err
}

// bound is what of a job's budgets is spent; empty: nothing.
func (e *Engine) bound(ctx context.Context, job *crawl.Job, pages int64) (string, error) {
	if job.MaxPages > 0 && pages >= int64(job.MaxPages) {
		return fmt.Sprintf("max_pages %d", job.MaxPages), nil
	}
	if !job.Bounds.Counted() {
		return "", nil
	}
	spent, err := e.Postgres.Spending().Spent(ctx, job.ID)
	return job.Bounds.Met(spent), err
}

// maxHosts bounds the hosts that are counted one by one: of more, Stats says as many.
const maxHosts = 1_000_000

// readLog adds what the log tells: pages by depth, hosts, bytes, and the time from the first line to the last.
func (e *Engine) readLog(ctx context.Context, id crawl.JobID, s *workflow.Stats) error {
	var first, last time.Time
	s.Depths = map[int]int64{}
	hosts := map[string]struct{}{}
	err := e.Postgres.AttemptLog().Lines(ctx, id, crawl.LogSelection{}, 0, func(l *crawl.LogLine, _ int64) error {
		if first.IsZero() || l.At.Before(first) {
			first = l.At
		}
		if l.At.After(last) {
			last = l.At
		}
		if l.Kind != crawl.KindPage || l.Verdict == crawl.VerdictExcluded {
			return nil
		}
		if len(hosts) < maxHosts {
			hosts[l.URL.HostKey()] = struct{}{}
		}
		if s.Bytes += l.Bytes; l.Verdict == crawl.VerdictDone && l.Status/100 == http.StatusOK/100 {
			s.Depths[l.Depth]++
		}
		return nil
	})
	s.Hosts, s.DurationS = int64(len(hosts)), last.Sub(first).Seconds()
	return err
}

// Audit implements workflow.Engine.
func (e *Engine) Audit(ctx context.Context, id crawl.JobID) (*workflow.AuditSummary, error) {
	j, err := e.Cluster.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	r, err := j.Audit(ctx)
	if err != nil {
		return nil, err
	}
	return workflow.Audited(r, e.now()), nil
}
