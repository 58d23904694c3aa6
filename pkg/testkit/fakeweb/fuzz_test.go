package fakeweb

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// Whatever is asked of the server, it answers with a status, and only URLs of truth answer as pages.
func FuzzAnswer(f *testing.F) {
	cfg := everything()
	cfg.PageBytes = 600
	w := New(cfg)
	for p := range w.Pages {
		if p.Depth > 2 {
			host, target, _ := splitURL(p.URL)
			f.Add(host, target)
			break
		}
	}
	for _, target := range []string{"/", "/robots.txt", "/sitemap.xml", "/sitemap-0.xml.gz", "/calendar/9999/12/",
		"/calendar/x/-1/", "/deep/a/", "/session/1?PHPSESSID=x", "/shop?a&b", "/section-/page-.html",
		"/section-1/page-99999999999999999999.html", "/private/open-1.html"} {
		f.Add("www.site-00000.test", target)
		f.Add("trap-00000.test:80", target)
		f.Add("slow-00001.test", target)
	}
	f.Fuzz(func(t *testing.T, host, target string) {
		var a answer
		w.answerTo(&a, host, []byte(target), 0, func(int) int { return 0 })
		if a.status < 200 || a.status > 599 {
			t.Fatalf("%q %q: status %d", host, target, a.status)
		}
		h, ok := w.parseHost(host)
		if !ok || h.kind != ordinary || !w.Allowed(host, "/robots.txt") {
			return
		}
		if r, ok := w.find(h.n, []byte(target)); ok && string(w.appendPath(nil, r)) != target {
			t.Fatalf("%q %q is taken for page %d", host, target, r.p)
		}
	})
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte("HEAD http://a:1/x?y HTTP/1.0\nconnection: close\nContent-Length: -1\n\n"))
	f.Add([]byte("GET http://a HTTP/1.1\r\n\r\n"))
	f.Add([]byte(" \r\n:\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var q request
		br := bufio.NewReaderSize(bytes.NewReader(data), requestBuffer)
		for q.read(br) == nil {
			if q.method == "" {
				t.Fatalf("%q: no method", data)
			}
		}
	})
}

func FuzzReadLog(f *testing.F) {
	f.Add(`{"host":"a","path":"/","start":1,"end":2}` + "\n" + `{"host":"a","pa`)
	f.Add("null\n[]")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := ReadLog(strings.NewReader(text))
		if err == nil {
			CheckPoliteness(entries, Rules{HostConnections: 2, AddressDelay: 1})
		}
	})
}
