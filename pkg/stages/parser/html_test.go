package parser

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const pageURL = "https://example.com/dir/page?q=1"

func parseHTML(t testing.TB, doc string) *Result {
	t.Helper()
	return HTML([]byte(doc), "text/html; charset=utf-8", mustURL(t, pageURL), DefaultOptions())
}

// linkLine is a link as one line: tag, URL or raw text, rel, text.
func linkLines(r *Result) (lines []string) {
	for _, l := range r.Links {
		ref := l.URL.String()
		if l.URL.IsZero() {
			ref = "!" + l.Raw
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %s [%s] %s", l.Tag, ref, l.Rel, l.Text), " "))
	}
	return lines
}

func TestLinksOfADocument(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"anchor", `<a href="../x#f" rel=nofollow> a <b>bold</b>  one </a>`,
			"a https://example.com/x#f [nofollow] a bold one"},
		{"area, frames", `<area href=1><frame src=2><iframe src=3><a href=4></iframe>`,
			"area https://example.com/dir/1 []|frame https://example.com/dir/2 []|iframe https://example.com/dir/3 []"},
		{"link elements",
			`<link rel="alternate next" href=n><link rel="Shortcut ICON" href=i><link rel="alternate stylesheet" href=s>`,
			"link https://example.com/dir/n [alternate next]"},
		{"feeds",
			`<link rel=alternate type=application/rss+xml href=r><link type=" Application/Atom+XML; x=y" rel="home ALTERNATE" href=a>`,
			"feed-source https://example.com/dir/r [alternate]|feed-source https://example.com/dir/a [home ALTERNATE]"},
		{"alternates that are no feeds",
			`<link rel=alternate type=text/html href=h><link rel=next type=application/rss+xml href=n>` +
				`<link rel=alternate hreflang=de href=d>`,
			"link https://example.com/dir/h [alternate]|link https://example.com/dir/n [next]|" +
				"link https://example.com/dir/d [alternate]"},
		{"refresh", `<meta http-equiv=Refresh content="5; URL='/new'"><meta http-equiv=refresh content=5>`,
			"meta https://example.com/new []"},
		{"refresh with references",
			`<meta http-equiv=refresh content="0;url=&#39;/x?a&amp;b&#39;"><meta http-equiv=refresh content="0&#59;url=y">`,
			"meta https://example.com/x?a&b []|meta https://example.com/dir/y []"},
		{"base in svg", `<svg><base href=/t/></svg><a href=x>1</a>`, "a https://example.com/dir/x [] 1"},
		{"head of a shadow root",
			`<x-c><template shadowrootmode=open><base href=/t/><meta http-equiv=refresh content="0;y"><a href=s>0</a></template></x-c><a href=x>1</a>`,
			"a https://example.com/dir/s [] 0|a https://example.com/dir/x [] 1"},
		{"head of a template",
			`<template><base href=/t/><link rel=next href=n><meta http-equiv=refresh content="0;y"></template><a href=x>1</a>`,
			"a https://example.com/dir/x [] 1"},
		{"script after an svg that closes itself", `<svg/><script>document.write('<a href="s">x</a>')</script>`, ""},
		{"no scheme of ours", `<a href="mailto:me@example.com">m</a><a href="JavaScript:void(0)">j</a>`,
			"a !mailto:me@example.com [] m|a !JavaScript:void(0) [] j"},
		{"base counts for links before it", `<a href=x>1</a><base href="/b/"><base href="/c/"><a href=y>2</a>`,
			"a https://example.com/b/x [] 1|a https://example.com/b/y [] 2"},
		{"base without href", `<base target=_top><base href=/b/><a href=x>1</a>`, "a https://example.com/b/x [] 1"},
		{"data base is no base", `<base href="data:text/plain,x"><a href=x>1</a>`, "a https://example.com/dir/x [] 1"},
		{"foreign base", `<base href="ftp://ftp.example/"><a href=x>1</a><a href=http://a.example/>2</a>`,
			"a !x [] 1|a http://a.example/ [] 2"},
		{"hidden places",
			`<!--<a href=c>--><script>"<a href=s>"</script><style><a href=t></style><textarea><a href=x></textarea>` +
				`<title><a href=y></title><noscript><a href=n>n</a></noscript>`, "a https://example.com/dir/n [] n"},
		{"entities", `<a href="?a=1&amp;b=2&copy=3&#x26;c">x &lt; y</a>`,
			"a https://example.com/dir/page?a=1&b=2&copy=3&c [] x < y"},
		{"empty and white space", `<a href="">self</a><a href=" /x
y ">lines</a>`, "a https://example.com/dir/page?q=1 [] self|a https://example.com/xy [] lines"},
		{"anchors end where the next begins", `<a href=1>one<a href=2>two</a>three`,
			"a https://example.com/dir/1 [] one|a https://example.com/dir/2 [] two"},
		{"text over blocks", `<a href=1><div>one</div><p>two</a>`, "a https://example.com/dir/1 [] one two"},
		{"pages and documents within the page", `<object data=1 type="text/html; charset=x"></object><object data="2.PDF?x">
			<embed src=3.html></object><embed src=4 type=application/pdf><object data=5.swf></object><embed src=6
			type=image/svg+xml><object type=text/html></object>`,
			"iframe https://example.com/dir/1 []|iframe https://example.com/dir/2.PDF?x []|" +
				"iframe https://example.com/dir/3.html []|iframe https://example.com/dir/4 []"},
		{"no href", `<a name=x>no</a><area><iframe></iframe>`, ""},
		{"first of two attributes", `<a href=1 HREF=2 href=3>x</a>`, "a https://example.com/dir/1 [] x"},
		{"svg", `<svg><title><a xlink:href=1>x</a></title><style><a href=2>y</a></style></svg><svg/><a href=3>z</a>`,
			"a https://example.com/dir/1 [] x|a https://example.com/dir/2 [] y|a https://example.com/dir/3 [] z"},
		{"svg left by a paragraph", `<svg><p><style><a href=1></style><a href=2>x</a>`, "a https://example.com/dir/2 [] x"},
		{"attribute soup", `<a class="x"href='1'>x</a><a/href=2>y</a><a href=3/>z</a>`,
			"a https://example.com/dir/1 [] x|a https://example.com/dir/2 [] y|a https://example.com/dir/3/ [] z"},
		{"cut tag", `<a href=1>x</a><a href="2`, "a https://example.com/dir/1 [] x"},
		{"plaintext", `<a href=1>x</a><plaintext><a href=2>y</a>`, "a https://example.com/dir/1 [] x"},
		{"cdata in html is a comment", `<![CDATA[<a href=1>x</a>]]><a href=2>y</a>`, "a https://example.com/dir/2 [] y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(linkLines(parseHTML(t, c.doc)), "|"); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.doc, got, c.want)
			}
		})
	}
}

