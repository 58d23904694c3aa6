package mirror

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func parsed(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(raw, err)
	}
	return u
}

func TestPlainNames(t *testing.T) {
	for raw, want := range map[string]string{
		"http://a.test/":                   "a.test/index.html",
		"https://a.test:8443/x/":           "a.test+8443/x/index.html",
		"http://a.test/x":                  "a.test/x.html",
		"http://a.test/x.HTM":              "a.test/x.HTM",
		"http://a.test/x.php?a=1&b=/2":     "a.test/x.php@a=1&b=%2F2.html",
		"http://a.test/?q":                 "a.test/index@q.html",
		"http://a.test/%2e%2e/%2e":         "a.test/index.html",
		"http://a.test/..%2f..%2fetc":      "a.test/..%2F..%2Fetc.html",
		"http://a.test/a%5cb%00c":          "a.test/a%5Cb%00c.html",
		"http://a.test/%e2%80%aegnp.exe":   "a.test/%E2%80%AEgnp.exe.html", // turns the direction of writing
		"http://a.test/%c3%bc.html":        "a.test/ü.html",
		"http://a.test/%fc.html":           "a.test/%FC.html",
		"http://a.test//x//":               "a.test/_/x/_/index.html",
		"http://a.test/con/nul.txt/com1.x": "a.test/_con/_nul.txt/_com1.x.html",
		"http://a.test/CONOUT$/com%C2%B2/": "a.test/_CONOUT$/_com²/index.html",
		"http://a.test/aux%20.txt":         "a.test/_aux .txt.html",
		"http://a.test/x./y%20/":           "a.test/x%2E/y%20/index.html",
		"http://[::1]/":                    "__1/index.html",
	} {
		if got := plainName(parsed(t, raw), "text/html"); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	for _, c := range [][3]string{{"http://a.test/s.css?v=1", "text/css", "a.test/s.css@v=1.css"},
		{"http://a.test/i.png", "image/png", "a.test/i.png"}, {"http://a.test/i", "image/jpeg", "a.test/i.jpg"},
		{"http://a.test/f", "application/octet-stream", "a.test/f"},
		{"http://a.test/x", "application/xhtml+xml", "a.test/x.xhtml"},
		{"http://a.test/", "image/svg+xml", "a.test/index.svg"}} {
		if got := plainName(parsed(t, c[0]), c[1]); got != c[2] {
			t.Errorf("%s, %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// Of URLs whose files would be one on some file system, each has its own; what is a directory is no file.
func TestNamesAreDifferent(t *testing.T) {
	urls := []string{"http://a.test/x", "http://a.test/X", "http://a.test/x.html", "https://a.test/x", "http://a.test/d",
		"http://a.test/d/e", "http://a.test/D/e", "http://a.test/%c3%bc", "http://a.test/u%cc%88", "http://a.test/d.html/y",
		"http://a.test/.whirlpool-part"}
	plain := make([]string, len(urls))
	for i, u := range urls {
		plain[i] = plainName(parsed(t, u), "text/html")
	}
	n := newNames(plain)
	taken, dirs := map[string]string{}, map[string]bool{}
	for i, u := range urls {
		name := n.of(parsed(t, u), plain[i])
		if other, ok := taken[folded(name)]; ok {
			t.Errorf("%s and %s have the same file %s", u, other, name)
		}
		taken[folded(name)] = u
		for d := path.Dir(name); d != "."; d = path.Dir(d) {
			dirs[folded(d)] = true
		}
	}
	for d := range dirs {
		if u, ok := taken[d]; ok {
			t.Errorf("the file of %s stands where the directory %s is to be", u, d)
		}
	}
}

// Whatever a URL is, its file lies in the directory of its host and has a name that file systems take.
func FuzzPlainName(f *testing.F) {
	f.Add("http://a.test/../%2e%2e/x?y#z", "text/html")
	f.Add("http://a.test/"+strings.Repeat("a/", 300)+strings.Repeat("b%ff", 400), "image/png")
	f.Fuzz(func(t *testing.T, raw, media string) {
		u, err := weburl.Parse(raw)
		if err != nil {
			return
		}
		name := plainName(u, media)
		if !utf8.ValidString(name) || len(name) > maxPath+maxName || path.Clean(name) != name ||
			strings.HasPrefix(name, "/") {
			t.Fatalf("%s: %q", raw, name)
		}
		parts := strings.Split(name, "/")
		if len(parts) < 2 || len(parts) > maxDirs {
			t.Fatalf("%s: %q", raw, name)
		}
		for _, p := range parts {
			if p == "" || p == "." || p == ".." || len(p) > 255 || strings.ContainsAny(p, "\x00\\:*?\"<>|") ||
				strings.HasSuffix(p, ".") {
				t.Fatalf("%s: %q in %q", raw, p, name)
			}
		}
	})
}

func TestRelativePaths(t *testing.T) {
	for _, c := range [][3]string{{"a.test", "a.test/x.html", "x.html"}, {"a.test/d", "a.test/x.html", "../x.html"},
		{"a.test", "b.test/x y#.html", "../b.test/x%20y%23.html"}, {".", "a.test/x.html", "a.test/x.html"},
		{"a.test/x", "a.test/x/y/z", "y/z"}, {"a.test/x", "a.test/x", "../x"}} {
		if got := escapePath(relativePath(c[0], c[1])); got != c[2] {
			t.Errorf("from %s to %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func TestInUTF8(t *testing.T) {
	const bom = "\uFEFF"
	for _, c := range []struct{ in, contentType, charset, want string }{
		{"abc", "text/html", "", "abc"},
		{"<meta charset=utf-8>ü", "text/html", "", "<meta charset=utf-8>ü"},
		{"ü", "text/html; charset=utf-8", "", bom + "ü"},
		{strings.Repeat(" ", 2000) + "ü", "text/html", "", bom + strings.Repeat(" ", 2000) + "ü"},
		{"\xfc", "text/html; charset=iso-8859-1", "", bom + "ü"},
		{"\xfc", "text/html", "", bom + "ü"},
		{bom + "ü", "text/html", "", bom + "ü"},
		{"<meta charset=iso-8859-1>\xfc", "text/html", "", bom + "<meta charset=iso-8859-1>ü"},
		{"a\xffb", "text/html; charset=utf-8", "", bom + "a\uFFFDb"},
		{"<\x00p\x00>\x00", "text/html; charset=utf-16le", "", bom + "<p>"},
		{"\x00<\x00p\x00>", "text/html; charset=utf-16be", "", bom + "<p>"},
		{"<meta charset=iso-8859-1><form accept-charset=utf-8>ü", "text/html; charset=utf-8", "",
			bom + "<meta charset=iso-8859-1><form accept-charset=utf-8>ü"},
		{"<script charset=utf-8></script>ü", "text/html; charset=utf-8", "", bom + "<script charset=utf-8></script>ü"},
		{"<!-- <meta charset=utf-8> -->ü", "text/html", "", bom + "<!-- <meta charset=utf-8> -->ü"},
		{"<?xml version='1.0' encoding='UTF-8'?>ü", "application/xhtml+xml", "", "<?xml version='1.0' encoding='UTF-8'?>ü"},
		{"<p style='a:&quot;&uuml;&quot;;b:url(javascript:)'>", "text/html", "",
			"<p style='a:&quot;&uuml;&quot;;b:url(javascript:)'>"},
		{"<p style='a:&uuml;;b:url(//x.test)'>", "text/html", "", bom + "<p style='a:ü;b:url(http://x.test/)'>"},
		{`@charset "UTF-8";a{b:"ü"}`, "text/css", "", `@charset "UTF-8";a{b:"ü"}`},
		{`/* charset utf-8 */a{b:"ü"}`, "text/css", "", bom + `/* charset utf-8 */a{b:"ü"}`},
		{`"a"`, "text/javascript", "", `"a"`},
		{`"ü"`, "text/javascript", "koi8-r", bom + `"ü"`},
		{bom + `"ü"`, "text/javascript", "", bom + `"ü"`},
		{"'<meta charset=koi8-r>ü'", "text/javascript", "", bom + "'<meta charset=koi8-r>ü'"},
		{"\xfc", "application/javascript; charset=iso-8859-1", "koi8-r", bom + "ü"},
		{"\xd4", "application/x-javascript", "koi8-r", bom + "т"},
		{"\xd4", "text/javascript", "", "\xd4"}, // <script charset=koi8-r> may tell
		{"\xff\xfea\x00", "text/javascript", "koi8-r", bom + "a"},
	} {
		self := &entry{url: parsed(t, "http://a.test/"), ctype: c.contentType, charset: c.charset}
		r := &rewriter{self: self, base: self.url, find: func(weburl.URL) *entry { return nil }}
		if got := string(r.file([]byte(c.in))); got != c.want {
			t.Errorf("%.40q (%s): %.60q, want %.60q", c.in, c.contentType, got, c.want)
		}
	}
}
