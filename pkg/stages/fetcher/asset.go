package fetcher

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// asset deals with the answer to an asset's request: it is archived, whatever its media type. A style sheet goes to the
// parser, as it may have assets itself; nothing else is looked into. What turns out to be a page is fetched again as
// one, if the job takes pages of that media type, because no other message may claim its URL.
func (h *Handler) asset(ctx context.Context, a *attempt, b *body, contentType string) ([]crawl.Event, error) {
	media := mediaType(contentType)
	switch {
	case media == "text/css":
		return h.spool(ctx, a, b, contentType)
	case isMarkup(media) && accepts(a.job.MediaTypes, media):
		a.drain()
		a.out.Verdict, a.out.Reason = crawl.VerdictRetry, crawl.ReasonNotAsset
		a.out.Detail = fmt.Sprintf("it is %s: it is fetched again as a page", media)
		return nil, nil
	}
	return nil, h.keepAsset(ctx, a, b)
}

// keepAsset reads a body for the archive only.
func (h *Handler) keepAsset(ctx context.Context, a *attempt, b *body) error {
	_, _ = io.Copy(io.Discard, b) // its error is the body's
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if a.broke(b) {
		return nil
	}
	a.finish()
	a.out.Bytes, a.out.Digest = b.n, b.digest()
	return h.archive(ctx, a, b)
}

// broke reports whether a body could not be had, and makes that the outcome.
func (a *attempt) broke(b *body) bool {
	if b.fault() == nil {
		return false
	}
	a.failed(b.fault())
	return true
}

// besides archives what a page links to and what is no page by its media type, such as an image: a page may show it as
// well, and it is not requested a second time.
func (h *Handler) besides(ctx context.Context, a *attempt, b *body, media string) error {
	if err := h.keepAsset(ctx, a, b); err != nil || a.out.Verdict != crawl.VerdictDone {
		return err
	}
	a.out.Verdict, a.out.Reason = crawl.VerdictRefused, crawl.ReasonMediaType
	a.out.Detail = fmt.Sprintf("media type %q is not among media_types; it is kept as an asset", cut(media))
	return nil
}

// isAsset reports whether pages show or run what has the media type.
func isAsset(media string) bool {
	major, minor, _ := strings.Cut(media, "/")
	switch major {
	case "image", "font":
		return true
	}
	return media == "text/css" || strings.HasSuffix(minor, "javascript") || strings.HasPrefix(minor, "font-")
}

func isMarkup(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }
