package weburl

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// canonicalSeeds are the hazards of canonicalisation.
var canonicalSeeds = []string{
	"http://a/%%32e/%%32e", "http://a/%2%65%2%65/x", "http://a/..;jsessionid=1/b", "http://a/.;sid=1",
	"http://a/%7e%3a%3A?%7E%26", "http://a/?&utm_x=1", "http://a/?utm_x=1&", "http://a/?b&&a", "http://a./", "http://a../",
	"http://1.2.3../", "http://../", "http://a/%%41B?%%41%42", "http://a/%3%32e",
	"http://a/;sid=1;x;sid=2/y?sid=0a1b2c3d4e5f6a7b&%73id=0a1b2c3d4e5f6a7b",
}

func TestCanonicalRules(t *testing.T) {
	c := NewCanonicalizer(DefaultCanonical())
	for _, group := range []struct {
		rule  string
		cases [][2]string // input, canonical
	}{
		{"serialisation of the standard", [][2]string{
			{"HTTP://Example.COM", "http://example.com/"},
			{"http://example.com:80/a/../b", "http://example.com/b"},
			{"https://example.com:443", "https://example.com/"},
			{"http://0x7f.1/", "http://127.0.0.1/"},
			{"http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"},
		}},
		{"fragment and userinfo go", [][2]string{
			{"http://u:p@a/b#c", "http://a/b"},
			{"http://u@a:81/#", "http://a:81/"},
		}},
		{"the root dot of a host goes", [][2]string{
			{"http://a.example./x", "http://a.example/x"},
			{"http://a.example.:81/", "http://a.example:81/"},
			{"http://a../", "http://a../"},
			{"http://1.2.3../", "http://1.2.3../"},
			{"http://./", "http://./"},
		}},
		{"percent-encoding in normal form", [][2]string{
			{"http://a/%7Euser/%61%2d%5f%2Ez", "http://a/~user/a-_.z"},
			{"http://a/%c3%bc?q=%e4%41", "http://a/%C3%BC?q=%E4A"},
			{"http://a/%2f%3f%23%25", "http://a/%2F%3F%23%25"},
			{"http://a/%252e", "http://a/%252e"},
			{"http://a/100%", "http://a/100%"},
			{"http://a/%%32e/b", "http://a/%%32e/b"},
			{"http://a/%3%32e", "http://a/%3%32e"},
			{"http://a/%%41B", "http://a/%%41B"},
			{"http://a/%%7e", "http://a/%~"},
			{"http://a/%2%7e", "http://a/%2~"},
		}},
		{"an empty query goes", [][2]string{
			{"http://a/?", "http://a/"},
			{"http://a/??", "http://a/??"},
			{"http://a/?&", "http://a/?&"},
		}},
		{"session ids in the query go", [][2]string{
			{"http://a/?PHPSESSID=x&b=1", "http://a/?b=1"},
			{"http://a/?b=1&phpsessid=x", "http://a/?b=1"},
			{"http://a/?ASPSESSIONIDQQCABC=X", "http://a/"},
			{"http://a/?CFID=1&CFTOKEN=2&c=3", "http://a/?c=3"},
			{"http://a/?%50HPSESSID=x", "http://a/"},
			{"http://a/?jsessionid", "http://a/"},
		}},
		{"an ambiguous name goes only with a token", [][2]string{
			{"http://a/?sid=0123456789abcdef0123456789abcdef", "http://a/"},
			{"http://a/?SID=5f2b1c3d-9e8f-4a7b-8c6d-0e1f2a3b4c5d", "http://a/"},
			{"http://a/?sid=20817", "http://a/?sid=20817"},
			{"http://a/?sid=1234567890123456", "http://a/?sid=1234567890123456"},
			{"http://a/?sid=winter-collection-of-2024", "http://a/?sid=winter-collection-of-2024"},
			{"http://a/?sid=0a1b2c3d4e5f6a7b.x", "http://a/?sid=0a1b2c3d4e5f6a7b.x"},
			{"http://a/?session=", "http://a/?session="},
		}},
		{"session ids in path parameters go", [][2]string{
			{"http://a/b;jsessionid=0A1B?c", "http://a/b?c"},
			{"http://a/b;x=1;JSESSIONID=2;y/c", "http://a/b;x=1;y/c"},
			{"http://a/;jsessionid=1/", "http://a//"},
			{"http://a/b/..;jsessionid=1/c", "http://a/b/..;jsessionid=1/c"},
			{"http://a/b;jsessionidx=1", "http://a/b;jsessionidx=1"},
		}},
		{"tracking goes", [][2]string{
			{"http://a/?utm_source=x&UTM_Medium=y&id=7&fbclid=z", "http://a/?id=7"},
			{"http://a/?gclid=1#x", "http://a/"},
			{"http://a/?utm=1", "http://a/?utm=1"},
			{"http://a/?x_utm_source=1", "http://a/?x_utm_source=1"},
			{"http://a/?a=utm_source", "http://a/?a=utm_source"},
			{"http://a/?&utm_x=1&", "http://a/?&"},
		}},
		{"what may change the meaning stays", [][2]string{
			{"http://www.a.example/index.html", "http://www.a.example/index.html"},
			{"http://a/b/", "http://a/b/"},
			{"http://a/b", "http://a/b"},
			{"http://a//b///c", "http://a//b///c"},
			{"http://a/?b=2&a=1&b=1", "http://a/?b=2&a=1&b=1"},
			{"http://a/?x=a+b&y=a%20b", "http://a/?x=a+b&y=a%20b"},
			{"http://a/B?C=D", "http://a/B?C=D"},
		}},
	} {
		t.Run(group.rule, func(t *testing.T) {
			for _, tc := range group.cases {
				if got := c.Canonical(mustParse(t, tc[0])).String(); got != tc[1] {
					t.Errorf("Canonical(%q) = %q, want %q", tc[0], got, tc[1])
				}
			}
		})
	}
}

