package cookies

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func place(url string) Place {
	secure := strings.HasPrefix(url, "https://")
	host, path, _ := strings.Cut(url[strings.Index(url, "//")+2:], "/")
	return Place{Host: host, Path: "/" + path, Secure: secure}
}

// Which requests get a cookie that another host or path has set (RFC 6265; the public suffix list).
func TestIsolation(t *testing.T) {
	for _, tc := range []struct{ from, line, to, want string }{
		{"http://a.test/", "k=v", "http://a.test/x", "k=v"},
		{"http://a.test/", "k=v", "https://a.test/x", "k=v"},
		{"http://a.test/", "k=v", "http://b.test/", ""},
		{"http://a.test/", "k=v", "http://www.a.test/", ""},
		{"http://www.a.test/", "k=v", "http://a.test/", ""},
		{"http://www.a.test/", "k=v; Domain=a.test", "http://a.test/", "k=v"},
		{"http://www.a.test/", "k=v; domain=.A.test", "http://x.y.a.test/", "k=v"},
		{"http://www.a.test/", "k=v; Domain=a.test", "http://ba.test/", ""},
		{"http://www.a.test/", "k=v; Domain=b.test", "http://b.test/", ""},
		{"http://a.test/", "k=v; Domain=www.a.test", "http://www.a.test/", ""},
		{"http://www.a.test/", "k=v; Domain=test", "http://b.test/", ""},
		{"http://a.co.uk/", "k=v; Domain=co.uk", "http://b.co.uk/", ""},
		{"http://me.github.io/", "k=v; Domain=github.io", "http://you.github.io/", ""},
		{"http://me.github.io/", "k=v; Domain=me.github.io", "http://x.me.github.io/", "k=v"},
		{"http://github.io/", "k=v; Domain=github.io", "http://github.io/", "k=v"},
		{"http://github.io/", "k=v; Domain=github.io", "http://you.github.io/", ""},
		{"http://127.0.0.1/", "k=v", "http://127.0.0.1/", "k=v"},
		{"http://127.0.0.1/", "k=v; Domain=127.0.0.1", "http://127.0.0.1/", "k=v"},
		{"http://127.0.0.1/", "k=v; Domain=0.0.1", "http://1.0.0.1/", ""},
		{"http://[::1]/", "k=v", "http://[::1]/", "k=v"},
		{"http://localhost/", "k=v; Domain=localhost", "http://localhost/", "k=v"},
		{"http://localhost/", "k=v; Domain=localhost", "http://a.localhost/", ""},

		{"http://a.test/x/y", "k=v", "http://a.test/x/z", "k=v"},
		{"http://a.test/x/y", "k=v", "http://a.test/xz", ""},
		{"http://a.test/x/y", "k=v", "http://a.test/", ""},
		{"http://a.test/x/y", "k=v; Path=/", "http://a.test/", "k=v"},
		{"http://a.test/", "k=v; Path=/docs", "http://a.test/docs/a", "k=v"},
		{"http://a.test/", "k=v; Path=/docs", "http://a.test/docsa", ""},

		{"https://a.test/", "k=v; Secure", "https://a.test/", "k=v"},
		{"https://a.test/", "k=v; Secure", "http://a.test/", ""},
		{"http://a.test/", "k=v; Secure", "https://a.test/", ""},
		{"https://a.test/", "__Host-k=v; Secure; Path=/", "https://a.test/", "__Host-k=v"},
		{"https://www.a.test/", "__Host-k=v; Secure; Path=/; Domain=a.test", "https://www.a.test/", ""},
		{"https://a.test/", "__Secure-k=v", "https://a.test/", ""},

		{"http://a.test/", "k=v; Max-Age=0", "http://a.test/", ""},
		{"http://a.test/", "k=v; Max-Age=-1", "http://a.test/", ""},
		{"http://a.test/", "k=v; Max-Age=60", "http://a.test/", "k=v"},
		{"http://a.test/", "k=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://a.test/", ""},
		{"http://a.test/", "k=v; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://a.test/", "k=v"},
		{"http://a.test/", "k=", "http://a.test/", "k="},
		{"http://a.test/", `k="v w"`, "http://a.test/", `k="v w"`},
		{"http://a.test/", "u[n]=v", "http://a.test/", "u[n]=v"},
		{"http://a.test/", `k={"a":"ü"}; Max-Age=007`, "http://a.test/", `k={"a":"ü"}`},
		{"http://a.test/", "k=v; Max-Age=99999999999999999999", "http://a.test/", "k=v"},
		{"http://a.test/", "k=v; Max-Age=60x", "http://a.test/", "k=v"},
		{"http://a.test/", " a = b c ;", "http://a.test/", "a=b c"},
		{"http://a.test/", "k=v; Path", "http://a.test/", "k=v"},
		{"http://a.test/", "k=v; Expires=Wednesday, 09-Nov-99 23:12:40 GMT", "http://a.test/", ""},
		{"http://a.test/", "k=v; Expires=Thu Jan  1 00:00:00 1970", "http://a.test/", ""},
		{"http://a.test/", "k=v; Expires=Thu, 1 Jan 1970 0:00:00", "http://a.test/", ""},
		{"http://a.test/", "k=v; Expires=1 Jan 1600 0:00:00", "http://a.test/", "k=v"},
		{"http://a.test/", "k=v; Expires=31 Feb 2001 0:00:00", "http://a.test/", "k=v"},
		{"http://a.test/", "k=v; Expires=1 Jan 2001 24:00:00", "http://a.test/", "k=v"},
		{"http://a.test/", "k=\xff", "http://a.test/", ""},
		{"http://a.test/", "=v", "http://a.test/", "v"},
		{"http://a.test/", " k ; Path=/", "http://a.test/", "k"},
		{"http://a.test/", "=", "http://a.test/", ""},
		{"http://a.test/", ";", "http://a.test/", ""},
		{"http://a.test/", "=k=v", "http://a.test/", ""},
		{"https://a.test/", "=__Host-k", "https://a.test/", ""},
		{"https://a.test/", "__SECURE-k", "https://a.test/", ""},
		{"http://a.test/", "k\x00=v", "http://a.test/", ""},
		{"http://a.test/", "k=" + strings.Repeat("v", MaxCookie), "http://a.test/", ""},
		{"http://a.test/", "k=" + strings.Repeat("v", MaxCookie-1) + "; Path=/", "http://a.test/",
			"k=" + strings.Repeat("v", MaxCookie-1)},
		{"http://a.test/" + strings.Repeat("p", 1<<11) + "/x", "k=v",
			"http://a.test/" + strings.Repeat("p", 1<<11) + "/", ""},
	} {
		from, to := place(tc.from), place(tc.to)
		jar, _ := SetAll(nil, []string{tc.line}, &from, now, nil)
		if Site(from.Host) != Site(to.Host) {
			jar = nil // another jar
		}
		if got := Header(jar, &to, now); got != tc.want {
			t.Errorf("%s sets %.60q, %s gets %q, want %q", tc.from, tc.line, tc.to, got, tc.want)
		}
	}
}

