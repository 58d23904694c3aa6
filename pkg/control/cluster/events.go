package cluster

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// followEvery is how often a log that is followed is asked for.
const followEvery = time.Second

// Events implements control.Service.
func (c *Cluster) Events(ctx context.Context, id crawl.JobID, s control.Selection, each control.EachLine) error {
	j, err := c.Job(ctx, id)
	if err != nil {
		return err
	}
	var line []byte
	give := func(l *crawl.LogLine, next int64) error {
		line = jsonl.AppendLogLine(line[:0], l)
		return each(line, next)
	}
	log := c.Postgres.AttemptLog()
	if !s.Follow {
		return log.Lines(ctx, j.Info.ID, s.LogSelection, s.From, give)
	}
	err = log.Follow(ctx, j.Info.ID, s.LogSelection, s.From, followEvery, give)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was followed until now
	}
	return err
}
