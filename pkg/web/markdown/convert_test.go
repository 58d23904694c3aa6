package markdown_test

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/markdown"
)

func resolve(ref string) string {
	switch {
	case strings.HasPrefix(ref, "javascript:"):
		return ""
	case strings.HasPrefix(ref, "http"):
		return ref
	}
	return "http://a.test/" + strings.TrimPrefix(ref, "/")
}

func convert(t testing.TB, doc string) string {
	t.Helper()
	md, _, err := markdown.Convert([]byte(doc), markdown.Options{Resolve: resolve})
	if err != nil {
		t.Fatal(err)
	}
	return md
}

func TestConvert(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":        {"", ""},
		"headings":       {"<h1>A</h1><h2>B <em>c</em></h2><h6>D<br>E</h6>", "# A\n\n## B *c*\n\n###### D E"},
		"emphasis":       {"<p>a <b>b</b> <i>c</i> <del>d</del> x<em>y</em>z", "a **b** *c* ~~d~~ x*y*z"},
		"blocks in bold": {"<b><p>a</p><p>b</p></b>", "a\n\nb"},
		"escapes": {"<p>1. a</p><p># b</p><p>*c*</p><p>[d](e)</p><p>&amp;lt; &lt;b></p><p>R&amp;D",
			"1\\. a\n\n\\# b\n\n\\*c*\n\n\\[d](e)\n\n&amp;lt; &lt;b&gt;\n\nR&D"},
		"link":           {`<a href="/x?a=b+c,d&amp;e=(f)#g">t</a>`, "[t](http://a.test/x?a=b+c,d&e=\\(f\\)#g)"},
		"link, brackets": {`<a href="x">[1] a]b</a>`, `[\[1\] a\]b](http://a.test/x)`},
		"link, no way":   {`<a href="javascript:x()">t</a> <a>u</a> <a href="">v</a>`, "t u v"},
		"link, a card":   {`<a href="c"><h3>T</h3><p>text</p></a>`, "[T text](http://a.test/c)"},
		"permalink":      {`<h2>T<a href="#t">¶</a></h2>`, "## T"},
		"image": {`<p><img src="i.png" alt="An [i]"><img src="data:x" data-src="l.png"><img src="data:x">`,
			`![An \[i\]](http://a.test/i.png)![](http://a.test/l.png)`},
		"lists": {"<ul><li>a<ul><li>b<ol start=7><li>c</ol></ul><li>d</ul>",
			"- a\n  \n  - b\n    \n    7. c\n- d"},
		"definitions": {"<dl><div><dt>t</div><dd>a</dd><dd><p>b</dl>", "- t\n  \n  a\n  \n  b"},
		"code": {"<p><code>a|b</code> <kbd>Ctrl</kbd> <code>f(<a href=x>T</a>)</code>",
			"`a|b` `Ctrl` `f(`[`T`](http://a.test/x)`)`"},
		"code block": {"<pre><code class='language-go'>func f() {\n\n\treturn\n}\n</code></pre>",
			"```go\nfunc f() {\n\n\treturn\n}\n```"},
		"languages": {`<div class="highlight-python3 x"><div class=highlight><pre>a</pre></div></div><pre class="brush: js">b</pre><pre data-lang=C++>c</pre>` +
			`<pre class=lang-none>d</pre>`, "```python3\na\n```\n\n```js\nb\n```\n\n```c++\nc\n```\n\n```\nd\n```"},
		"quote":       {"<blockquote>a<pre>b\nc</pre></blockquote>", "> a\n> \n> ```\n> b\n> c\n> ```"},
		"quote, list": {"<ul><li><blockquote><pre>b\nc</pre></blockquote></ul>", "- > ```\n  > b\n  > c\n  > ```"},
		"table": {"<table><caption>C</caption><tr><th>A<th>B|C<tr><td>1<td><code>x|y</code><tr><td colspan=2>w</table>",
			"C\n\n| A | B\\|C |\n|---|---|\n| 1 | `x\\|y` |\n| w |  |"},
		"no table":         {"<p>| a |<br>|-:|<br>| b |", "| a |  \n\\|-:|  \n| b |"},
		"no table, colons": {"<p>a<br>:-<br>b", "a  \n:\\-  \nb"},
		"no table, in parts": {"<ul><li>a<br><span>|</span> <i>-</i><span>-</span>|<li>|-|</ul>",
			"- a  \n  | *-*-|\n- |-|"},
		"no table, a quote": {"<blockquote>a<br><span>:</span><span>-</span>|</blockquote>", "> a  \n> :\\-|"},
		"no table, bars":    {"<p>a | b<br>c | d - e<br>|", "a | b  \nc | d - e  \n|"},
		"table, no header":  {"<table><tr><td>1<td>2<tr><td>3<td>4</table>", "| 1 | 2 |\n|---|---|\n| 3 | 4 |"},
		"table, layout":     {"<table><tr><td><ul><li>a</ul><td>b</table>", "- a\n\nb"},
		"table, paragraphs": {"<table><tr><td><p>a<p>b<td>c</table>", "a\n\nb\n\nc"},
		"line numbers": {"<table><tr><td class=linenos><pre>1\n2</pre><td class=code><pre>a\nb</pre></table>",
			"```\na\nb\n```"},
		"marks that would be text": {"<p><b>Name:</b>John <b>Name:</b> <i>J</i>. a<b>(x)</b>b a<b>x</b>b <b><a " +
			"href=x>t</a></b>u",
			"Name:John **Name:** *J*. a(x)b a**x**b [t](http://a.test/x)u"},
		"marks of other marks": {"<p><b><del>x</del></b> <b><i>(x)</i></b> <del>~</del> c",
			"**~~x~~** ***(x)*** ~ c"},
		"code, a link with brackets": {"<code><a href=x>T[0]</a></code>", "[`T[0]`](http://a.test/x)"},
		"comments, marks":            {"<p>a<!-- x -->\abc</p>", "abc"},
	} {
		if got := convert(t, c.in); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

// Many brackets are escaped, each of them, and code stays as it is.
func TestManyBracketsAreEscaped(t *testing.T) {
	doc := "<p>" + strings.Repeat("[a] ", 600) + "<code>b[0]</code>"
	if got, want := convert(t, doc), strings.Repeat(`\[a\] `, 600)+"`b[0]`"; got != want {
		t.Errorf("got …%s", got[max(0, len(got)-100):])
	}
}

// A page must not ask for more than its size allows: these are small pages that ask for gigabytes, or hours.
func TestHostilePagesAreBounded(t *testing.T) {
	many := strings.Repeat
	for name, doc := range map[string]string{
		"colspan":             "<table><tr><th colspan=1000000000>a<td rowspan=99999999>b</table>",
		"one wide row":        "<table><tr>" + many("<td>a", 50_000) + many("<tr><td>b", 50_000) + "</table>",
		"spans":               "<table>" + many("<tr><td rowspan=99 colspan=99>a<td>b", 2_000) + "</table>",
		"nested tables":       many("<table><tr><td>a<td>", 160),
		"nested lists":        many("<ul><li>a", 240),
		"nested quotes":       many("<blockquote>a ", 480) + many("b<br>", 20_000),
		"nested emphasis":     many("<b>a<i>b", 200),
		"nested links":        many("<a href=x>a", 20_000),
		"deep":                many("<div>", 100_000),
		"code, many links":    "<code>" + many("a<a href=x>b</a>", 20_000) + "</code>",
		"many spans of class": many("<p class='"+many("language-x ", 500)+"'><pre>a</pre>", 100),
		"bars":                "<p>a<br>" + many("| : ", 200_000) + "-<br>" + many(": ", 200_000) + many("|-", 200_000),
		"a long line":         "<p>" + many("a_b*c[d]`e` ", 100_000),
		"brackets":            "<p>" + many("[", 500_000) + "]",
		"brackets, apart":     "<p>" + many("<b>![</b> <code>[</code>", 20_000),
		"emphasis, empty":     many("<b>(</b><i></i>", 20_000),
		"emphasis, nothing":   many("<b>(", 200) + many("<i></i>", 20_000),
		"adjacent":            many("<b>a</b><b>b</b>", 20_000),
		"fences":              "<pre>" + many("`", 1_000_000) + "</pre>",
		"many terms":          "<dl>" + many("<div><dt>a<dd>b</div>", 20_000) + "</dl>",
		"many items":          "<ul>" + many("<li>a", 60_000) + "</ul>",
		"white space":         "<p>" + many("\n \t", 300_000) + "a",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			md, _, err := markdown.Convert([]byte(doc), markdown.Options{Resolve: resolve, MaxText: 1 << 20})
			if len(md) > 1<<20 {
				t.Errorf("%d bytes of Markdown", len(md))
			}
			t.Logf("%d bytes in, %d out, %v, %v", len(doc), len(md), time.Since(start).Round(time.Millisecond), err)
		})
	}
}