func TestSite(t *testing.T) {
	for host, want := range map[string]string{"www.a.co.uk": "a.co.uk", "a.co.uk": "a.co.uk", "co.uk": "co.uk",
		"me.github.io": "me.github.io", "x.me.github.io": "me.github.io", "localhost": "localhost", "127.0.0.1": "127.0.0.1",
		"[::1]": "[::1]", "a.test": "a.test", "": ""} {
		if got := Site(host); got != want {
			t.Errorf("%q is of %q, want %q", host, got, want)
		}
	}
}

func TestSet(t *testing.T) {
	p := place("http://a.test/")
	steps := []struct {
		line, want string
		changed    bool
	}{
		{"a=1", "a=1", true},
		{"a=1", "a=1", false},
		{"b=2; Max-Age=7200", "a=1; b=2", true},
		{"b=2; Max-Age=7300", "a=1; b=2", false}, // its end alone, and by little
		{"b=2; Max-Age=99999", "a=1; b=2", true},
		{"a=3", "a=3; b=2", true},
		{"c=4; Path=/x", "a=3; b=2", true},
		{"a=; Max-Age=0", "b=2", true},
		{"a=; Max-Age=0", "b=2", false},
	}
	var jar []Cookie
	for i, s := range steps {
		var changed bool
		jar, changed = SetAll(jar, []string{s.line}, &p, now.Add(time.Duration(i)*time.Second), nil)
		if got := Header(jar, &p, now.Add(time.Minute)); got != s.want || changed != s.changed {
			t.Errorf("after %q: %q, changed %v; want %q, %v", s.line, got, changed, s.want, s.changed)
		}
	}
	deep := place("http://a.test/x/y")
	if got := Header(jar, &deep, now.Add(time.Minute)); got != "c=4; b=2" {
		t.Errorf("the longer path comes first: %q", got)
	}
	secure := place("https://a.test/")
	jar, _ = SetAll(jar, []string{"s=1; Secure"}, &secure, now, nil)
	jar, changed := SetAll(jar, []string{"s=2"}, &p, now, nil)
	if got := Header(jar, &secure, now); changed || !strings.Contains(got, "s=1") {
		t.Errorf("plain HTTP replaced a secure cookie: %q", got)
	}
}

// A million Set-Cookie lines leave a jar within its bounds, and little memory.
func TestAMillionLinesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	var jar []Cookie
	for round := range 1000 {
		p := place(fmt.Sprintf("http://h%d.a.test/", round%40))
		lines := make([]string, 1000)
		for i := range lines {
			lines[i] = fmt.Sprintf("n%d-%d=%s; Domain=%s", round, i, strings.Repeat("v", 500), []string{"", "a.test"}[i%2])
		}
		jar, _ = SetAll(jar, lines, &p, now.Add(time.Duration(round)*time.Second), nil)
	}
	within(t, jar)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 32<<20 {
		t.Errorf("%d bytes are in use", m.HeapAlloc)
	}
	if p := place("http://h39.a.test/"); !strings.Contains(Header(jar, &p, now.Add(time.Hour)), "n999-99=") {
		t.Error("the newest is lost")
	}
}

