package weburl

import (
	"errors"
	"strings"
	"testing"
)

// TestParseAny covers each part of the standard with a few cases, those that changed lately included.
func TestParseAny(t *testing.T) {
	for _, tc := range []struct{ raw, base, href string }{
		{"  https://EXAMPLE.com:443/a/./b/../c?d#e \n", "", "https://example.com/a/c?d#e"},
		{"ht\ttp://a\n/b", "", "http://a/b"},
		{`http:\\a\b\..\c`, "", "http://a/c"},
		{"http:////a", "", "http://a/"},
		{"http://a/%2E%2e/b/%2e", "", "http://a/b/"},
		{"http://a/b^|`{}?'\"#`\"", "", "http://a/b%5E|%60%7B%7D?%27%22#%60%22"},
		{"http://u:p@w@a/", "", "http://u:p%40w@a/"},
		{"http://u:@a/", "", "http://u@a/"},
		{"http://a:0080/", "", "http://a/"},
		{"https://a:80/", "", "https://a:80/"},
		{"http://0x7f.1/", "", "http://127.0.0.1/"},
		{"http://017700000001/", "", "http://127.0.0.1/"},
		{"http://1.2.3.4./", "", "http://1.2.3.4/"},
		{"http://[1:0:0:2::5.6.7.8]/", "", "http://[1::2:0:0:506:708]/"},
		{"http://[0:0:1::]/", "", "http://[0:0:1::]/"},
		{"http://[::ffff:1.2.3.4]/", "", "http://[::ffff:102:304]/"},
		{"http://％４1.example/", "", ""},
		{"http://bücher.example/", "", "http://xn--bcher-kva.example/"},
		{"http://a b/", "", ""},
		{"http://a<b/", "", ""},
		{"http://%/", "", ""},
		{"http://1.2.3.256/", "", ""},
		{"http://1.2.3.4.5/", "", ""},
		{"http://a.1/", "", ""},
		{"http://[::1%25eth0]/", "", ""},
		{"http://[1.2.3.4]/", "", ""},
		{"http://a:65536/", "", ""},
		{"http://a:x/", "", ""},
		{"http://", "", ""},
		{"http://u@/", "", ""},
		{"a", "", ""},
		{"a", "mailto:x", ""},
		{"#f", "mailto:x", "mailto:x#f"},
		{"../c?q", "http://a/b/b/b#f", "http://a/b/c?q"},
		{"", "http://a/b?c#d", "http://a/b?c"},
		{"http:c", "http://a/b", "http://a/c"},
		{"https:c", "http://a/b", "https://c/"},
		{"//b", "https://a/", "https://b/"},
		{`/\b`, "https://a/", "https://b/"},
		{"mailto:A b", "", "mailto:A b"},
		{"data:a  #b", "", "data:a %20#b"},
		{"JavaScript:alert('é')", "", "javascript:alert('%C3%A9')"},
		{"x:/a/..//b", "", "x:/.//b"},
		{"x://H/%41?'", "", "x://H/%41?'"},
		{"x://a b", "", ""},
		{"x://:1/", "", ""},
		{"blob:https://a/1-2", "", "blob:https://a/1-2"},
		{"file:c|/a/../..", "", "file:///c:/"},
		{"file://localhost/a", "", "file:///a"},
		{"/x", "file:///C:/y", "file:///C:/x"},
		{"D|/x", "file:///C:/y", "file:///D:/x"},
	} {
		href, err := ParseAny(tc.raw, tc.base)
		if href != tc.href || (err != nil) != (tc.href == "") {
			t.Errorf("ParseAny(%q, %q) = %q, %v; want %q", tc.raw, tc.base, href, err, tc.href)
		}
	}
	if _, err := ParseAny("a", "http://a b/"); err == nil || !strings.Contains(err.Error(), "a b") {
		t.Errorf("a broken base gives %v", err)
	}
}

// TestDomainToASCII covers what the oracle's tables are too old for.
func TestDomainToASCII(t *testing.T) {
	for domain, want := range map[string]string{
		"XN--A":                  "xn--a", // an ASCII domain passes whatever its Punycode
		"xn--":                   "xn--",
		"xn--a.\u00df":           "", // any other must be sound
		"xn--.\u00df":            "",
		"FA\u1e9e.de":            "xn--fa-hia.de",
		"\u04c0.example":         "xn--s5a.example",
		"a\u180eb":               "ab",
		"a\u10a0b":               "xn--ab-r51a",
		"\u00ad":                 "",
		"a\u200cb":               "",
		"\ufffd.example":         "",
		"a\xff":                  "",
		"=\u0338":                "xn--1ch",
		strings.Repeat("é", 600): "",
	} {
		if got, err := domainToASCII(domain); got != want || (err != nil) != (want == "") {
			t.Errorf("domainToASCII(%q) = %q, %v; want %q", domain, got, err, want)
		}
	}
}

