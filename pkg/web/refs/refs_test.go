package refs_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/refs"
)

// kinds are the letters of the references in tests.
const kinds = "LASB"

func list(run func(refs.Each) []byte) (found []string, same []byte) {
	same = run(func(r refs.Ref) string {
		found = append(found, fmt.Sprintf("%c %s", kinds[r.Kind], r.URL))
		return r.URL
	})
	return found, same
}

var pages = map[string]struct {
	in   string
	want []string
	out  string // with every URL in capitals and behind X
}{
	"img":         {`<img src="a.png">`, []string{"A a.png"}, `<img src="XA.PNG">`},
	"bare":        {`<img src=a.png alt=b>`, []string{"A a.png"}, `<img src="XA.PNG" alt=b>`},
	"bare at end": {`<img src=a.png>`, []string{"A a.png"}, `<img src="XA.PNG">`},
	"single":      {`<img src='a.png'>`, []string{"A a.png"}, `<img src='XA.PNG'>`},
	"entity":      {`<img src="a?x=1&amp;y=2">`, []string{"A a?x=1&y=2"}, `<img src="XA?X=1&amp;Y=2">`},
	"empty":       {`<img src="" alt>`, nil, `<img src="" alt>`},
	"srcset": {`<img srcset="a.png 1x, b.png 2x">`, []string{"A a.png", "A b.png"},
		`<img srcset="XA.PNG 1x, XB.PNG 2x">`},
	"later": {`<img src="data:x" data-src=a.png data-srcset="b.png 1x, c.png 2x"><source data-lazy-srcset=d.png>`,
		[]string{"A data:x", "A a.png", "A b.png", "A c.png", "A d.png"},
		`<img src="XDATA:X" data-src="XA.PNG" data-srcset="XB.PNG 1x, XC.PNG 2x"><source data-lazy-srcset="XD.PNG">`},
	"later by a template": {`<img data-src="{{a}}"><div data-src=b>`, nil, `<img data-src="{{a}}"><div data-src=b>`},
	"srcset comma":        {`<img srcset="a,b.png,c.png 2x">`, []string{"A a,b.png,c.png"}, `<img srcset="XA,B.PNG,C.PNG 2x">`},
	"srcset end":          {`<img srcset="a.png, b.png">`, []string{"A a.png", "A b.png"}, `<img srcset="XA.PNG, XB.PNG">`},
	"imagesrcset": {`<link rel=preload as=image imagesrcset="a.png 1x">`, []string{"A a.png"},
		`<link rel=preload as=image imagesrcset="XA.PNG 1x">`},
	"picture": {`<picture><source srcset=a.webp><img src=b.png></picture>`, []string{"A a.webp", "A b.png"},
		`<picture><source srcset="XA.WEBP"><img src="XB.PNG"></picture>`},
	"media": {`<video src=v poster=p><track src=t></video><audio src=s></audio><embed src=e><object data=o></object>`,
		[]string{"A v", "A p", "A t", "A s", "A e", "A o"},
		`<video src="XV" poster="XP"><track src="XT"></video><audio src="XS"></audio><embed src="XE"><object data="XO"></object>`},
	"script":     {`<script src=a.js></script>`, []string{"A a.js"}, `<script src="XA.JS"></script>`},
	"in script":  {`<script>"<img src=a>"</script>`, nil, `<script>"<img src=a>"</script>`},
	"style link": {`<link href=a.css rel=StyleSheet>`, []string{"S a.css"}, `<link href="XA.CSS" rel=StyleSheet>`},
	"icon":       {`<link rel="shortcut icon" href=i>`, []string{"A i"}, `<link rel="shortcut icon" href="XI">`},
	"canonical":  {`<link rel=canonical href=c>`, []string{"L c"}, `<link rel=canonical href="XC">`},
	"prefetch":   {`<link rel=prefetch href=c>`, []string{"L c"}, `<link rel=prefetch href="XC">`},
	"preconnect": {`<link rel=preconnect href=//c>`, []string{"L //c"}, `<link rel=preconnect href="X//C">`},
	"fetch":      {`<link rel=preload as=fetch href=c>`, []string{"L c"}, `<link rel=preload as=fetch href="XC">`},
	"style preloaded": {`<link rel="preload stylesheet" href=a><link rel="prefetch stylesheet" href=b><link rel="icon preload stylesheet" as=font href=c>`,
		[]string{"S a", "S b", "S c"},
		`<link rel="preload stylesheet" href="XA"><link rel="prefetch stylesheet" href="XB"><link rel="icon preload stylesheet" as=font href="XC">`},
	"icon prefetched": {`<link rel="prefetch icon" href=i>`, []string{"A i"}, `<link rel="prefetch icon" href="XI">`},
	"asset, then style": {`<link rel="icon preload" as=style href=i>`, []string{"S i"},
		`<link rel="icon preload" as=style href="XI">`},
	"formaction": {`<button formaction=x></button><input formaction=y type=image src=i><p formaction=z>`,
		[]string{"L x", "L y", "A i"},
		`<button formaction="XX"></button><input formaction="XY" type=image src="XI"><p formaction=z>`},
	"ping": {`<a href=x ping=" /a  b ">t</a><area ping=c><p ping=d>`, []string{"L x", "L /a", "L b", "L c"},
		`<a href="XX" ping=" X/A  XB ">t</a><area ping="XC"><p ping=d>`},
	"preload": {`<link rel=preload as=font href=f>`, []string{"A f"}, `<link rel=preload as=font href="XF">`},
	"anchor":  {`<a href=x>t</a><area href=y>`, []string{"L x", "L y"}, `<a href="XX">t</a><area href="XY">`},
	"form": {`<form action=x><input type=image src=i><input src=no></form>`, []string{"L x", "A i"},
		`<form action="XX"><input type=image src="XI"><input src=no></form>`},
	"frames": {`<iframe src=x></iframe><frame src=y>`, []string{"L x", "L y"},
		`<iframe src="XX"></iframe><frame src="XY">`},
	"base": {`<base href=x><base href=y>`, []string{"B x"}, `<base href="XX"><base href=y>`},
	"background": {`<body background=b><td background=c>`, []string{"A b", "A c"},
		`<body background="XB"><td background="XC">`},
	"style attr": {`<p style="background: url(&quot;b.png&quot;)">`, []string{"A b.png"},
		`<p style="background: url(&quot;XB.PNG&quot;)">`},
	"style": {`<style>p{background:url(b.png)} @import "c.css";</style>`, []string{"A b.png", "S c.css"},
		`<style>p{background:url(XB.PNG)} @import "XC.CSS";</style>`},
	"svg": {`<svg><image href=a /><use xlink:href="s#i"/><a xlink:href=l>t</a></svg>`,
		[]string{"A a", "A s#i", "L l"}, `<svg><image href="XA" /><use xlink:href="XS#I"/><a xlink:href="XL">t</a></svg>`},
	"no svg": {`<image href=a>`, nil, `<image href=a>`},
	"refresh": {`<meta http-equiv=refresh content="5; url='x'">`, []string{"L x"},
		`<meta http-equiv=refresh content="5; url=&#39;XX&#39;">`},
	"no refresh": {`<meta name=description content="5; url=x">`, nil, `<meta name=description content="5; url=x">`},
	"srcdoc": {`<iframe srcdoc="<img src='a'>"></iframe>`, []string{"A a"},
		`<iframe srcdoc="&lt;img src=&#39;XA&#39;&gt;"></iframe>`},
	"cite": {`<blockquote cite=a><q cite="b">t</q></blockquote><ins cite=c></ins><del cite=d></del><p cite=e>`,
		[]string{"L a", "L b", "L c", "L d"},
		`<blockquote cite="XA"><q cite="XB">t</q></blockquote><ins cite="XC"></ins><del cite="XD"></del><p cite=e>`},
	"math": {`<math href=a><mrow href="b"><mi xlink:href=c>x</mi></mrow></math><mi href=d>`,
		[]string{"L a", "L b", "L c"},
		`<math href="XA"><mrow href="XB"><mi xlink:href="XC">x</mi></mrow></math><mi href=d>`},
	"instruction": {`<?xml-stylesheet href="a.css"?><p>`, nil, `<?xml-stylesheet href="a.css"?><p>`},
	"comment":     {`<!-- <img src=a> -->`, nil, `<!-- <img src=a> -->`},
	"unfinished":  {`<img src="a`, nil, `<img src="a`},
}

