package warc

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// appendRequest appends the request line and the headers of x, with the blank line.
func appendRequest(b []byte, x *crawl.Exchange) []byte {
	method := x.Method
	if !httpguts.ValidHeaderFieldName(method) { // a method is a token, like a header's name
		method = http.MethodGet
	}
	b = append(append(b, method...), ' ')
	b = append(append(b, x.URL.RequestURI()...), " HTTP/1.1\r\n"...)
	if x.RequestHeader.Get("Host") == "" {
		b = append(append(b, "Host: "...), strings.TrimPrefix(x.URL.Origin(), x.URL.Scheme()+"://")...)
		b = append(b, "\r\n"...)
	}
	return append(appendHeader(b, x.RequestHeader), "\r\n"...)
}

// appendResponse appends the status line and the headers of x, with the blank line.
func appendResponse(b []byte, x *crawl.Exchange) []byte {
	proto := x.Proto
	if proto != "HTTP/1.0" {
		proto = "HTTP/1.1"
	}
	b = append(append(b, proto...), ' ')
	b = append(append(b, oneLine(x.Status)...), "\r\n"...)
	return append(appendHeader(b, plainHeader(x)), "\r\n"...)
}

// plainHeader is x's header as it fits the decoded body.
func plainHeader(x *crawl.Exchange) http.Header {
	h := x.ResponseHeader
	length := strconv.Itoa(len(x.Body))
	if bodiless(x) || h.Get("Content-Length") == length && h.Get("Content-Encoding") == "" &&
		h.Get("Transfer-Encoding") == "" {
		return h
	}
	h = maps.Clone(h)
	if h == nil {
		h = http.Header{}
	}
	for _, name := range []string{"Content-Encoding", "Transfer-Encoding", "Content-Length"} {
		if v, ok := h[name]; ok {
			h["X-Orig-"+name] = v
			delete(h, name)
		}
	}
	h["Content-Length"] = []string{length}
	return h
}

// bodiless reports whether the answer's Content-Length speaks of a body that is not sent (RFC 9110, 8.6).
func bodiless(x *crawl.Exchange) bool {
	return x.Method == http.MethodHead || x.NotModified || strings.HasPrefix(x.Status, "304") ||
		strings.HasPrefix(x.Status, "204")
}

// appendHeader appends h sorted by name: the order on the wire is not known. What is no header field is left out.
func appendHeader(b []byte, h http.Header) []byte {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !httpguts.ValidHeaderFieldName(name) {
			continue
		}
		for _, v := range h[name] {
			b = append(append(b, name...), ": "...)
			b = append(append(b, oneLine(v)...), "\r\n"...)
		}
	}
	return b
}

// protocol is the value of WARC-Protocol where the status line does not tell it.
func protocol(proto string) string {
	switch proto {
	case "HTTP/2.0":
		return "h2"
	case "HTTP/3.0":
		return "h3"
	}
	return ""
}