func TestErrorsNameTheirKindAndTheInput(t *testing.T) {
	base := mustParse(t, "http://a/")
	for raw, kind := range map[string]error{
		"mailto:a@b":                         ErrScheme,
		"javascript:void(0)":                 ErrScheme,
		"ftp://a/":                           ErrScheme,
		"http://a b/":                        ErrHost,
		"http://a:99999/":                    ErrPort,
		"//":                                 ErrHost,
		strings.Repeat("x", MaxInput+1):      ErrTooLong,
		"http://" + strings.Repeat("ü", 9e5): ErrHost,
	} {
		_, err := base.Resolve(raw)
		var e *Error
		if !errors.Is(err, kind) || !errors.As(err, &e) || !strings.HasPrefix(raw, e.Input) || len(e.Input) > maxShown {
			t.Errorf("Resolve(%.40q) = %.300v; want kind %q", raw, err, kind)
		}
	}
	if _, err := Parse("/a"); !errors.Is(err, ErrRelative) {
		t.Errorf("Parse of a relative reference: %v", err)
	}
	if _, err := Parse(""); !errors.Is(err, ErrRelative) {
		t.Errorf("Parse of nothing: %v", err)
	}
}

func TestAccessors(t *testing.T) {
	u := mustParse(t, "HTTP://user:pw@Www.Example.CO.UK:8080/p/q;r?s=t&u#v")
	for _, tc := range []struct{ name, got, want string }{
		{"String", u.String(), "http://user:pw@www.example.co.uk:8080/p/q;r?s=t&u#v"},
		{"Scheme", u.Scheme(), "http"},
		{"Hostname", u.Hostname(), "www.example.co.uk"},
		{"Port", u.Port(), "8080"},
		{"EffectivePort", u.EffectivePort(), "8080"},
		{"Path", u.Path(), "/p/q;r"},
		{"Query", u.Query(), "s=t&u"},
		{"Fragment", u.Fragment(), "v"},
		{"RequestURI", u.RequestURI(), "/p/q;r?s=t&u"},
		{"Origin", u.Origin(), "http://www.example.co.uk:8080"},
		{"HostKey", u.HostKey(), "www.example.co.uk:8080"},
		{"RegistrableDomain", u.RegistrableDomain(), "example.co.uk"},
		{"https EffectivePort", mustParse(t, "https://a").EffectivePort(), "443"},
		{"http EffectivePort", mustParse(t, "http://a").EffectivePort(), "80"},
		{"empty query", mustParse(t, "http://a?").RequestURI(), "/?"},
		{"no query", mustParse(t, "http://a#").RequestURI(), "/"},
		{"IPv6 Hostname", mustParse(t, "http://[::1]:81/").Hostname(), "[::1]"},
		{"IPv6 HostKey", mustParse(t, "http://[::1]:81/").HostKey(), "[::1]:81"},
		{"http HostKey", mustParse(t, "http://a:80").HostKey(), "a"},
		{"https HostKey", mustParse(t, "https://a:443").HostKey(), "a"},
		{"Display", mustParse(t, "http://xn--bcher-kva.example:81/x").Display(), "http://bücher.example:81/x"},
		{"Display of broken Punycode", mustParse(t, "http://xn--a.example/").Display(), "http://xn--a.example/"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s is %q, want %q", tc.name, tc.got, tc.want)
		}
	}
}

func TestZeroURL(t *testing.T) {
	var u URL
	all := u.String() + u.Scheme() + u.Hostname() + u.Port() + u.EffectivePort() + u.Path() + u.Query() + u.Fragment() +
		u.RequestURI() + u.Origin() + u.HostKey() + u.RegistrableDomain() + u.Display()
	if !u.IsZero() || all != "" || u.IsIP() {
		t.Errorf("the zero URL says %q", all)
	}
	if got, err := u.Resolve("http://a"); err != nil || got.String() != "http://a/" {
		t.Errorf("Resolve on the zero URL: %q, %v", got, err)
	}
}

func TestRegistrableDomain(t *testing.T) {
	for host, want := range map[string]string{
		"a.b.example.com": "example.com", "example.com.": "example.com", "com": "com", "localhost": "localhost",
		"a.github.io": "a.github.io", "127.0.0.1": "127.0.0.1", "[::1]": "[::1]", "www.bücher.de": "xn--bcher-kva.de",
		".": ".", "..": "..", "a..com": "a..com",
	} {
		u := mustParse(t, "http://"+host+"/")
		if got := u.RegistrableDomain(); got != want {
			t.Errorf("registrable domain of %q is %q, want %q", host, got, want)
		}
	}
}

// TestEqualURLsAreEqualValues: however they were come by, so that URLs can be compared and be map keys.
func TestEqualURLsAreEqualValues(t *testing.T) {
	base := mustParse(t, "http://a/b/c")
	want := mustParse(t, "http://a/b/d?e")
	for _, ref := range []string{"d?e", "./d?e", "../b/d?e", "/b/d?e", "//a/b/d?e", "http://A/b/x/../d?e", "\td?e "} {
		if got, err := base.Resolve(ref); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v", ref, got, err)
		}
	}
}