func TestCanonicalSortQuery(t *testing.T) {
	c := NewCanonicalizer(CanonicalConfig{SortQuery: true})
	for in, want := range map[string]string{
		"http://a/?b=2&a=1&b=1": "http://a/?a=1&b=2&b=1",
		"http://a/?b&&a&":       "http://a/?a&b",
		"http://a/?&":           "http://a/",
		"http://a/?utm_a=1":     "http://a/?utm_a=1", // nothing is stripped unless it is listed
	} {
		if got := c.Canonical(mustParse(t, in)).String(); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCanonicalMaxLength(t *testing.T) {
	c := NewCanonicalizer(CanonicalConfig{MaxLength: len("http://a/12")})
	if got := c.Canonical(mustParse(t, "http://a/12#beyond")).String(); got != "http://a/12" {
		t.Errorf("a URL of just MaxLength became %q", got)
	}
	if got := c.Canonical(mustParse(t, "http://a/123")); !got.IsZero() {
		t.Errorf("a URL beyond MaxLength became %q", got)
	}
	if got := c.Canonical(URL{}); !got.IsZero() {
		t.Errorf("the zero URL became %q", got)
	}
}

func mustParse(t testing.TB, raw string) URL {
	t.Helper()
	u, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestComposedCanonicalForms: canonicalising twice, or parsing in between, changes nothing, whatever a URL is made of.
func TestComposedCanonicalForms(t *testing.T) {
	pieces := strings.Split("/,/,?,&,=,;,.,..,%,%2,%3,%2e,%2E,%25,%32,%65,%7e,%2f,%c3%bc,2,e,a,~,+,#,', ,"+
		";jsessionid=1,;sid,sid=,0a1b2c3d4e5f6a7b,utm_,utm_a=b,PHPSESSID=,cfid,%73id=,ü", ",")
	r := rand.New(rand.NewPCG(3, 4))
	plain := NewCanonicalizer(DefaultCanonical())
	cfg := DefaultCanonical()
	cfg.SortQuery = true
	sorted := NewCanonicalizer(cfg)
	for range 20_000 {
		raw := "http://u@h.:80/"
		for range r.IntN(12) {
			raw += pieces[r.IntN(len(pieces))]
		}
		for _, c := range []*Canonicalizer{plain, sorted} {
			once := c.Canonical(mustParse(t, raw))
			if twice := c.Canonical(once); twice != once {
				t.Fatalf("canonical form of %q: first %q, then %q", raw, once, twice)
			}
			checkURL(t, once)
		}
	}
}