func within(t *testing.T, jar []Cookie) {
	t.Helper()
	hosts, bytes := map[string]int{}, 0
	for i := range jar {
		hosts[jar[i].Domain]++
		bytes += jar[i].size()
		if len(jar[i].Name)+len(jar[i].Value) > MaxCookie || hosts[jar[i].Domain] > MaxOfHost {
			t.Fatalf("%d bytes in a cookie, %d of %s", jar[i].size(), hosts[jar[i].Domain], jar[i].Domain)
		}
	}
	if len(jar) > MaxOfSite || bytes > MaxBytes {
		t.Fatalf("%d cookies, %d bytes", len(jar), bytes)
	}
}

func TestParseFile(t *testing.T) {
	text := "\ufeff# Netscape HTTP Cookie File\r\n\r\n" +
		"a.test\tFALSE\t/\tFALSE\t0\thost\t1\r\n" +
		"#HttpOnly_.a.test\tTRUE\t/x\tTRUE\t1893456000.5\twide\ttwo words\n" +
		".co.uk\tTRUE\t/\tFALSE\t0\tsuffix\t3\n" +
		"# a comment\n127.0.0.1\tTRUE\t/\tFALSE\t-1\tip\t\n" +
		"old.test\tFALSE\t/\tFALSE\t1\told\t4\n"
	jar, err := ParseFile(text)
	if err != nil || len(jar) != 5 {
		t.Fatal(jar, err)
	}
	for url, want := range map[string]string{"http://a.test/": "host=1", "https://b.a.test/x/": "wide=two words",
		"http://b.a.test/x": "", "http://b.co.uk/": "", "http://co.uk/": "suffix=3", "http://127.0.0.1/": "ip=",
		"http://old.test/": ""} {
		p := place(url)
		if got := Header(jar, &p, now); got != want {
			t.Errorf("%s gets %q, want %q", url, got, want)
		}
	}
	for _, bad := range []string{"secret", "a.test FALSE / FALSE 0 k secret", "a.test\tFALSE\tx\tFALSE\t0\tk\tsecret",
		"a.test\tFALSE\t/\tFALSE\tsoon\tk\tsecret", "\tFALSE\t/\tFALSE\t0\tk\tsecret",
		"a.test\tFALSE\t/\tFALSE\t0\tk;\tsecret", "a.test\tFALSE\t/\tFALSE\t0\tk\tsecret\x00",
		"a.test\tFALSE\t/\tFALSE\tNaN\tk\tsecret"} {
		_, err := ParseFile("\n" + bad)
		if err == nil || !strings.Contains(err.Error(), "line 2") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzSetCookie(f *testing.F) {
	f.Add("a=b; Path=/; Domain=a.test; Max-Age=1; Expires=Thu, 01 Jan 2030 00:00:00 GMT; Secure", "www.a.test", "/x/y",
		true)
	f.Add("__Host-a=\"b\"; Path=/", "127.0.0.1", "", false)
	f.Add("=;;;Domain=..;", "[::1]", "//", true)
	f.Fuzz(func(t *testing.T, line, host, path string, secure bool) {
		p := Place{Host: strings.ToLower(host), Path: path, Secure: secure}
		jar, _ := SetAll(nil, []string{line, line + "x", "z=1"}, &p, now, nil)
		within(t, jar)
		for i := range jar {
			c := &jar[i]
			if c.Domain != p.Host && !below(p.Host, c.Domain) || !strings.HasPrefix(c.Path, "/") || c.Secure && !secure {
				t.Fatalf("%+v of %+v", c, p)
			}
			stranger := Place{Host: "stranger.example", Path: c.Path, Secure: true}
			if p.Host != stranger.Host && !strings.HasSuffix(stranger.Host, c.Domain) && c.For(&stranger, now) {
				t.Fatalf("%+v goes to a stranger", c)
			}
		}
		if h := Header(jar, &p, now); strings.ContainsAny(h, "\r\n\x00") {
			t.Fatalf("%q", h)
		}
	})
}

func FuzzParseFile(f *testing.F) {
	f.Add("a.test\tTRUE\t/\tFALSE\t0\tk\tv\n")
	f.Add("#HttpOnly_.a.test\tTRUE\t/\tFALSE\t1e9\tk\n#\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		jar, err := ParseFile(text)
		if err != nil {
			return
		}
		for i := range jar {
			p := Place{Host: jar[i].Domain, Path: jar[i].Path, Secure: true}
			if h := Header(jar[i:i+1], &p, now); strings.ContainsAny(h, "\r\n\x00") {
				t.Fatalf("%q", h)
			}
		}
	})
}
