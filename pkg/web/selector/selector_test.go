package selector

import (
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

const page = `<body><h1 id=h class="a b">x</h1><h2 id=i class=b align=Center>y</h2><ul id=u><li id=l1>1<li id=l2 class="k"><a id=n href=/>z</a>` +
	`<li id="l:is(3)"><p id=p><a id=m>w</a></p></ul></body>`

func TestSelectors(t *testing.T) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for css, want := range map[string]string{
		":is(h1, h2)": "h i", "h1:is(.a,.z), h2:where(.a)": "h", "ul :IS(li.k, p) > a": "n m",
		":is(ul > li):not(:is(.k, :first-child))": "l:is(3)", "li:is(:not(.k):not(:is(#l1)))": "l:is(3)",
		"a:any-link": "n", "li:has(> a)": "l2", "li:has(> a:any-link, > p)": "l2 l:is(3)", "li:has(a)": "l2 l:is(3)",
		"li:has( > :is(p, i) )": "l:is(3)", `[id="l:is(3)"]`: "l:is(3)", `#l\:is\(3\)`: "l:is(3)", "h1": "h",
		`li:not([id=":is("])`: "l1 l2 l:is(3)", ":-webkit-any(h1)": "h",
		"li:has(> p a)": "l:is(3)", "ul:has(> li > p > a)": "u", "ul:has(> b, > li:not(.k) a)": "u", "ul:has(> li > a#m)": "",
		"[ALIGN=center]": "i", "[align='cen' ]": "", "[align^=cen]": "i", `[align="center" s]`: "", "[align=center s]": "",
		"[align=CENTER i]": "i", "[class=K]": "", "[class=K i]": "l2", `[class="K"i]`: "l2", "h2[align*=TE]:not([id=h])": "i",
		"[align]": "i", "[align!=center]:not(:not(h2))": "i", "[align=]": "error", "[align": "error", "[align==x]": "error",
		"li:has(> p + a)": "error", "li:has(> p >)": "error", "li:has(> > a)": "error",
		"ul:has(> :is(li, b) > :where(a))": "u",
		":is()":                            "error", ":is(h1": "error", "h1)": "error", ":is": "error", ":has(> ": "error",
		`:is("`: "error", ":has(>)": "error", "::text": "error", `a\`: "error",
	} {
		group, err := Parse(css)
		var ids []string
		for _, n := range cascadia.QueryAll(root, group) {
			for _, a := range n.Attr {
				if a.Key == "id" {
					ids = append(ids, a.Val)
				}
			}
		}
		got := strings.Join(ids, " ")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", css, got, want, err)
		}
	}
	_, err = Parse("h1::text")
	if err == nil || !strings.Contains(err.Error(), "attr") {
		t.Errorf("error %v, want one that says what to do", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{":is(a,b)", ":has(> a, >[x=')'])", `"\`, ":is(((", "::attr(x)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, css string) {
		_, plain := cascadia.ParseGroup(css)
		if _, err := Parse(css); err != nil && plain == nil && !slices.ContainsFunc(aliases[:], func(a string) bool {
			return strings.Contains(strings.ToLower(css), a)
		}) {
			t.Errorf("%q: %v, but the library takes it", css, err)
		}
	})
}