func TestTooLongIsCutAtALine(t *testing.T) {
	doc := "<p>first</p><pre>" + strings.Repeat("line\n", 50) + "</pre>"
	md, cut, err := markdown.Convert([]byte(doc), markdown.Options{Resolve: resolve, MaxText: 60})
	if err != nil || !cut || len(md) > 60 {
		t.Fatalf("cut %v, %d bytes, %v", cut, len(md), err)
	}
	if want := "first\n\n```\nline\nline"; !strings.HasPrefix(md, want) || !strings.HasSuffix(md, "\nline\n```") {
		t.Errorf("got %q", md)
	}
}

func FuzzConvert(f *testing.F) {
	for _, s := range []string{"<p>a", "<table><tr><td colspan=3>a<th>b", "<ul><li>a<blockquote><pre>b\nc",
		"<dl><dt>a<dd>b", "<a href=x><h1>[a]</h1></a>",
		"<code>a<a href=b>c</a></code>", "<b><table><tr><td><i>a", "<math><mi>x</mi></math><svg><a>b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		md, _, err := markdown.Convert([]byte(doc), markdown.Options{Resolve: resolve, MaxText: 4096})
		if len(md) > 4096 {
			t.Errorf("%d bytes", len(md))
		}
		if err != nil && strings.Contains(err.Error(), "convert to Markdown") {
			t.Errorf("the library failed: %v", err)
		}
	})
}
