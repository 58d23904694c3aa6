package fetcher

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/marks"
)

// mostShell is how long an application's shell may be, in octets; one that a bundler made has a few hundred.
const mostShell = 64 << 10

// mayBeShell reports whether an answer that says that there is no such page may be an application's shell, whose
// scripts show the page nevertheless. Hosts of files send 404.html for all that is no file (GitHub Pages), and people
// see the page. A page that is visited again stays gone: one that is not there any more could not be told from it.
func (a *attempt) mayBeShell() bool {
	return a.out.Status == http.StatusNotFound && a.task.Kind == crawl.KindPage && a.task.Visit == 0 &&
		!a.job.Revisits() && a.job.Render.Wanted() && isMarkup(mediaType(typeOf(a.answer.Header)))
}

// shell passes an application's shell on as a page, whatever its status: content-seen has it rendered, and stores what
// comes of that, or nothing. Any other answer says that the page is gone.
func (h *Handler) shell(ctx context.Context, a *attempt) ([]crawl.Event, error) {
	b, err := a.body(min(int64(a.job.Limits.MaxBody), errorBody))
	if err != nil { // an encoding that is unknown
		return nil, h.leftover(ctx, a)
	}
	defer b.release()
	b.keep()
	value := typeOf(a.answer.Header)
	if start, whole := b.ahead(mostShell); whole && a.wants(mediaType(value)) && marks.IsShell(a.task.URL, start) {
		classPage.settle(a.out)
		a.out.Reason, a.out.Detail, a.out.ContentType = "", "", mediaType(value)
		return h.spool(ctx, a, b, value)
	}
	_, err = io.Copy(io.Discard, b)
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	a.finish()
	return nil, h.archive(ctx, a, b)
}

// ahead returns the first octets of the body, at most n, and leaves them to be read; whole: they are all of it.
func (b *body) ahead(n int) (start []byte, whole bool) {
	start = make([]byte, 0, sniffLen)
	for len(start) < n && b.err == nil {
		if cap(start) == len(start) {
			start = append(start, 0)[:len(start)]
		}
		m, _ := b.next(start[len(start):min(cap(start), n)])
		start = start[:len(start)+m]
	}
	b.pending = start
	return start, b.err == io.EOF && !b.cut
}
