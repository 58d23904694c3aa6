package fetcher

import (
	"net/http"
	"net/textproto"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ours are fields that a page's script does not set in a request of ours: who asks, what for, by which way, and how the
// answer comes.
var ours = map[string]bool{"User-Agent": true, "Accept-Encoding": true, "From": true, "Host": true, "Cookie": true,
	"Origin": true, "Referer": true, "Connection": true, "Content-Length": true, "Transfer-Encoding": true, "Te": true,
	"Trailer": true, "Upgrade": true, "Expect": true, "Range": true, "Forwarded": true, "Via": true, "X-Real-Ip": true,
	"X-Original-Url": true, "X-Rewrite-Url": true, "X-Method-Override": true, "If-None-Match": true,
	"If-Modified-Since": true, "Keep-Alive": true, "Client-Ip": true, "True-Client-Ip": true}

// addFields adds the fields that a page's script has set in its request.
func addFields(h http.Header, t *crawl.Task) {
	if t.Fields == "" || t.Kind != crawl.KindResource {
		return
	}
	for line := range strings.Lines(t.Fields) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		name = textproto.CanonicalMIMEHeaderKey(name)
		if ours[name] || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) ||
			strings.HasPrefix(name, "Proxy-") || strings.HasPrefix(name, "Sec-") || strings.HasPrefix(name, "X-Forwarded") ||
			strings.HasPrefix(name, "X-Http-Method") {
			continue
		}
		h[name] = []string{value}
	}
}

// addCookies adds the cookies that a page's scripts have set, as far as the job keeps cookies. Of those that servers
// and the user set the jar knows better: a script may have had them from an answer of an hour ago.
func addCookies(h http.Header, job *crawl.Job, t *crawl.Task) http.Header {
	if t.Kind != crawl.KindResource || t.Fields == "" || !job.KeepsCookies() {
		return h
	}
	for line := range strings.Lines(t.Fields) {
		value, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "cookie: ")
		if !ok || !httpguts.ValidHeaderFieldValue(value) {
			continue
		}
		all := strings.Split(h.Get("Cookie"), "; ")
		known := map[string]bool{"": true}
		for _, pair := range all {
			name, _, _ := strings.Cut(pair, "=")
			known[name] = true
		}
		for pair := range strings.SplitSeq(value, "; ") {
			if name, _, _ := strings.Cut(pair, "="); !known[name] {
				all = append(all, pair)
			}
		}
		if all[0] == "" {
			all = all[1:]
		}
		if len(all) == 0 {
			return h
		}
		if h == nil {
			h = http.Header{}
		}
		h["Cookie"] = []string{strings.Join(all, "; ")}
	}
	return h
}
