package cluster

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Events implements control.Service.
func (c *Cluster) Events(ctx context.Context, id crawl.JobID, s control.Selection, each func(line []byte) error) error {
	j, err := c.Job(ctx, id)
	if err != nil {
		return err
	}
	var line []byte
	return c.Postgres.AttemptLog().Lines(ctx, j.Info.ID, s.Verdicts, s.Reasons, func(l *crawl.LogLine) error {
		line = jsonl.AppendLogLine(line[:0], l)
		return each(line)
	})
}
