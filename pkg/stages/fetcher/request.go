package fetcher

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Header values that never change; requests share them.
var (
	acceptPage     = []string{"text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"}
	acceptRobots   = []string{"text/plain,*/*;q=0.5"}
	acceptAsset    = []string{"*/*"}
	acceptSitemap  = []string{"application/xml,text/xml,application/rss+xml,application/atom+xml,text/plain;q=0.9,*/*;q=0.5"}
	acceptEncoding = []string{"gzip, br, zstd, deflate"}
)

// newRequest returns the request for a task.
func newRequest(ctx context.Context, job *crawl.Job, task *crawl.Task, proxied bool) *http.Request {
	u := task.URL
	req := &http.Request{
		Method: http.MethodGet, URL: requestURL(u, proxied), Host: u.HostKey(), Header: header(job, task),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(ctx)
}

// requestURL makes u's own text the request target. Parsed by net/url it might read otherwise on the wire: that package
// escapes what the URL Standard leaves alone, such as "|", and fails on a stray "%".
func requestURL(u weburl.URL, proxied bool) *url.URL {
	out := &url.URL{Scheme: u.Scheme(), Host: u.HostKey(), Opaque: u.RequestURI()}
	switch {
	case proxied:
		out.Opaque = "//" + u.HostKey() + u.RequestURI() // printed with the scheme: the absolute form
	case strings.HasPrefix(out.Opaque, "//"): // would be taken for a host
		path, err := url.PathUnescape(u.Path())
		if err != nil {
			path = u.Path()
		}
		out.Opaque, out.Path, out.RawPath, out.RawQuery = "", path, u.Path(), u.Query()
	}
	return out
}

// personalize adds what only this request has.
func personalize(req *http.Request, r *Request) {
	maps.Copy(req.Header, r.Header)
	if r.Form != nil {
		req.Method, req.ContentLength = http.MethodPost, int64(len(r.Form))
		req.Header["Content-Type"] = []string{"application/x-www-form-urlencoded"}
		req.Body = io.NopCloser(bytes.NewReader(r.Form))
	}
}

func header(job *crawl.Job, task *crawl.Task) http.Header {
	h := make(http.Header, 8)
	h["User-Agent"] = []string{job.Agent()}
	h["Accept-Encoding"] = acceptEncoding
	switch task.Kind {
	case crawl.KindRobots:
		h["Accept"] = acceptRobots
	case crawl.KindSitemap:
		h["Accept"] = acceptSitemap
	case crawl.KindAsset, crawl.KindResource:
		h["Accept"] = acceptAsset
	default:
		h["Accept"] = acceptPage
	}
	addFields(h, task)
	if isEmail(job.Contact) {
		h["From"] = []string{job.Contact}
	}
	if isFieldValue(task.ETag) {
		h["If-None-Match"] = []string{task.ETag}
	}
	if isFieldValue(task.LastModified) {
		h["If-Modified-Since"] = []string{task.LastModified}
	}
	return h
}

// isConditional reports whether a request for task carries validators.
func isConditional(task *crawl.Task) bool {
	return isFieldValue(task.ETag) || isFieldValue(task.LastModified)
}

// isEmail tells an e-mail address from a URL, the other form of a contact.
func isEmail(contact string) bool {
	at := strings.IndexByte(contact, '@')
	return at > 0 && at < len(contact)-1 && !strings.ContainsAny(contact, "/ ") && isFieldValue(contact)
}

// isFieldValue reports whether s can be in a header: a validator that a server once sent may not.
func isFieldValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return s != ""
}