func TestXHTMLElementsMayCloseThemselves(t *testing.T) {
	doc := `<html xmlns="http://www.w3.org/1999/xhtml"><title/><script src="s.js"/><a id="x"/><a href="1">one</a><![CDATA[two <a>]]></html>`
	r := HTML([]byte(doc), "application/xhtml+xml", mustURL(t, pageURL), DefaultOptions())
	if got, want := strings.Join(linkLines(r), "|"), "a https://example.com/dir/1 [] one"; got != want ||
		r.Text != "onetwo <a>" {
		t.Errorf("links %q, text %q", got, r.Text)
	}
}

func TestHeadOfADocument(t *testing.T) {
	r := parseHTML(t, `<html lang="en_US"><title> A
 title &amp; more</title><title>second</title><link rel=canonical href=/c><link rel=stylesheet href=s.css>
<meta name=ROBOTS content="noarchive, NoIndex"><meta name=googlebot content=nofollow><img src=i.png srcset="a.png 1x, b,c.png 2x,d.png"><img src="data:x">`)
	if r.Title != "A title & more" || r.Lang != "en-us" || r.Canonical != "https://example.com/c" || !r.NoIndex ||
		r.NoFollow {
		t.Errorf("%+v", r)
	}
	want := []string{"s.css", "i.png", "a.png", "b,c.png", "d.png"}
	for i := range want {
		want[i] = "https://example.com/dir/" + want[i]
	}
	if !slices.Equal(r.Assets, want) {
		t.Errorf("assets %q, want %q", r.Assets, want)
	}
	for content, want := range map[string][2]bool{"none": {true, true}, "index,nofollow": {false, true}, "all": {}} {
		r := parseHTML(t, `<meta name="whirlpool" content="`+content+`">`)
		if got := [2]bool{r.NoIndex, r.NoFollow}; got != want {
			t.Errorf("%s: noindex, nofollow = %v, want %v", content, got, want)
		}
	}
}

