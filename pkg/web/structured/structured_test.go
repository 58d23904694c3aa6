package structured_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/structured"
)

func resolve(ref string) string {
	if strings.Contains(ref, ":") {
		return ref
	}
	return "http://a.test/" + strings.TrimPrefix(ref, "/")
}

func read(doc string) *structured.Data { return structured.Read([]byte(doc), resolve) }

func ld(s string) string { return `<script type="application/ld+json">` + s + `</script>` }

func TestData(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"nothing": {"<p>a</p><meta charset=utf-8><meta name=viewport content=x>", ""},
		"json-ld": {ld(`{"@type":"Product","name":"N","offers":{"price":19.90,"n":1e400}}`),
			`{"jsonld":[{"@type":"Product","name":"N","offers":{"n":1e400,"price":19.90}}]}`},
		"two":   {ld(`{"a":1}`) + ld(`[{"b":2},{"c":3}]`), `{"jsonld":[{"a":1},{"b":2},{"c":3}]}`},
		"graph": {ld(`{"@context":"x","@graph":[{"a":1},{"b":null}]}`), `{"jsonld":[{"a":1},{"b":null}]}`},
		"comments": {ld("<!-- \n{\"a\":\"x // y\", /* b */ \"c\":[1,2,],\n// d\n}; -->"),
			`{"jsonld":[{"a":"x // y","c":[1,2]}]}`},
		"cdata": {ld("//<![CDATA[\n{\"a\":\"line\nbreak\ttab\"}\n//]]>"), `{"jsonld":[{"a":"line break tab"}]}`},
		"escapes": {ld("\uFEFF" + `{"a":"Ann\'s \x \u00e9 \u12 \\ \"q\"",` + "\u00A0" + `"b":1}`),
			`{"jsonld":[{"a":"Ann's x é u12 \\ \"q\"","b":1}]}`},
		"quotes in a text": {ld(`{"a":["two "b", or <i class="c">d</i>", "e"],"f":"the "g"", "h":1}`),
			`{"jsonld":[{"a":["two \"b\", or <i class=\"c\">d</i>","e"],"f":"the \"g\"","h":1}]}`},
		"no comma":     {ld("{\"a\":\"b\"\n\"c\":\"d\"}"), `{"jsonld":[{"a":"b","c":"d"}]}`},
		"graph of one": {ld(`{"@graph":{"a":1}}`), `{"jsonld":[{"a":1}]}`},
		"parts of words": {`<div itemscope><b itemprop=a>H<sub>2</sub>O<br>and<i>x</i></b><i itemprop=p><span>19</span><sup>.99</sup>` +
			`<div>€</div>each</i>`, `{"microdata":[{"properties":{"a":["H2O andx"],"p":["19.99 € each"]}}]}`},
		"a property of nothing": {`<div itemscope itemprop=a itemtype=t><b itemprop=n>x</b></div><p itemscope itemref=r>` +
			`<div id=r><b itemprop=o itemscope><i itemprop=n>y</i></b></div>`,
			`{"microdata":[{"type":["t"],"properties":{"n":["x"]}},{"properties":{"o":[{"properties":{"n":["y"]}}]}}]}`},
		"cdata in a line": {ld(`//<![CDATA[{"a":1}//]]>`), `{"jsonld":[{"a":1}]}`},
		"broken":          {ld(`{"a":1} {"b":`), `{"jsonld":[{"a":1}],"cut":true}`},
		"markup":          {ld(`{"a":"<b>x</b> & \u2028"}`), "{\"jsonld\":[{\"a\":\"<b>x</b> & \\u2028\"}]}"},
		"meta": {`<meta property="og:title" content="T &amp; U"><meta property="og:image" content=a><meta property="og:image" content=b>` +
			`<meta name="twitter:card" content=s><meta name=Author content=" A  B "><meta property="article:tag" content=x>`,
			`{"opengraph":{"article:tag":"x","image":["a","b"],"title":"T & U"},"twitter":{"card":"s"},"meta":{"author":"A B"}}`},
		"microdata": {`<div itemscope itemtype="http://schema.org/Person http://schema.org/B" itemid=/me><p itemprop="name alt">A <b>B</b></p>` +
			`<a itemprop=url href=/u>x</a><img itemprop=image src=i.png><time itemprop=born datetime=2001-02-03>then</time><meta itemprop=m content=c>` +
			`<data itemprop=d value=5>five</data><div itemprop=address itemscope><span itemprop=city>C</span></div></div>`,
			`{"microdata":[{"type":["http://schema.org/Person","http://schema.org/B"],"id":"http://a.test/me","properties":{"address":[{"properties":{"city":["C"]}}],` +
				`"alt":["A B"],"born":["2001-02-03"],"d":["5"],"image":["http://a.test/i.png"],"m":["c"],"name":["A B"],"url":["http://a.test/u"]}}]}`},
		"itemref": {`<div itemscope itemref="x self no" id=self><i itemprop=a>1</i></div><p id=x itemprop=b>2</p>`,
			`{"microdata":[{"properties":{"a":["1"],"b":["2"]}}]}`},
		"itemref of items": {`<div itemscope itemref=x></div><div id=x><div itemprop=a itemscope><span itemprop=b>1</span></div></div>`,
			`{"microdata":[{"properties":{"a":[{"properties":{"b":["1"]}}]}}]}`},
		"itemref in a circle": {`<div itemscope itemref=x></div><div id=x itemprop=a itemscope itemref=y></div><p id=y itemprop=b>1</p>`,
			`{"microdata":[{"properties":{"a":[{"properties":{"b":["1"]}}]}}]}`},
		"name and property": {`<meta name=description property=og:description content=D><meta property=og:title name=twitter:title content=T>`,
			`{"opengraph":{"description":"D","title":"T"},"twitter":{"title":"T"},"meta":{"description":"D"}}`},
		"rdfa with prefixes": {`<article prefix="s: https://schema.org/ x: http://x.test/#" typeof="schema:Article x:T"><i property="schema:name">N</i>` +
			`<i property="s:about">A</i><i property="x:p">P</i><i property="q:r">R</i></article>`,
			`{"rdfa":[{"type":["http://schema.org/Article","http://x.test/#T"],"properties":{"about":["A"],"name":["N"],"q:r":["R"],"x:p":["P"]}}]}`},
		"rdfa": {`<div vocab="http://schema.org/" typeof="Article" resource="#me"><h1 property="headline">H</h1><span property="author" typeof="Person">` +
			`<a property="url" href=p>w</a><b property=name>N</b></span><time property=datePublished datetime=2020-01-02>x</time></div>`,
			`{"rdfa":[{"type":["http://schema.org/Article"],"id":"http://a.test/#me","properties":{"author":[{"type":["http://schema.org/Person"],` +
				`"properties":{"name":["N"],"url":["http://a.test/p"]}}],"datePublished":["2020-01-02"],"headline":["H"]}}]}`},
	} {
		if got := read(c.doc).JSON(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestFacts(t *testing.T) {
	day := func(s string) time.Time {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	article := ld(`{"@graph":[{"@type":"WebSite","name":"S","author":"Site","datePublished":"1999-01-01"},{"@type":"WebPage","datePublished":"2001-01-01"},` +
		`{"@type":"NewsArticle","author":[{"@type":"Person","name":"Ann"},{"@id":"#b"}],"datePublished":"2002-02-02","dateModified":"2002-02-03T00:00:00Z"},` +
		`{"@id":"#b","@type":"Person","name":"Bob"}]}`)
	micro := `<div itemscope itemtype=http://schema.org/BlogPosting><b itemprop=author itemscope><i itemprop=name>Mic</i></b><time itemprop=datePublished datetime=2003-03-03>x</time></div>`
	meta := `<meta name=author content=Met><meta property="article:published_time" content="2004-04-04T00:00:00+00:00"><meta property="og:updated_time" content="2004-04-05">`
	body := `<a rel="author" href=/>Rel</a><time class=updated datetime=2005-05-06>u</time><time datetime="2005-05-05">x</time>`
	for name, c := range map[string]struct {
		doc                 string
		author              string
		published, modified time.Time
	}{
		"all: JSON-LD first": {body + meta + micro + article, "Ann, Bob", day("2002-02-02"), day("2002-02-03")},
		"then microdata":     {body + meta + micro, "Mic", day("2003-03-03"), day("2004-04-05")},
		"then meta":          {body + meta, "Met", day("2004-04-04"), day("2004-04-05")},
		"then the text":      {body, "Rel", day("2005-05-05"), day("2005-05-06")},
		"broken dates": {ld(`{"@type":"Article","datePublished":"soon","author":"http://a.test/who"}`) + meta,
			"Met", day("2004-04-04"), day("2004-04-05")},
		"impossible dates": {`<meta name=date content=9999-01-01><meta name=pubdate content=2010-10-10>`, "",
			day("2010-10-10"), time.Time{}},
		"the site's name": {ld(`{"@type":"Organization","author":"Org","datePublished":"2000-01-01"}`), "",
			time.Time{}, time.Time{}},
		"a time element without an attribute": {`<time class=pubdate>6. Mai <b>2024</b></time><time>7. Mai 2024</time>`, "",
			day("2024-05-06"), time.Time{}},
		"a written date": {`<meta name=date content="6 de mayo de 2024">`, "", day("2024-05-06"), time.Time{}},
		"names by class": {`<span class="p-author h-card">By <a href=/>Ann Bee</a></span><a class=author href=/>Ann Bee</a>`,
			"Ann Bee", time.Time{}, time.Time{}},
		"Hacker News": {`<a href=u class=hnuser>ann</a> <span class=age title="2024-05-06T00:00:00 1714953600"><a href=i>2 days` +
			`</a></span><a class=hnuser href=v>bob</a>`, "ann", day("2024-05-06"), time.Time{}},
		"old Reddit": {`<time title=x datetime="2024-05-06T02:00:00+02:00" class=live-timestamp>1 day</time> by <a class="author ` +
			`may-blank" href=u>ann</a>`, "ann", day("2024-05-06"), time.Time{}},
		"rel before class": {`<a class=author href=1>Bob</a><a rel=author href=2>Ann</a>`, "Ann", time.Time{}, time.Time{}},
		"nothing":          {"<p>by Ann on Monday", "", time.Time{}, time.Time{}},
		"microformats": {`<abbr title=2001-01-01>x</abbr><div itemscope itemtype=http://schema.org/BlogPosting>` +
			`<abbr class=published itemprop=datePublished title="2012-06-07T08:00:00Z">8:00 AM</abbr></div>` +
			`<abbr class=updated title=2012-06-08>x</abbr>`, "", day("2012-06-07").Add(8 * time.Hour), day("2012-06-08")},
		"a main entity": {ld(`{"@type":"QAPage","mainEntity":[{"@type":"Question","author":{"name":"Jos&eacute;"},` +
			`"dateCreated":"2020-02-02T01:00+0100"}]}`), "José", day("2020-02-02"), time.Time{}},
		"a main item": {`<body itemscope itemtype=http://schema.org/WebPage><p itemprop=mainEntity itemscope ` +
			`itemtype=http://schema.org/Article><i itemprop=author>Mic</i><time itemprop=datePublished datetime=2012-12-12>`,
			"Mic", day("2012-12-12"), time.Time{}},
		"many questions": {ld(`{"@type":"FAQPage","mainEntity":[{"@type":"Question","author":"A"},{"@type":"Question"}]}`),
			"", time.Time{}, time.Time{}},
		"other dates": {`<meta name=citation_date content=2019/3/5><meta name=revised content=6.3.2019>`, "",
			day("2019-03-05"), day("2019-03-06")},
		"typed values": {ld(`{"@type":"schema:Article","schema:datePublished":{"@type":"Date","@value":"2001-02-03"},` +
			`"schema:author":{"@list":[{"name":{"@value":"Ann","@language":"en"}},{"givenName":"Bo","familyName":"Li"}]}}`),
			"Ann, Bo Li", day("2001-02-03"), time.Time{}},
		"a number": {ld(`{"@type":"Article","datePublished":1072915200,"author":"By <a href='/x'>Ann</a>, Bo"}`), "Ann, Bo",
			day("2004-01-01"), time.Time{}},
		"other meta": {`<meta property="og:published_time" content=2017-09-01><meta http-equiv=last-modified ` +
			`content="Sat, 02 Sep 2017 00:00:00 GMT">`, "", day("2017-09-01"), day("2017-09-02")},
		"Dublin Core": {`<meta property="dc:created" content=2017-09-01><meta name=DCTERMS.modified content=2017-09-03>`,
			"", day("2017-09-01"), day("2017-09-03")},
		"dates of programs": {`<meta property="og:updated_time" content=1072986501><meta name=pubdate content="Thu Jan 01 ` +
			`2004 09:00:00 GMT+0100 (CET)">`, "", day("2004-01-01").Add(8 * time.Hour),
			day("2004-01-01").Add(19*time.Hour + 48*time.Minute + 21*time.Second)},
		"a byline": {`<h1>T</h1><div class="byline">By <a class="author x" href=/a>Ann <b>Bee</b></a> | May 6, 2024</div>` +
			`<div class="post"><div class=author>ANN BEE</div></div>`, "Ann Bee", day("2024-05-06"), time.Time{}},
		"a property beside items": {`<p itemprop="author name">Von Ann&#160;Bee — The Paper</p><img class=author alt=x>`, "Ann Bee",
			time.Time{}, time.Time{}},
		"a byline that is more": {`<div class=author>By Ann on 6 May 2024</div><p class=byline>` + strings.Repeat("word ", 60) +
			`</p><span class=author><script>var x="Bo"</script></span>`, "", day("2024-05-06"), time.Time{}},
		"a name with figures": {`<a class=hnuser>pg77</a><a class=hnuser>Ann</a><b class=author>4 May</b>`, "pg77", time.Time{},
			time.Time{}},
		"XenForo": {`<b data-author=x>y</b><article class="message message--post" data-author="ann &amp; co"><a>ann</a></article>` +
			`<li class=message data-author=bo>`, "ann & co", time.Time{}, time.Time{}},
		"SMF": {`<div class=keyinfo><h5><a href=1>Cranes 2</a></h5><div>« <b>on:</b> May 03, 2016, 10:12:33 AM »</div></div>`,
			"", day("2016-05-03").Add(10*time.Hour + 12*time.Minute + 33*time.Second), time.Time{}},
		"Pipermail": {"<H1>[Boats] Crane</H1>\n <B>Ann Bee</B> \n<A HREF=\"mailto:boats%40a.test\" TITLE=x>ann at a.test</A><BR>\n" +
			"<I>Tue May  3 10:12:33 CEST 2016</I><P>", "Ann Bee",
			day("2016-05-03").Add(8*time.Hour + 12*time.Minute + 33*time.Second), time.Time{}},
		"no letter": {"<H1>x</H1><b>Ann Bee</b><p><a href=mailto:a@a.test>a</a><i>3 May 2016</i>", "", time.Time{}, time.Time{}},
		"public-inbox": {"<pre>Atom</pre><pre\nid=b>From: &#34;Ann Bee&#34; &lt;ann@a.test&gt;\nTo: b@a.test\nSubject: <a href=#r>x</a>\n" +
			"Date: Tue, 3 May 2016 10:12:33 +0200\t[<a href=t>t</a>]\nMessage-ID: &lt;1@x&gt; (<a href=r>r</a>)\n\nFrom: Bo\nDate: 4 May 2016\n" +
			"Message-ID: 2", "Ann Bee", day("2016-05-03").Add(8*time.Hour + 12*time.Minute + 33*time.Second), time.Time{}},
		"an example of a letter": {"<pre>From: Jo &lt;jo@a.test&gt;\nDate: Tue, 3 May 2016 10:12:33 +0200\n\ntext</pre>", "",
			time.Time{}, time.Time{}},
		"phpBB": {`<span class=username>me</span><dl class="postprofile"><dt><a class=avatar></a><a class="username-coloured">old_salt` +
			`</a><dd>Posts</dl><p class=author>by <a class=username>old_salt</a> » <time datetime=2019-06-14>14 Jun</time></p>` +
			`<dl class=postprofile><dt><a class=username>Gill</a></dl>`, "old_salt", day("2019-06-14"), time.Time{}},
		"vBulletin 4": {`<div class=userinfo><div class=username_container><a class="username offline popupctrl" href=1><strong>` +
			`marko</strong></a></div></div><div class=username_container><a class=username>lena</a></div>`, "marko", time.Time{},
			time.Time{}},
		"block themes": {`<div class="wp-block-post-author-name">Marta Lind</div><div class=wp-block-comments><div ` +
			`class=comment-author><b class=author>Ole</b></div></div>`, "Marta Lind", time.Time{}, time.Time{}},
		"GitHub": {`<relative-time datetime="2022-02-03T00:00:00Z">Feb 3, 2022</relative-time>`, "", day("2022-02-03"),
			time.Time{}},
		"many authors":           {`<li><b class=author>Ann</b><li><b class=author>Bo</b>`, "", time.Time{}, time.Time{}},
		"a link before a byline": {`<i class=author>Ann</i><a rel=author>Bo</a>`, "Bo", time.Time{}, time.Time{}},
		"a noble name":           {ld(`{"@type":"Article","author":"von Trapp"}`), "von Trapp", time.Time{}, time.Time{}},
		"two days": {`<meta name=pubdate content=1/2/2004><meta name=date content=13/2/2004>`, "", day("2004-02-13"),
			time.Time{}},
		"a span": {`<span class="date published time" title="2015-04-04T10:00:00+00:00">April 4</span><span class=updated
			title=soon>x</span>`, "", day("2015-04-04").Add(10 * time.Hour), time.Time{}},
		"a job": {ld(`{"@type":"JobPosting","datePosted":"2020-05-06T10:00:00+02:00"}`), "",
			time.Date(2020, 5, 6, 8, 0, 0, 0, time.UTC), time.Time{}},
	} {
		f := read(c.doc).Facts("")
		if f.Author != c.author || !f.Published.Equal(c.published) || !f.Modified.Equal(c.modified) {
			t.Errorf("%s: got %q %v %v", name, f.Author, f.Published, f.Modified)
		}
	}
}

func TestHostilePagesAreBounded(t *testing.T) {
	many := strings.Repeat
	for name, doc := range map[string]string{
		"deep JSON":        ld(many(`{"a":`, 9_000) + "1" + many("}", 9_000)),
		"deeper JSON":      ld(many("[", 500_000)),
		"wide JSON":        ld("{" + many(`"a":1,`, 100_000) + `"b":2}`),
		"many nodes":       ld("[" + many(`{"a":"b"},`, 90_000) + "1]"),
		"a long text":      ld(`{"a":"` + many("x", 900_000) + `"}`),
		"control signs":    ld(`{"a":"` + many("\x01<&", 100_000) + `"}`),
		"many scripts":     many(ld(`{"a":1}`), 20_000),
		"huge script":      ld(`{"a":"` + many("x", 5_000_000) + `"}`),
		"brackets to trim": ld(many(", ", 300_000) + "}"),
		"many metas":       many(`<meta property="og:image" content="x">`, 20_000),
		"nested items":     many(`<div itemscope itemprop=a>`, 450),
		"many items":       many(`<div itemscope><b itemprop=a>x</b></div>`, 20_000),
		"shared itemref": many(`<div itemscope itemref=x></div>`, 3_000) + "<div id=x>" + many("<b itemprop=a>x</b>",
			3_000) + "</div>",
		"text in text":      "<div itemscope>" + many("<div itemprop=a>"+many("x", 1_000), 400),
		"deep RDFa":         many(`<div typeof=A property=b>`, 480),
		"many times":        many(`<time datetime=2001-01-01>`, 50_000),
		"too deep for HTML": "<div itemscope>" + many("<div>", 5_000),
		"invalid UTF-8": ld("{\"\xff\":\"\xfe\"}") +
			"<meta property='og:\xff' content='\xff'><i itemscope itemtype='\xff'><b itemprop='\xff'>\xff",
	} {
		t.Run(name, func(t *testing.T) {
			d := read(doc)
			check(t, d)
			t.Logf("%d bytes in, %d out, cut %v", len(doc), len(d.JSON()), d.Cut)
		})
	}
}

func check(t *testing.T, d *structured.Data) {
	t.Helper()
	out := d.JSON()
	if len(out) > 64<<10 {
		t.Errorf("%d bytes", len(out))
	}
	if out != "" && (!json.Valid([]byte(out)) || strings.ContainsAny(out, "\n\r")) {
		t.Errorf("no line of JSON: %.100s", out)
	}
	if f := d.Facts(""); len(f.Author) > 310 {
		t.Errorf("author of %d bytes", len(f.Author))
	}
}

// The day in a page's URL is taken where nothing says another, or only what is marked as no publication.
func TestDayOfURL(t *testing.T) {
	for _, c := range []struct{ path, doc, want string }{
		{"/2018/06/28/title/", "", "2018-06-28T00:00:00Z"}, {"/blog/2018-06-28-title", "", "2018-06-28T00:00:00Z"},
		{"/a/2018/06/28", "<time datetime=2009-01-01>", "2018-06-28T00:00:00Z"},
		{"/2018/06/28/x", "<time datetime=2018-06-28T10:00:00Z>", "2018-06-28T10:00:00Z"},
		{"/2018/06/28/x", "<meta property=article:published_time content=2018-07-01>", "2018-07-01T00:00:00Z"},
		{"/2018/13/28/x", "", "0001-01-01T00:00:00Z"}, {"/2018/06/x", "", "0001-01-01T00:00:00Z"},
		{"/x2018/06/28/", "", "0001-01-01T00:00:00Z"}, {"/2018/06/281/", "", "0001-01-01T00:00:00Z"},
	} {
		if got := read(c.doc).Facts(c.path).Published.Format(time.RFC3339); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.path, c.doc, got, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(ld(`{"@graph":[{"@type":"Article","author":{"name":"x"}}]}`))
	f.Add(`<div itemscope itemref=a><i itemprop=b id=a>x</i><div vocab=v typeof=T><time property=p datetime=2001-01-01>`)
	f.Add(`<meta property=og:title content=x><a rel=author>b</a><time pubdate datetime=2001-01-01>`)
	f.Fuzz(func(t *testing.T, doc string) { check(t, read(doc)) })
}
