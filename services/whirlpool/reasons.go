package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// reasons counts the outcomes and exclusions of a cluster's job.
func jobReasons(ctx context.Context, j *cluster.Job) ([]report.Reason, error) {
	all, err := j.Cluster.Postgres.URLs().Reasons(ctx, j.Info.ID)
	out := make([]report.Reason, len(all))
	for i, w := range all {
		out[i] = report.Reason{Verdict: w.Verdict.String(), Reason: w.Reason, URLs: w.URLs}
	}
	return out, err
}

// reasonsOf counts the last word of a directory's crawl.log on each URL. It holds the keys of all URLs, 24 bytes each.
func reasonsOf(ctx context.Context, dir string) ([]report.Reason, error) {
	last := map[weburl.Key]report.Reason{}
	err := directory.Lines(ctx, dir, func(l *crawl.LogLine, _ []byte) error {
		if l.Verdict.Final() && l.Kind.InLedger() {
			last[l.URL.Key()] = report.Reason{Verdict: l.Verdict.String(), Reason: l.Reason}
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	count := map[report.Reason]int64{}
	for _, r := range last {
		count[r]++
	}
	out := make([]report.Reason, 0, len(count))
	for r, n := range count {
		r.URLs = n
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b report.Reason) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
	})
	return out, nil
}