func TestHTML(t *testing.T) {
	for name, c := range pages {
		t.Run(name, func(t *testing.T) {
			found, same := list(func(each refs.Each) []byte { return refs.HTML([]byte(c.in), refs.Options{}, each) })
			if !slices.Equal(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
			if string(same) != c.in {
				t.Errorf("nothing was to change, got %s", same)
			}
			out := refs.HTML([]byte(c.in), refs.Options{}, upper)
			if string(out) != c.out {
				t.Errorf("got  %s\nwant %s", out, c.out)
			}
		})
	}
}

// In XML, style sheets are named before the root element, too.
func TestStyleSheetsOfXML(t *testing.T) {
	for in, want := range map[string]string{
		`<?xml version="1.0"?><?xml-stylesheet type='text/css' href='a.css?x&amp;y'?><svg><image href="i"/></svg>`: "" +
			`S a.css?x&y A i <?xml version="1.0"?><?xml-stylesheet type='text/css' href='XA.CSS?X&amp;Y'?>` +
			`<svg><image href="XI"/></svg>`,
		"<!-- c --><!DOCTYPE html [<!ENTITY e '>'>]>\n<?xml-stylesheet\thref=\"a.xsl\" type=\"text/xsl\"?><html/>": "" +
			"A a.xsl <!-- c --><!DOCTYPE html [<!ENTITY e '>'>]>\n<?xml-stylesheet\thref=\"XA.XSL\" type=\"text/xsl\"?><html/>",
		`<html><?xml-stylesheet href="a.css"?></html>`: ` <html><?xml-stylesheet href="a.css"?></html>`,
		`<?xml-stylesheets href="a.css"?><html/>`:      ` <?xml-stylesheets href="a.css"?><html/>`,
		`<?xml-stylesheet href="a.css`:                 ` <?xml-stylesheet href="a.css`,
		`<?xml-stylesheet href="a><img src='b'>"?><img src="c"/>`: "" +
			`S a><img src='b'> A c <?xml-stylesheet href="XA&gt;&lt;IMG SRC=&#39;B&#39;&gt;"?><img src="XC"/>`,
	} {
		var found []string
		out := refs.HTML([]byte(in), refs.Options{XHTML: true}, func(r refs.Ref) string {
			found = append(found, fmt.Sprintf("%c %s", kinds[r.Kind], r.URL))
			return upper(r)
		})
		if got := strings.Join(found, " ") + " " + string(out); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// What is before the root element must not cost more than its size explains: 4 MB take some ms when linear, and
// minutes when not.
func TestHostilePrologsTakeLinearTime(t *testing.T) {
	const size = 4 << 20
	for _, unit := range []string{"<!>", "<!", "<![", "<!a[]>", "<?x?>", "<?", "<!-- -->", "<!--",
		"<?xml-stylesheet href=?>", "<?xml-stylesheet a='b' "} {
		doc, start := bytes.Repeat([]byte(unit), size/len(unit)), time.Now()
		refs.HTML(doc, refs.Options{XHTML: true}, upper)
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: %v for %d MB", unit, d, size>>20)
		}
	}
}

func upper(r refs.Ref) string { return "X" + strings.ToUpper(r.URL) }

func TestCSS(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
		out  string
	}{
		"bare":    {`a{b:url( a.png )}`, []string{"A a.png"}, `a{b:url( XA.PNG )}`},
		"quoted":  {`a{b:URL( "a b.png" )}`, []string{"A a b.png"}, `a{b:URL( "XA B.PNG" )}`},
		"single":  {`a{b:url('a.png')}`, []string{"A a.png"}, `a{b:url('XA.PNG')}`},
		"escapes": {`a{b:url(a\)\62 c)}`, []string{"A a)bc"}, `a{b:url(XA\)BC)}`},
		"import": {`@import "a.css" screen; @import url(b.css);`, []string{"S a.css", "S b.css"},
			`@import "XA.CSS" screen; @import url(XB.CSS);`},
		"font": {`@font-face{src:url(a.woff2) format("woff2"),url(b.woff)}`, []string{"A a.woff2", "A b.woff"},
			`@font-face{src:url(XA.WOFF2) format("woff2"),url(XB.WOFF)}`},
		"namespace": {`@namespace url(http://x/);a{b:url(c)}`, []string{"A c"}, `@namespace url(http://x/);a{b:url(XC)}`},
		"image-set": {`a{b:image-set("a.png" 1x, url(b.png) 2x type("image/png")) "no"}`, []string{"A a.png", "A b.png"},
			`a{b:image-set("XA.PNG" 1x, url(XB.PNG) 2x type("image/png")) "no"}`},
		"comment":    {`/* url(a) */ a{b:url(c)}`, []string{"A c"}, `/* url(a) */ a{b:url(XC)}`},
		"string":     {`a:after{content:"url(a)"}`, nil, `a:after{content:"url(a)"}`},
		"other name": {`a{b:my-url(a)}`, nil, `a{b:my-url(a)}`},
		"unfinished": {`a{b:url(a`, []string{"A a"}, `a{b:url(XA`},
		"broken":     {"a{b:\"a\n} c{d:url(e)}", []string{"A e"}, "a{b:\"a\n} c{d:url(XE)}"},
	} {
		t.Run(name, func(t *testing.T) {
			found, same := list(func(each refs.Each) []byte { return refs.CSS([]byte(c.in), each) })
			if !slices.Equal(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
			if string(same) != c.in {
				t.Errorf("nothing was to change, got %s", same)
			}
			if out := refs.CSS([]byte(c.in), upper); string(out) != c.out {
				t.Errorf("got  %s\nwant %s", out, c.out)
			}
		})
	}
}

// What binds a document to its server is taken away from a copy, and from nothing else.
func TestCopy(t *testing.T) {
	const in = `<script src=a integrity="sha256-x" crossorigin></script><meta http-equiv="Content-Security-Policy" content="default-src 'self'">`
	const want = `<script src=a data-was-integrity="sha256-x" data-was-crossorigin></script>` +
		`<meta http-equiv="x-was-content-security-policy" content="default-src 'self'">`
	keep := func(r refs.Ref) string { return r.URL }
	if out := refs.HTML([]byte(in), refs.Options{Copy: true}, keep); string(out) != want {
		t.Errorf("got %s", out)
	}
	if out := refs.HTML([]byte(in), refs.Options{}, keep); string(out) != in {
		t.Errorf("unasked: %s", out)
	}
}

// Whatever the bytes are: nothing changes where nothing is to change, and what was written is read again.
func FuzzRefs(f *testing.F) {
	for _, c := range pages {
		f.Add([]byte(c.in))
	}
	f.Add([]byte(`a{b:url(a\)\62 c)} @import "x"; @media{b:image-set("a" 1x)}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		for name, run := range map[string]func([]byte, refs.Each) []byte{
			"html": func(b []byte, each refs.Each) []byte { return refs.HTML(b, refs.Options{}, each) },
			"xml":  func(b []byte, each refs.Each) []byte { return refs.HTML(b, refs.Options{XHTML: true}, each) },
			"css":  refs.CSS,
		} {
			n := 0
			if out := run(in, func(r refs.Ref) string { n++; return r.URL }); string(out) != string(in) {
				t.Fatalf("%s: changed unasked: %q", name, out)
			}
			out := run(in, func(refs.Ref) string { return "new" })
			got := 0
			run(out, func(r refs.Ref) string {
				if r.URL == "new" {
					got++
				}
				return r.URL
			})
			if got < n {
				t.Fatalf("%s: %d of %d references are there again: %q", name, got, n, out)
			}
		}
	})
}