func TestRefreshURLs(t *testing.T) {
	for content, want := range map[string]string{"0;url=x": "x", "0; URL = 'x y' z": "x y", `5,url="x"`: "x", "5 x": "x",
		"5;x": "x", "1.5;url=x": "x", "url=x": "", "5": "", "5;": "", "": "", "5;url": "url", "5; url='x": "x", "x;url=y": "",
		"5x": ""} {
		if got := string(refreshURL([]byte(content))); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}

func TestEncodings(t *testing.T) {
	const koi8 = "\xF0\xD2\xC9\xD7\xC5\xD4" // Привет
	for _, c := range []struct{ name, contentType, doc, charset, title string }{
		{"header", "text/html; charset=KOI8-R", "<title>" + koi8, "koi8-r", "Привет"},
		{"header before meta", "text/html; charset=\"koi8-r\"", "<meta charset=utf-8><title>" + koi8, "koi8-r", "Привет"},
		{"meta", "text/html", "<meta charset=koi8-r><title>" + koi8, "koi8-r", "Привет"},
		{"http-equiv", "", "<meta http-equiv=content-type content='text/html; charset=koi8-r'><title>" + koi8, "koi8-r",
			"Привет"},
		{"meta in a comment", "", "<!-- <meta charset=koi8-r> --><title>é", "utf-8", "é"},
		{"xml declaration", "", "<?xml version='1.0' encoding='koi8-r'?><title>" + koi8, "koi8-r", "Привет"},
		{"byte order mark wins", "text/html; charset=koi8-r", "\xEF\xBB\xBF<title>é", "utf-8", "é"},
		{"utf-16", "", "\xFF\xFE<\x00t\x00i\x00t\x00l\x00e\x00>\x00\xE9\x00", "utf-16le", "é"},
		{"utf-16 in markup is a lie", "", "<meta charset=utf-16><title>é", "utf-8", "é"},
		{"valid UTF-8", "text/html", "<title>é", "utf-8", "é"},
		{"cut within a character", "", "<title>é</title>x\xC3", "utf-8", "é"},
		{"neither", "text/html", "<title>caf\xE9 \x93x\x94", "windows-1252", "café “x”"},
		{"latin-1 is windows-1252", "text/html; charset=iso-8859-1", "<title>\x93", "windows-1252", "“"},
		{"broken UTF-8", "text/html; charset=utf-8", "<title>a\xFFb", "utf-8", "a\uFFFDb"},
		{"unknown name", "text/html; charset=klingon", "<title>é", "utf-8", "é"},
		{"utf-16 by its declaration", "", "<\x00?\x00x\x00?\x00>\x00<\x00t\x00i\x00t\x00l\x00e\x00>\x00\xE9\x00", "utf-16le",
			"é"},
		{"big-endian", "", "\x00<\x00?\x00x\x00?\x00>\x00<\x00t\x00i\x00t\x00l\x00e\x00>\x00\xE9", "utf-16be", "é"},
		{"meta in XHTML", "application/xhtml+xml", "<meta charset='koi8-r'/><title>é</title>", "utf-8", "é"},
		{"declaration in XHTML", "application/xhtml+xml",
			"<?xml version='1.0' encoding='koi8-r'?><title>" + koi8 + "</title>", "koi8-r", "Привет"},
		{"title of a shadow root", "", "<template shadowrootmode=open><title>a</title></template><title>b", "utf-8", "b"},
		{"title of a template", "", "<template><title>a</title></template><title>b", "utf-8", "b"},
		{"title after an svg that closes itself", "", "<svg/><title>b", "utf-8", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := HTML([]byte(c.doc), c.contentType, mustURL(t, pageURL), DefaultOptions())
			if r.Charset != c.charset || r.Title != c.title {
				t.Errorf("charset %q, title %q; want %q, %q", r.Charset, r.Title, c.charset, c.title)
			}
		})
	}
}

