package weburl

import (
	"strings"
	"testing"
)

// seedPairs are references with a base ("" for none) that between them reach every branch of the parser.
var seedPairs = [][2]string{
	{"https://example.com/a/b?c=d#e", ""}, {"HTTP://EXAMPLE.com:80/%7ea/../b", ""}, {"http://a?b", ""}, {"http://a#b", ""},
	{"http://a:81/", ""}, {"http://a:00081/", ""}, {"https://a:80", ""}, {"http://u:p@h/", ""}, {"http://u@@h/", ""},
	{"http:\\\\a\\b", ""}, {"http:a", ""}, {"http:/a", ""}, {"http://0x7f.1/", ""}, {"http://1.2.3.4.5/", ""},
	{"http://256/", ""}, {"http://[::1]:8080/", ""}, {"http://[1:2::1.2.3.4]/", ""}, {"http://bücher.example/ö?ü#ß", ""},
	{"http://xn--zca/", ""}, {"http://a%41/", ""}, {"http://a/%2e%2E/b", ""}, {"http://a/.%2e", ""},
	{"http://a\t/\nb", ""}, {" http://a ", ""}, {"mailto:a b", ""}, {"data:a  #b", ""}, {"x:/.//y", ""},
	{"x://h:1/p?q'#f`", ""}, {"file:c|/..", ""}, {"file://C|/x", ""}, {"../../d", "http://h/a/b/c?q#f"},
	{"./", "http://h/a/b"}, {"..", "http://h/a/b"}, {"a;b=c", "http://h"}, {"?q", "http://h/p?o#f"},
	{"#f", "http://h/p?o#g"}, {"//h2/x", "https://h/"}, {"/x/./y", "http://h/"}, {"/\\x", "http://h/"},
	{"x:y", "http://h/"}, {"a:b/c", "http://h/"}, {"%2e/x", "http://h/a/"}, {"", "http://h/a?b#c"},
	{"/..", "file:///C:/x"}, {"D|/x", "file:///C:/x"}, {"#x", "mailto:a"}, {"http:x", "http://h/a/b"},
	{"./http://x", "http://h/a/b"}, {".//x", "http://h/a/b"}, {"/a//../b", "http://h"},
}

func addSeeds(f *testing.F) {
	for _, p := range seedPairs {
		f.Add(p[0], p[1])
	}
}

// FuzzFastPath: the short cut gives what the standard parser gives, offsets included, or steps aside.
func FuzzFastPath(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, ref, base string) {
		b, err := parseStandard(base, URL{})
		if err != nil {
			b = URL{}
		}
		checkFastPath(t, ref, b)
	})
}

func checkFastPath(t *testing.T, ref string, base URL) {
	t.Helper()
	ref = trimControls(ref)
	fast, ok := parseFast(ref, base)
	if !ok {
		return
	}
	want, err := parseStandard(ref, base)
	if err != nil || fast != want {
		t.Fatalf("parseFast(%q, %q) = %+v; parseStandard says %+v, %v", ref, base, fast, want, err)
	}
}

// FuzzSplice: a URL put together from the start of another and a tail is what Parse makes of the text, or ParseForeign,
// whatever the text is.
func FuzzSplice(f *testing.F) {
	for i, p := range seedPairs {
		f.Add(p[1], i, p[0])
		f.Add(p[0], 3*i, "c/../d?e#f")
	}
	f.Add("http://h/a/b?x=/y", 16, ".")
	f.Add("http://h/a/b", 11, ".")
	f.Add("http://h/a/.", 12, "./c")
	f.Add("http://h/a/%2", 13, "e/c")
	f.Add("http://[::1]:81/a", 17, "b")
	f.Fuzz(func(t *testing.T, before string, n int, tail string) {
		u, err := Parse(before)
		if err != nil || n < 0 {
			u, n = URL{}, 0
		}
		n = min(n, len(u.href))
		want, wantErr := Parse(u.href[:n] + tail)
		if foreign, ok := ParseForeign(u.href[:n] + tail); ok {
			want, wantErr = foreign, nil
		}
		got, err := u.Splice(n, []byte(tail))
		if got != want || (err == nil) != (wantErr == nil) {
			t.Fatalf("%q.Splice(%d, %q) = %+v, %v; Parse says %+v, %v", u.href, n, tail, got, err, want, wantErr)
		}
	})
}

// FuzzResolve: what Resolve returns equals ParseAny, parses back to itself, and its parts add up to the whole.
func FuzzResolve(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, ref, base string) {
		b, err := Parse(base)
		if err != nil {
			t.Skip()
		}
		u, err := b.Resolve(ref)
		href, anyErr := ParseAny(ref, base)
		if err != nil {
			if anyErr == nil && (strings.HasPrefix(href, "http:") || strings.HasPrefix(href, "https:")) {
				t.Fatalf("%q.Resolve(%q) fails with %v; ParseAny says %q", base, ref, err, href)
			}
			return
		}
		if u.String() != href {
			t.Fatalf("%q.Resolve(%q) = %q; ParseAny says %q", base, ref, u, href)
		}
		checkURL(t, u)
	})
}

// checkURL holds any URL to the promises of its type.
func checkURL(t *testing.T, u URL) {
	t.Helper()
	if again, err := Parse(u.String()); err != nil || again != u {
		t.Fatalf("%q parses back to %q, %v", u, again, err)
	}
	tail := u.RequestURI()
	if i := strings.IndexByte(u.String(), '#'); i >= 0 {
		tail += u.String()[i:]
	}
	whole := u.Origin() + tail
	if at := strings.IndexByte(u.String(), '@'); at >= 0 && at < len(u.String())-len(tail) {
		whole = u.Scheme() + "://" + u.record().userinfo + "@" + u.HostKey() + tail
	}
	if whole != u.String() {
		t.Fatalf("the parts of %q add up to %q", u, whole)
	}
	u.RegistrableDomain()
	u.Display()
}

// FuzzCanonicalIdempotent: a canonical URL is canonical, parses back to itself, and has neither userinfo nor fragment.
func FuzzCanonicalIdempotent(f *testing.F) {
	addSeeds(f)
	for _, raw := range canonicalSeeds {
		f.Add(raw, "")
	}
	plain := NewCanonicalizer(DefaultCanonical())
	cfg := DefaultCanonical()
	cfg.SortQuery = true
	sorted := NewCanonicalizer(cfg)
	f.Fuzz(func(t *testing.T, ref, base string) {
		u, err := parse(ref, parseOrZero(base))
		if err != nil {
			t.Skip()
		}
		for _, c := range []*Canonicalizer{plain, sorted} {
			once := c.Canonical(u)
			if once.IsZero() {
				continue
			}
			if twice := c.Canonical(once); twice != once {
				t.Fatalf("canonical form of %q: first %q, then %q", u, once, twice)
			}
			if once.Fragment() != "" || once.String() != once.Origin()+once.RequestURI() {
				t.Fatalf("canonical form of %q has userinfo or a fragment: %q", u, once)
			}
			checkURL(t, once)
		}
	})
}

func parseOrZero(raw string) URL {
	u, _ := Parse(raw)
	return u
}
