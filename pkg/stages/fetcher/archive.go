package fetcher

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// errorBody is how much of a body that is no page (an error, a redirect) is archived.
const errorBody = 256 << 10

// archived reports whether the exchanges of a job are written to an archive.
func (h *Handler) archived(job *crawl.Job) bool {
	return h.deps.Archive != nil && (h.deps.Archived == nil || h.deps.Archived(job))
}

// keepCopy has the body remembered while it is read, if there is an archive or a log-in to be checked.
func (h *Handler) keepCopy(a *attempt, b *body) {
	if h.archived(a.job) || a.login > 0 {
		b.keep()
	}
}

// leftover deals with the body of an answer that is no page: it is archived, or read away so that the connection can be
// used again.
func (h *Handler) leftover(ctx context.Context, a *attempt) error {
	if !h.archived(a.job) {
		a.drain()
		a.finish()
		return nil
	}
	b, err := a.body(min(int64(a.job.Limits.MaxBody), errorBody))
	if err != nil { // an encoding that is unknown: kept without its body
		a.drain()
		a.finish()
		return h.archive(ctx, a, nil)
	}
	defer b.release()
	b.keep()
	_, _ = io.Copy(io.Discard, b) // what came is kept; the verdict is the status's
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.finish()
	return h.archive(ctx, a, b)
}

// archive writes the exchange to the archive, if there is one. b is nil when the body could not be decoded at all.
func (h *Handler) archive(ctx context.Context, a *attempt, b *body) error {
	if !h.archived(a.job) {
		return nil
	}
	x := &crawl.Exchange{
		Job: a.task.Job, URL: a.task.URL, Started: a.out.Started, Duration: a.out.Ended.Sub(a.out.Started), Addr: a.out.Addr,
		Method: http.MethodGet, RequestHeader: a.exchange.Sent(), Proto: a.answer.Proto, Status: a.answer.Status,
		Referrer: a.task.Referrer, Depth: a.task.Depth, NotModified: a.out.Status == http.StatusNotModified,
	}
	x.Truncated = "unspecified" // WARC 1.1, section 5.13
	if b != nil {
		x.Body, x.Digest, x.Truncated = b.kept(), b.digest(), b.truncation()
	}
	x.ResponseHeader = archivedHeader(&a.answer, len(x.Body))
	x.ID = make(crawl.Capture, 16)
	_, _ = rand.Read(x.ID) // never fails (crypto/rand)
	h.redact(a.job, x.RequestHeader, x.ResponseHeader)
	if err := h.deps.Archive.Write(ctx, x); err != nil {
		return fmt.Errorf("archive the answer: %w", err)
	}
	a.capture = x.ID
	return nil
}

// archivedHeader makes an answer's header fit the body that is archived, which is decoded: a reader of the archive
// would otherwise decode it again. Content-Encoding and Content-Length are those of the body as it is there, and
// what the server sent is kept under X-Archive-Orig- names. net/http has removed Transfer-Encoding.
func archivedHeader(answer *Answer, n int) http.Header {
	h := answer.Header.Clone()
	if answer.Code == http.StatusNotModified {
		return h
	}
	if v := h["Content-Encoding"]; v != nil {
		h.Set("X-Archive-Orig-Content-Encoding", strings.Join(v, ", "))
		h.Del("Content-Encoding")
	}
	if v := h.Get("Content-Length"); v != "" && v != strconv.Itoa(n) {
		h.Set("X-Archive-Orig-Content-Length", v)
	}
	h.Set("Content-Length", strconv.Itoa(n))
	return h
}

// truncation is why a body is not whole, in the words of WARC; empty for one that is.
func (b *body) truncation() string {
	switch err := b.fault(); {
	case err == nil:
		if b.cut {
			return "length"
		}
		return ""
	case errors.Is(err, errIdle), errors.Is(err, errTooSlow), errors.Is(err, errTotal):
		return "time"
	}
	return "disconnect"
}