func TestQueriesAreInThePagesEncoding(t *testing.T) {
	r := HTML([]byte("<a href='/\xE9?q=\xE9&amp;\xE0#\xE9'>"), "text/html; charset=windows-1252", mustURL(t, pageURL),
		DefaultOptions())
	if got, want := r.Links[0].URL.String(), "https://example.com/%C3%A9?q=%E9&%E0#%C3%A9"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r = HTML([]byte("<a href='?q=\xA4&#x20AC;&#x416;'>"), "text/html; charset=windows-1252", mustURL(t, pageURL),
		DefaultOptions())
	if got, want := r.Links[0].URL.Query(), "q=%A4%80%26%231046%3B"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLinesOfThePageAreLinesOfTheText(t *testing.T) {
	for doc, want := range map[string]string{
		"<pre>\n\n  if x:\r\n\ty = 1  \n \n\n\n<b>  z</b>&nbsp;&nbsp;=\t2\n</pre>w": "  if x:\n\ty = 1\n\n  z  =\t2\nw",
		"<pre><code><span>a<br></span><span>  b<br><br></span>c</code></pre>":       "a\n  b\n\nc",
		"<pre>a <a href=/b>b\n  c</a></pre>":                                        "a b\n  c",
		"<p>Two roads, <br> \n<br/>I stood<br>\n  and looked <br></p><p><br>On":     "Two roads,\nI stood\nand looked\nOn",
		"<h1>The<br>road</h1><a href=/c>one<br>way</a>":                             "The road\none\nway",
		"<textarea>a\nb</textarea><p>c\n  d":                                        "c d",
	} {
		r := parseHTML(t, doc)
		if r.Text != want {
			t.Errorf("%s\n got %q\nwant %q", doc, r.Text, want)
		}
		for _, l := range r.Links {
			if strings.ContainsAny(l.Text, "\n\t") {
				t.Errorf("%s: the text of a link is %q", doc, l.Text)
			}
		}
	}
}

func TestTextIsFolded(t *testing.T) {
	for doc, want := range map[string]string{
		"<p>a\n\t b<b>c</b> <i> d</i>&nbsp;&nbsp;e<br>f</p>g":                                                          "a bc d e\nf\ng",
		"<pre>a\n  b</pre><ul><li>c<li>d</ul>":                                                                         "a\n  b\nc\nd",
		"<p>می&zwnj;خواهم 👨\u200D👩 a&zwnj;&nbsp;&zwj;b&zwj;</p><p>&zwnj;c":                                             "می\u200cخواهم 👨\u200d👩 a b\nc",
		"soft&shy;ly zero\u200Bwidth&#8203; wide\u3000space":                                                           "softly zerowidth wide space",
		"&lt;b&gt; &amp;amp; &copy &unknown; &":                                                                        "<b> &amp; © &unknown; &",
		"<table><tr><td>a<td>b<tr><td>c</table>":                                                                       "a\nb\nc",
		"a\x00b":                                                                                                       "ab",
		"<p>One <svg class=i />two three</p><p>four":                                                                   "One two three\nfour",
		"<ul><li><math/> <a href=/a>First</a></ul>":                                                                    "First",
		"<x-c><template shadowrootmode=open><p>in</p><slot></slot></template><p>slotted</p></x-c>":                     "in\nslotted",
		"<x-c><template shadowroot=OPEN><p>in</p></template></x-c><x-d><template shadowrootmode=closed><p>too":         "in\ntoo",
		"<x-c><template shadowrootmode=open><style>s</style><template>t</template><div hidden>h</div><p>in":            "in",
		"<template><x-c><template shadowrootmode=open><p>no</template></x-c></template><template shadowrootmode><p>no": "",
		"<p>x</p><script>s</script><style>t</style><svg>u</svg><template>v</template><p hidden>w":                      "x",
		"<div style='display: none'>x</div><div hidden>y</div>z":                                                       "z",
		"<h2>Title<a class=headerlink href=#t>¶</a></h2>":                                                              "Title",
	} {
		if got := parseHTML(t, doc).Text; got != want {
			t.Errorf("%s\n got %q\nwant %q", doc, got, want)
		}
	}
}

func TestLinkTextIsCutAtARune(t *testing.T) {
	text := parseHTML(t, "<a href=x>"+strings.Repeat("é", 300)+"</a>").Links[0].Text
	if len(text) != maxLinkText || !utf8.ValidString(text) {
		t.Errorf("%d bytes: %q", len(text), text)
	}
	if text = parseHTML(t, "<a href=x>a"+strings.Repeat("é", 300)+"</a>").Links[0].Text; len(text) != maxLinkText-1 {
		t.Errorf("%d bytes: %q", len(text), text)
	}
}

// Links that are too many are counted, and the first of them are named, wherever in the document they stand.
func TestLinksThatAreTooManyAreTold(t *testing.T) {
	doc := []byte("<a href=1>x</a><a href=2>x</a><a href=3 rel=nofollow>x</a><a href='data:,x'>x</a>" +
		"<iframe srcdoc='<a href=4>x</a><a href=5>x</a>'></iframe>" + strings.Repeat("<a href=6>x</a>", 2*crawl.MaxBeyond))
	r := HTML(doc, "", mustURL(t, pageURL), Options{MaxLinks: 2})
	r.linkHeaders([]string{"<7>; rel=next"}, mustURL(t, pageURL), 2)
	if len(r.Links) != 2 || !slices.Equal(r.Cut, []string{CutLinks}) {
		t.Errorf("%d links, cut %q", len(r.Links), r.Cut)
	}
	if want := 2*crawl.MaxBeyond + 4; r.More != want || len(r.Over) != crawl.MaxBeyond {
		t.Errorf("%d more links, %d of them named; want %d, %d", r.More, len(r.Over), want, crawl.MaxBeyond)
	}
	if l := r.Over[0]; l.URL != mustURL(t, "https://example.com/dir/3") || l.Rel != "nofollow" || l.Tag != "a" {
		t.Errorf("the first is %+v", l)
	}
	few := HTML([]byte("<a href=1>x</a><iframe srcdoc='<a href=2>x</a><a href=3>x</a>'></iframe>"), "",
		mustURL(t, pageURL), Options{MaxLinks: 1})
	if few.More != 2 || len(few.Over) != 2 {
		t.Errorf("of the frame: %d more, named %v", few.More, few.Over)
	}
}

func TestBoundsAreKeptAndSaid(t *testing.T) {
	doc := []byte("<title>" + strings.Repeat("t ", 2000) + "</title><a href=" + strings.Repeat("x", 200) + ">long</a>" +
		strings.Repeat("<a href=x>y</a><img src=z><p>some words of text ", 100))
	r := HTML(doc, "", mustURL(t, pageURL), Options{MaxLinks: 10, MaxText: 50, MaxURL: 100, MaxAssets: 5})
	if len(r.Links) != 10 || len(r.Text) > 50 || len(r.Assets) != 5 || len(r.Title) > maxTitle {
		t.Errorf("%d links, %d bytes of text, %d assets, %d bytes of title", len(r.Links), len(r.Text), len(r.Assets),
			len(r.Title))
	}
	slices.Sort(r.Cut)
	if want := []string{CutAssets, CutLinks, CutText, CutTitle}; !slices.Equal(r.Cut, want) {
		t.Errorf("cut %q, want %q", r.Cut, want)
	}
	if r := parseHTML(t, "<p>x<a href=1>y</a>"); len(r.Cut) != 0 {
		t.Errorf("a small page was cut: %q", r.Cut)
	}
}

// Whatever a hostile page nests or leaves open, its last link is found, in time and memory that its size explains.
func TestHostilePagesLoseNoLink(t *testing.T) {
	const size = 1 << 20
	last := "<a href=/last>last</a>"
	for name, unit := range map[string]string{"div": "<div>", "b": "<b>", "table": "<table><tr><td>", "ul": "<ul></div>",
		"svg": "<svg>", "foreign": "<svg><foreignObject>", "a": "<a href=x>", "nul": "\x00", "cells": "<div><td></td>",
		"select": "<select>", "class": `<div class="a-b c_d">`, "math": "<math><mi>", "references": "&#x41;&amp;&unknown;",
		"unclosed": "<p><li><dd><option>x", "button": "<button>x", "tags": "</p></div>",
		"nav": "<nav>x", "comments": "<h3>Comments</h3><div>x", "topics": "<h3>Related</h3><h3>Share</h3>",
		"forms": "<div><button>x</button></div>", "classes": "<div class=widget>",
		"teasers": "<h3><a href=x>a title of five words</a></h3><p>x", "prose": "<div>Comments</div><p>" +
			strings.Repeat("word ", 30), "cell stack": "<td><div><div>", "h1": "<h1>x y z"} {
		t.Run(name, func(t *testing.T) {
			doc := append(bytes.Repeat([]byte(unit), size/len(unit)), last...)
			start := time.Now()
			r := HTML(doc, "text/html; charset=utf-8", mustURL(t, pageURL), Options{})
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("%v for %d MB", d, size>>20)
			}
			if n := len(r.Links); n == 0 || r.Links[n-1].URL.Path() != "/last" || r.Links[n-1].Text != "last" {
				t.Errorf("the last of %d links is not the last link", n)
			}
		})
	}
}

