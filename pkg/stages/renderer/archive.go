package renderer

import (
	"context"
	"fmt"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// archive writes the rendered HTML to the archive, if there is one, as what was made of the answer that is there.
func (h *Handler) archive(ctx context.Context, job *crawl.Job, p *crawl.Page, res *render.Result) error {
	if h.deps.Archive == nil || len(p.Capture) == 0 || h.deps.Archived != nil && !h.deps.Archived(job) {
		return nil
	}
	x := &crawl.Exchange{Job: job.ID, URL: p.Task.URL, Started: p.Rendered.At, Body: res.HTML, Digest: p.Rendered.Digest, Refers: p.Capture,
		ResponseHeader: http.Header{"Content-Type": {p.ContentType}}}
	if res.Verdict == render.Limit && res.Cut {
		x.Truncated = "length"
	}
	if err := h.deps.Archive.Write(ctx, x); err != nil {
		return fmt.Errorf("archive the rendered HTML: %w", err)
	}
	return nil
}
