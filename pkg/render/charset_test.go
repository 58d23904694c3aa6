package render

import "testing"

func TestContentType(t *testing.T) {
	for _, c := range []struct{ name, fetched, charset, body, want string }{
		{"what the crawler found", "text/html", "utf-8", "ü", "text/html; charset=utf-8"},
		{"it found another than the server says", "text/html; charset=nonsense", "shift_jis", "x",
			"text/html; charset=shift_jis"},
		{"XHTML", "application/xhtml+xml", "utf-8", "ü", "application/xhtml+xml; charset=utf-8"},
		{"nothing was said at all", "", "", "", "text/html; charset=utf-8"},
		{"UTF-8 that nothing declares", "text/html", "", "<p>日本", "text/html; charset=utf-8"},
		{"the server says it", "text/html; charset=koi8-r", "", "x", "text/html; charset=koi8-r"},
		{"the page says it", "text/html", "", `<META content="text/html; charset=koi8-r">`, "text/html"},
		{"XML says it", "application/xhtml+xml", "", `<?xml version="1.0" encoding="koi8-r"?>`, "application/xhtml+xml"},
		{"no UTF-8", "", "", "\xfc", "text/html"},
	} {
		if got := ContentType(c.fetched, c.charset, []byte(c.body)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
