package fakeweb

import (
	"fmt"
	"net"
	"strings"
)

// brokenFraming are answers that break HTTP.
func (h *Hostile) brokenFraming() []HostileCase {
	text := func(name, path, what, answer string) HostileCase {
		return HostileCase{name, path, what, false, rawText(answer)}
	}
	return []HostileCase{
		text("length too long", "/broken/length-long", "fewer bytes than Content-Length: the body is cut",
			okHTML+"Content-Length: 5000\r\n\r\n<html>short"),
		text("length too short", "/broken/length-short",
			"more bytes than Content-Length: they must not become the next answer",
			okHTML+"Content-Length: 6\r\n\r\n<html>HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"),
		text("length negative", "/broken/length-negative", "", okHTML+"Content-Length: -1\r\n\r\n<html>"),
		text("length huge", "/broken/length-huge", "do not allocate what is promised",
			okHTML+"Content-Length: 9223372036854775807\r\n\r\n<html>"),
		text("two lengths", "/broken/length-two", "", okHTML+"Content-Length: 6\r\nContent-Length: 7\r\n\r\n<html>x"),
		text("length and chunks", "/broken/length-chunked", "",
			okHTML+"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n"),
		text("chunk size no number", "/broken/chunk-size", "",
			okHTML+"Transfer-Encoding: chunked\r\n\r\nzz\r\n<html>\r\n0\r\n\r\n"),
		text("chunk size overflow", "/broken/chunk-overflow", "",
			okHTML+"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n<html>"),
		text("chunks cut off", "/broken/chunk-cut", "", okHTML+"Transfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n"),
		{"reset midway", "/broken/reset", "the connection is reset within the body", false, raw(reset)},
		text("closed at once", "/broken/closed", "no answer at all", ""),
		text("status line not HTTP", "/broken/status-line", "", "ICY 200 OK\r\n\r\n<html>"),
		text("status no number", "/broken/status-number", "", "HTTP/1.1 abc Huh\r\nContent-Length: 6\r\n\r\n<html>"),
		text("status 999", "/broken/status-999", "a status outside the ranges",
			"HTTP/1.1 999 Request denied\r\nContent-Length: 6\r\n\r\n<html>"),
		text("status 000", "/broken/status-000", "", "HTTP/1.1 000 Nothing\r\nContent-Length: 6\r\n\r\n<html>"),
		text("HTTP/0.9", "/broken/http-0.9", "a body without status line and header", "<html><body>HTTP/0.9</body></html>\n"),
		text("field without colon", "/broken/field", "", okHTML+"this is no field\r\nContent-Length: 6\r\n\r\n<html>"),
		text("NUL in a field", "/broken/field-nul", "", okHTML+"X-Nul: a\x00b\r\nContent-Length: 6\r\n\r\n<html>"),
		text("huge cookies", "/broken/cookies", "a thousand cookies of 4 KB: limit the size of the header",
			okHTML+strings.Repeat("Set-Cookie: a="+strings.Repeat("c", 4000)+"\r\n", 1000)+"Content-Length: 6\r\n\r\n<html>"),
	}
}

// reset sends half a body and a TCP reset.
func reset(c net.Conn) {
	c.Write([]byte(okHTML + "Content-Length: 2000\r\n\r\n" + strings.Repeat("x", 1000)))
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0) // makes Close send a reset
	}
}

// malformedUnit is what the 100 MB of malformed HTML are made of: everything opened, nothing closed.
const malformedUnit = "<div <p class=\"a' href=<<a href='/x\"><table><tr><td><select><option><svg><math><b><i></p></x></b>&#x110000;&#0;&lt<!-- > <![CDATA[ --> <a href=//[::]:99999/>\n"

// brokenContent are answers that are correct HTTP with contents that hurt.
func (h *Hostile) brokenContent() []HostileCase {
	html := func(head, body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	return []HostileCase{
		{"wrong charset", "/content/charset", "says UTF-8, is UTF-16, with another charset in its meta element", false,
			rawText(html("Content-Type: text/html; charset=utf-8\r\n",
				"\xfe\xff\x00<\x00p\x00>\x04\x16\xd8\x00<meta charset=shift_jis>\x80\x81"))},
		{"unknown charset", "/content/charset-unknown", "", false,
			rawText(html("Content-Type: text/html; charset=x-klingon\r\n", "<p>nuqneH \xe9"))},
		{"wrong type", "/content/type", "says HTML, is a picture", false,
			rawText(html("Content-Type: text/html\r\n", "\x89PNG\r\n\x1a\n"+strings.Repeat("\x00\xff", 500)))},
		{"no type", "/content/no-type", "", false, rawText(html("", "<html><a href=/x>x</a>"))},
		{"not compressed", "/content/not-gzip", "says gzip, is not", false,
			rawText(html("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", "<html><body>plain</body></html>"))},
		{"unknown encoding", "/content/encoding", "", false,
			rawText(html("Content-Type: text/html\r\nContent-Encoding: compress\r\n", "<html>"))},
		{"NUL bytes", "/content/nul", "NUL bytes in text, names and addresses", false,
			rawText(html("Content-Type: text/html\r\n",
				"<ht\x00ml><a hr\x00ef='/a\x00b' href=\"/\x00\">\x00</a>"+strings.Repeat("\x00", 10_000)))},
	}
}

// excessiveContent are answers that have too much of something.
func (h *Hostile) excessiveContent() []HostileCase {
	const nested = 1_000_000
	return []HostileCase{
		{"malformed HTML", "/content/malformed", "100 MB of malformed HTML", false,
			raw(func(c net.Conn) {
				unit := strings.Repeat(malformedUnit, 500)
				fmt.Fprintf(c, "%sConnection: close\r\n\r\n<!doctype html><body>", okHTML)
				repeat(c, unit, 100<<20/len(unit))
			})},
		{"nested elements", "/content/nested", "a million nested elements, a link innermost: do not recurse", false,
			raw(func(c net.Conn) {
				fmt.Fprintf(c, "%sConnection: close\r\n\r\n", okHTML)
				repeat(c, strings.Repeat("<div>", 1000), nested/1000)
				repeat(c, "<a href=\"/innermost\">x</a>", 1)
				repeat(c, strings.Repeat("</div>", 1000), nested/1000)
			})},
		{"attributes", "/content/attributes", "an element with 100,000 attributes", false,
			raw(func(c net.Conn) {
				fmt.Fprintf(c, "%sConnection: close\r\n\r\n<a href=\"/first\"", okHTML)
				for i := range 100_000 {
					if _, err := fmt.Fprintf(c, " a%d=%d", i, i); err != nil {
						return
					}
				}
				repeat(c, ">x</a>", 1)
			})},
		{"links", "/content/links", "a million links: limit how many are taken", false,
			raw(func(c net.Conn) {
				fmt.Fprintf(c, "%sConnection: close\r\n\r\n", okHTML)
				for i := range 10_000 {
					if _, err := fmt.Fprint(c, strings.Repeat(fmt.Sprintf("<a href=\"/l/%d\">x</a>", i), 100)); err != nil {
						return
					}
				}
			})},
		{"long link", "/content/long-link", "an address of 10 MB", false,
			raw(func(c net.Conn) {
				fmt.Fprintf(c, "%sConnection: close\r\n\r\n<a href=\"/", okHTML)
				repeat(c, strings.Repeat("x", 1<<16), 160)
				repeat(c, "\">x</a>", 1)
			})},
	}
}