func TestMegabytesInOneTagLoseNoLink(t *testing.T) {
	for name, doc := range map[string]string{
		"value": `<div title="` + strings.Repeat("x", 3<<20) + `"><a href=/last>last</a>`,
		"names": `<div ` + strings.Repeat("a ", 3<<20) + `><a href=/last>last</a>`,
		"name":  `<` + strings.Repeat("x", 3<<20) + `><a href=/last>last</a>`,
		"class": `<div class="` + strings.Repeat("x-", 3<<20) + `"><a href=/last>last</a>`,
		"style": `<div style="` + strings.Repeat("display", 1<<20) + `"><a href=/last>last</a>`,
		"href":  `<a href="` + strings.Repeat("x", 3<<20) + `"></a><a href=/last>last</a>`,
		"text":  strings.Repeat("word ", 3<<20) + `<a href=/last>last</a>`,
		"set":   `<img srcset="` + strings.Repeat("a, ", 3<<20) + `"><a href=/last>last</a>`,
	} {
		r := parseHTML(t, doc)
		if n := len(r.Links); n != 1 || r.Links[0].URL.Path() != "/last" {
			t.Errorf("%s: %d links", name, n)
		}
	}
}

func TestParseDoesNotKeepOrChangeTheBody(t *testing.T) {
	body := []byte(`<html lang=EN><title>T</title><a href="/x?y" rel="A B">Text</a><img src=i.png><link rel=canonical href=c><p>words and words</p>`)
	before := bytes.Clone(body)
	r := HTML(body, "text/html; charset=utf-8", mustURL(t, pageURL), DefaultOptions())
	if !bytes.Equal(body, before) {
		t.Fatalf("the body became %q", body)
	}
	want := fmt.Sprintf("%+v", *r)
	for i := range body {
		body[i] = 'Z'
	}
	if got := fmt.Sprintf("%+v", *r); got != want {
		t.Errorf("the result changed with the body:\n got %s\nwant %s", got, want)
	}
}

