package fakeweb

import (
	"net"
	"net/http"
	"strings"
	"time"
)

// Hostile serves answers that attack a client. It is an http.Handler for HTTP/1.x servers, for example that of
// net/http/httptest. Endless answers stop when the client disconnects.
type Hostile struct {
	pause time.Duration
	cases []HostileCase
	byURL map[string]http.HandlerFunc
}

// HostileCase is one attack.
type HostileCase struct {
	Name    string
	Path    string
	What    string // is wrong, and what a client should do about it
	Forever bool   // the answer has no end: only a limit of the client's ends it
	serve   http.HandlerFunc
}

// NewHostile makes the handler; answers that trickle pause so long between two bytes.
func NewHostile(pause time.Duration) *Hostile {
	h := &Hostile{pause: pause, byURL: make(map[string]http.HandlerFunc)}
	for _, table := range [][]HostileCase{h.bombs(), h.endless(), h.slowness(), h.redirects(), h.brokenFraming(),
		h.brokenContent(), h.excessiveContent()} {
		h.cases = append(h.cases, table...)
	}
	for _, c := range h.cases {
		path, _, _ := strings.Cut(c.Path, "?")
		h.byURL[path] = c.serve
	}
	return h
}

// Cases lists the attacks.
func (h *Hostile) Cases() []HostileCase { return append([]HostileCase(nil), h.cases...) }

// ServeHTTP implements http.Handler.
func (h *Hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if serve := h.byURL[r.URL.Path]; serve != nil {
		serve(w, r)
		return
	}
	http.NotFound(w, r)
}

// raw answers with bytes of its own on the bare connection, which is closed afterwards.
func raw(answer func(c net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		hijacker, ok := w.(http.Hijacker)
		if !ok {
			http.Error(w, "fakeweb: this attack needs HTTP/1.x", http.StatusInternalServerError)
			return
		}
		c, _, err := hijacker.Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		answer(c)
	}
}

// rawText answers with the given bytes and closes.
func rawText(text string) http.HandlerFunc {
	return raw(func(c net.Conn) { c.Write([]byte(text)) })
}

// repeat writes text until the client goes, or n times if n is positive.
func repeat(c interface{ Write([]byte) (int, error) }, text string, n int) {
	chunk := []byte(text)
	for i := 0; n <= 0 || i < n; i++ {
		if _, err := c.Write(chunk); err != nil {
			return
		}
	}
}

// hold keeps a connection open until the client closes it.
func hold(c net.Conn) { c.Read(make([]byte, 1)) }

const okHTML = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

func (h *Hostile) endless() []HostileCase {
	return []HostileCase{
		{"endless headers", "/endless/headers", "header fields without end: limit the size of the header", true,
			raw(func(c net.Conn) {
				c.Write([]byte(okHTML))
				repeat(c, strings.Repeat("X-Filler: "+strings.Repeat("y", 1000)+"\r\n", 50), 0)
			})},
		{"endless header line", "/endless/header-line", "one field without end", true,
			raw(func(c net.Conn) {
				c.Write([]byte(okHTML + "X-Filler: "))
				repeat(c, strings.Repeat("y", 1<<16), 0)
			})},
		{"endless body", "/endless/body", "a body without end or length: limit what is read", true,
			raw(func(c net.Conn) {
				c.Write([]byte(okHTML + "Connection: close\r\n\r\n<html><body>"))
				repeat(c, strings.Repeat("<p>and so on</p>\n", 4000), 0)
			})},
		{"endless chunks", "/endless/chunks", "chunks of one byte without end", true,
			raw(func(c net.Conn) {
				c.Write([]byte(okHTML + "Transfer-Encoding: chunked\r\n\r\n"))
				repeat(c, strings.Repeat("1\r\nx\r\n", 1000), 0)
			})},
		{"endless informational", "/endless/informational", "103 answers without end, never the real one", true,
			raw(func(c net.Conn) { repeat(c, strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100), 0) })},
	}
}

func (h *Hostile) slowness() []HostileCase {
	return []HostileCase{
		{"trickle", "/slow/body", "a byte at a time: demand a least rate or a total time", true,
			raw(func(c net.Conn) {
				c.Write([]byte(okHTML + "Connection: close\r\n\r\n"))
				for {
					if _, err := c.Write([]byte("x")); err != nil {
						return
					}
					time.Sleep(h.pause)
				}
			})},
		{"trickling header", "/slow/header", "a byte of the header at a time", true,
			raw(func(c net.Conn) {
				c.Write([]byte(okHTML + "X-Slow: "))
				for {
					if _, err := c.Write([]byte("x")); err != nil {
						return
					}
					time.Sleep(h.pause)
				}
			})},
		{"silence", "/slow/never", "no byte ever: limit the time to the first byte", true, raw(hold)},
		{"stall", "/slow/stall", "half of the promised body, then nothing: limit idle time", true,
			raw(func(c net.Conn) {
				c.Write([]byte(okHTML + "Content-Length: 2000\r\n\r\n" + strings.Repeat("x", 1000)))
				hold(c)
			})},
	}
}

// redirects are cases whose Location must not be followed, or not for ever.
func (h *Hostile) redirects() []HostileCase {
	to := func(name, path, location string) HostileCase {
		return HostileCase{name, path, "redirects to " + firstBytes(location, 60) + ": do not follow", false,
			rawText("HTTP/1.1 302 Found\r\nLocation: " + location + "\r\nContent-Length: 0\r\n\r\n")}
	}
	cases := []HostileCase{
		to("redirect to itself", "/redirect/loop", "/redirect/loop"),
		to("redirect to and fro", "/redirect/fro", "/redirect/to"),
		to("redirect fro and to", "/redirect/to", "/redirect/fro"),
		to("redirect to a file", "/redirect/file", "file:///etc/passwd"),
		to("redirect to another scheme", "/redirect/gopher", "gopher://127.0.0.1:70/1"),
		to("redirect to a script", "/redirect/script", "javascript:alert(1)"),
		to("redirect to loopback", "/redirect/loopback", "http://127.0.0.1:1/"),
		to("redirect to loopback, short", "/redirect/loopback-hex", "http://0x7f.1/"),
		to("redirect to loopback, number", "/redirect/loopback-number", "http://2130706433/"),
		to("redirect to loopback, IPv6", "/redirect/loopback-6", "http://[::1]/"),
		to("redirect to metadata", "/redirect/metadata", "http://169.254.169.254/latest/meta-data/"),
		to("redirect to metadata, mapped", "/redirect/metadata-6", "http://[::ffff:169.254.169.254]/"),
		to("redirect nowhere", "/redirect/empty", ""),
		to("redirect to nonsense", "/redirect/nonsense", "http://[not-an-address/%zz"),
		to("redirect to a long address", "/redirect/long", "/redirect/long?"+strings.Repeat("x", 200_000)),
	}
	return append(cases, HostileCase{"redirect that grows", "/redirect/grow",
		"each redirect leads to a new address: count them", false, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/redirect/grow?x"+firstBytes(r.URL.RawQuery, 2000), http.StatusFound)
		}})
}

func firstBytes(s string, n int) string { return s[:min(len(s), n)] }
