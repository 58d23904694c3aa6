package contentseen

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Plugins change records before they are stored.
type Plugins interface {
	// Record changes a record. drop says why it is not stored, and why says it for people; empty: it is.
	Record(ctx context.Context, job *crawl.Job, r *crawl.Record) (drop, why string, err error)
}

// UsePlugins lets plug-ins of jobs take part. Call it before the first Handle.
func (h *Handler) UsePlugins(p Plugins) { h.plugins = p }

// askPlugins lets the job's plug-ins change a record. ok is false where they drop it, which is noted then.
func (h *Handler) askPlugins(ctx context.Context, job *crawl.Job, d *crawl.Document,
	r *crawl.Record) (ok bool, err error) {
	if h.plugins == nil || job.Pipeline.Empty() {
		return true, nil
	}
	drop, why, err := h.plugins.Record(ctx, job, r)
	if err != nil || drop == "" {
		return err == nil, err
	}
	if err := h.note(ctx, d, drop, why); err != nil {
		return false, fmt.Errorf("note why it has no record: %w", err)
	}
	return false, nil
}