func FuzzHTML(f *testing.F) {
	for _, doc := range []string{"<a href=x>y", "<base href=//x><a href=y>", "<svg><a xlink:href=x><![CDATA[<a>]]>",
		"\xFF\xFE<\x00", "<td><table><td></table>", "<meta charset=iso-2022-jp>\x1B$B",
		"<meta http-equiv=refresh content='0;url=x'>", "<img srcset=',,a 1x,'>", "<a href=x>¶</a>", "<title>&#xD800;"} {
		f.Add([]byte(doc), "text/html")
	}
	f.Fuzz(func(t *testing.T, doc []byte, contentType string) {
		opt := Options{MaxLinks: 20, MaxText: 300, MaxURL: 1000, MaxAssets: 10, GuessLang: true}
		r := HTML(doc, contentType, mustURL(t, pageURL), opt)
		if len(r.Links) > opt.MaxLinks || len(r.Text) > opt.MaxText || len(r.Assets) > opt.MaxAssets ||
			len(r.Title) > maxTitle {
			t.Error("a bound was passed")
		}
		for _, s := range []string{r.Title, r.Text} {
			if !utf8.ValidString(s) {
				t.Errorf("not UTF-8: %q", s)
			}
		}
		for _, l := range r.Links {
			if l.URL.IsZero() == (l.Raw == "") && l.URL.IsZero() || len(l.Text) > maxLinkText || !utf8.ValidString(l.Text) ||
				!utf8.ValidString(l.Raw) {
				t.Errorf("link %+v", l)
			}
		}
	})
}

func TestTitleOfAPageWithoutTitle(t *testing.T) {
	const og = `<meta name=twitter:title content=Three><meta property="og:title" content="One &amp; two">`
	for doc, want := range map[string]string{
		og + `<h1>Four</h1>`:                            "One & two",
		`<title> </title>` + og:                         "One & two",
		`<title>Five</title>` + og:                      "Five",
		`<meta name=DC.title content=Six><h1>Four</h1>`: "Six",
		`<header><h1>Site</h1></header><h1 hidden>no</h1><h1>The <b>old</b><br>mill</h1><h1>no`: "The old mill",
		`<h1><img src=logo.png></h1><p>text<h2>Menu</h2>`:                                       "",
		`<svg><title>icon</title></svg><template><h1>no</h1></template><p>x`:                    "",
	} {
		if got := parseHTML(t, doc).Title; got != want {
			t.Errorf("%s\n got %q\nwant %q", doc, got, want)
		}
	}
}
