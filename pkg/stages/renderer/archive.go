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
	x := &crawl.Exchange{Job: job.ID, URL: p.Task.URL, Started: p.Rendered.At, Body: res.HTML, Digest: p.Rendered.Digest,
		Refers: p.Capture, ResponseHeader: http.Header{"Content-Type": {p.ContentType}}}
	if res.Verdict == render.Limit && res.Cut {
		x.Truncated = "length"
	}
	if err := h.deps.Archive.Write(ctx, x); err != nil {
		return fmt.Errorf("archive the rendered HTML: %w", err)
	}
	return nil
}

// maxPicture bounds the screenshot of a page, in octets.
const maxPicture = 4 << 20

// picture keeps the screenshot of a page, where there is one.
func (h *Handler) picture(ctx context.Context, job *crawl.Job, p *crawl.Page, webp []byte) (err error) {
	if h.deps.Pictures == nil || len(webp) == 0 || len(webp) > maxPicture {
		return nil
	}
	if p.Rendered.Screenshot, err = h.deps.Pictures.Keep(ctx, job.ID, p.Task.URL, webp); err != nil {
		return fmt.Errorf("keep the screenshot: %w", err)
	}
	return nil
}
