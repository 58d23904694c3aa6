package parser

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A declaration counts wherever it stands, and a name that nobody knows is none.
func TestLateAndUnknownEncodings(t *testing.T) {
	const koi8 = "<title>\xF0\xD2\xC9\xD7\xC5\xD4"
	pad := strings.Repeat("<!-- - -->", 200)
	for _, c := range []struct{ name, contentType, doc, charset, title string }{
		{"late", "text/html", pad + "<meta charset=koi8-r>" + koi8, "koi8-r", "Привет"},
		{"late, in the body", "text/html",
			"<body>" + pad + "<p>x<META http-equiv=content-type content='text/html; charset=koi8-r'>" + koi8, "koi8-r",
			"Привет"},
		{"after the title", "text/html", koi8 + "</title>" + pad + "<meta charset=koi8-r>", "koi8-r", "Привет"},
		{"across the first 1,024 bytes", "text/html", strings.Repeat(" ", 1015) + "<meta charset=koi8-r>" + koi8, "koi8-r",
			"Привет"},
		{"late, with the header's", "text/html; charset=utf-8", pad + "<meta charset=koi8-r><title>é", "utf-8", "é"},
		{"early before late", "text/html", "<meta charset=utf-8><title>é</title>" + pad + "<meta charset=koi8-r>", "utf-8",
			"é"},
		{"late, in a script", "text/html", pad + "<script>'<meta charset=koi8-r>'</script><title>é", "utf-8", "é"},
		{"late, in a comment", "text/html", pad + "<!-- <meta charset=koi8-r> --><title>é", "utf-8", "é"},
		{"late, UTF-16 is a lie", "text/html", pad + "<meta charset=utf-16le><title>é", "utf-8", "é"},
		{"late, unknown", "text/html", pad + "<meta charset=klingon><title>é", "utf-8", "é"},
		{"unknown before good", "text/html", "<meta charset=klingon><meta charset=koi8-r>" + koi8, "koi8-r", "Привет"},
		{"unknown before late", "text/html", "<meta charset=klingon>" + pad + "<meta charset=koi8-r>" + koi8, "koi8-r",
			"Привет"},
		{"unknown in the header", "text/html; charset=klingon", "<meta charset=koi8-r>" + koi8, "koi8-r", "Привет"},
		{"unknown before good in the header", "text/html; charset=klingon; charset=koi8-r", koi8, "koi8-r", "Привет"},
		{"unknown before good in one element", "",
			"<meta charset=klingon http-equiv=content-type content='text/html; charset=koi8-r'>" + koi8, "koi8-r", "Привет"},
		{"unknown in the XML declaration", "", "<?xml version='1.0' encoding='klingon'?><meta charset=koi8-r>" + koi8,
			"koi8-r", "Привет"},
		{"empty before good", "", "<meta charset=''><meta charset=koi8-r>" + koi8, "koi8-r", "Привет"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := HTML([]byte(c.doc), c.contentType, mustURL(t, pageURL), DefaultOptions())
			if r.Charset != c.charset || r.Title != c.title {
				t.Errorf("charset %q, title %q; want %q, %q", r.Charset, r.Title, c.charset, c.title)
			}
		})
	}
}

func linkText(r *Result) string {
	var out []string
	for _, l := range r.Links {
		out = append(out, l.Tag+" "+l.URL.String()+l.Raw)
	}
	return strings.Join(out, "\n")
}

func TestInnerDocuments(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"links", `<iframe srcdoc="<a href='/a?x=1&amp;amp;y'>x</a>&lt;a href=b&gt;">`,
			"a https://site.example/a?x=1&y\na https://site.example/dir/b"},
		{"beside src", `<iframe src=s srcdoc='<a href=b>'></iframe><a href=c>`,
			"iframe https://site.example/dir/s\na https://site.example/dir/c\na https://site.example/dir/b"},
		{"the outer base", `<base href=/other/><iframe srcdoc='<a href=b>'>`, "a https://site.example/other/b"},
		{"a base of its own", `<base href=/other/><iframe srcdoc='<base href=deep/><a href=b>'>`,
			"a https://site.example/other/deep/b"},
		{"one in another", `<iframe srcdoc='<a href=b><iframe srcdoc="<a href=c>">'>`,
			"a https://site.example/dir/b\na https://site.example/dir/c"},
		{"asks not to be followed", `<a href=a><iframe srcdoc='<meta name=robots content=nofollow><a href=b>'>`,
			"a https://site.example/dir/a\na https://site.example/dir/b"},
		{"asks us alone", `<iframe srcdoc='<meta name=whirlpool content=none><a href=b rel=author><a href=c rel=nofollow>'>`,
			"a https://site.example/dir/b\na https://site.example/dir/c"},
		{"empty", `<iframe srcdoc="">`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := HTML([]byte(c.doc), "text/html; charset=utf-8", mustURL(t, "https://site.example/dir/page"), DefaultOptions())
			if got := linkText(r); got != c.want || r.NoFollow || r.Text != "" {
				t.Errorf("got\n%s\nwant\n%s\ntext %q", got, c.want, r.Text)
			}
			for i := range r.Links {
				inner := r.Links[i].URL.Path() != "/dir/a"
				if asks := strings.HasPrefix(c.name, "asks") && inner; r.Links[i].NoFollow() != asks {
					t.Errorf("rel %q of %s", r.Links[i].Rel, r.Links[i].URL)
				}
			}
		})
	}
	deep := strings.Repeat(`<iframe srcdoc='`, 50) + "<a href=x>"
	HTML([]byte(deep), "", mustURL(t, pageURL), DefaultOptions())
	opt := DefaultOptions()
	opt.MaxLinks = 3
	r := HTML([]byte("<a href=a><a href=b>"+strings.Repeat("<iframe srcdoc='<a href=c><a href=d>'></iframe>", 5)), "",
		mustURL(t, pageURL), opt)
	if len(r.Links) != 3 || len(r.Cut) != 1 || r.Cut[0] != CutLinks {
		t.Errorf("%d links, cut %v", len(r.Links), r.Cut)
	}
}

// A page that is there for the document in its frame has that one's text.
func TestInnerText(t *testing.T) {
	message := strings.Repeat("This is the message that somebody wrote to us. ", 5)
	frame := func(attrs string) string {
		return "<iframe " + attrs + " srcdoc='<p>" + message + "<p>It ends.'></iframe>"
	}
	text, own := strings.TrimSpace(message)+"\nIt ends.", strings.Repeat("The page has a text of its own, and enough. ", 6)
	for _, c := range []struct{ name, doc, want string }{
		{"alone", frame(""), text},
		{"under a heading", "<h1>A message</h1>" + frame("sandbox"), "A message\n" + text},
		{"in another", "<iframe srcdoc='" + strings.NewReplacer("'", "&#39;").Replace(frame("")) + "'></iframe>", text},
		{"the longer of two", "<iframe srcdoc='<p>" + message[:141] + "'></iframe>" + frame(""), text},
		{"beside a text", "<p>" + own + "</p>" + frame(""), strings.TrimSpace(own)},
		{"hidden", "<h1>A message</h1>" + frame("hidden"), "A message"},
		{"hidden by its style", "<h1>A message</h1>" + frame(`style="display:none"`), "A message"},
		{"little", "<h1>A message</h1><iframe srcdoc='<p>Close this window.'></iframe>", "A message"},
	} {
		opt := DefaultOptions()
		opt.Markdown = true
		r := HTML([]byte(c.doc), "text/html; charset=utf-8", mustURL(t, pageURL), opt)
		plain := strings.ReplaceAll(strings.ReplaceAll(r.Markdown, "# ", ""), "\n\n", "\n")
		if r.Text != c.want || strings.TrimSpace(plain) != c.want {
			t.Errorf("%s: text %q, Markdown %q, want %q", c.name, r.Text, r.Markdown, c.want)
		}
	}
}

func TestRefreshHeader(t *testing.T) {
	for value, want := range map[string]string{
		"0; url=/next":  "header https://site.example/next",
		"5;URL='n?a=b'": "header https://site.example/dir/n?a=b",
		"0, ../up":      "header https://site.example/up",
		"30":            "", "": "", "url=x": "",
		"1; url=javascript:x()": "header javascript:x()",
	} {
		r := &Result{}
		r.refreshHeader(value, mustURL(t, "https://site.example/dir/page"), 10)
		if got := linkText(r); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
		r.refreshHeader(value, mustURL(t, pageURL), 1)
		if len(r.Links) > 1 || want != "" && len(r.Cut) != 1 {
			t.Errorf("%q: %d links, cut %v", value, len(r.Links), r.Cut)
		}
	}
}

// Directives for one crawler are for the name that the job's crawler goes by.
func TestDirectivesForTheAgent(t *testing.T) {
	for _, c := range []struct {
		agent, tag, name string
		want             bool
	}{
		{"", "whirlpool: noindex", "Whirlpool", true}, {"MyBot", "whirlpool: noindex", "whirlpool", false},
		{"MyBot", "mybot: noindex", " MYBOT ", true}, {"crawler2", "crawler2: noindex", "crawler2", true},
		{"MyBot", "noindex", "robots", true}, {"", "otherbot: none, whirlpool: noindex", "Whirlpool", true},
		{"", "nofollow, otherbot: noindex", "other", false},
		{"", "unavailable_after: Saturday, 25-Jun-50 15:00:00 PST, noindex", "robots", true},
		{"", "max-snippet: 5, otherbot: all, noindex", "other", false},
	} {
		opt := DefaultOptions()
		opt.Agent = c.agent
		r := &Result{}
		r.robotsTags([]string{c.tag}, opt)
		page := HTML([]byte("<meta name='"+c.name+"' content=noindex>"), "", mustURL(t, pageURL), opt)
		if r.NoIndex != c.want || page.NoIndex != c.want {
			t.Errorf("%+v: header %v, meta %v", c, r.NoIndex, page.NoIndex)
		}
	}
	job := crawl.DefaultJob()
	job.UserAgent = "MyBot/2.0"
	p := &crawl.Page{Task: crawl.Task{URL: mustURL(t, pageURL)}, ContentType: "text/html",
		RobotsTags: []string{"mybot: nofollow"}, Refresh: "0;/x"}
	if d := document(p, []byte("<p>x"), &job, nil); !d.NoFollow || len(d.Links) != 1 {
		t.Errorf("got %+v", d)
	}
}

// A canonical link whose anchor is another page says nothing of this one.
func TestCanonicalOfAnotherPage(t *testing.T) {
	page := mustURL(t, pageURL)
	for header, want := range map[string]string{
		`</a>; rel=canonical; anchor="/other"`:                      "",
		`</a>; rel=canonical; anchor="/other", </b>; rel=canonical`: "https://example.com/b",
	} {
		r := &Result{}
		if r.linkHeaders([]string{header}, page, 0); r.Canonical != want || len(r.Links) == 0 {
			t.Errorf("%s: canonical %q with %d links, want %q", header, r.Canonical, len(r.Links), want)
		}
	}
}

// What a page names for programs is no page: content management systems name several of them on each.
func TestLinksForPrograms(t *testing.T) {
	head := `<link rel="https://api.w.org/" href="/wp-json/"><link rel=alternate type=application/json href="/wp-json/wp/v2/posts/1">` +
		`<link rel=EditURI type="application/rsd+xml" href="/xmlrpc.php?rsd"><link rel=shortlink href="/?p=1">` +
		`<link rel=alternate type="application/json+oembed" href="/wp-json/oembed/1.0/embed?url=x">` +
		`<link rel=alternate type=" Text/XML+oEmbed; charset=utf-8" href="/wp-json/oembed/1.0/embed?url=x&amp;format=xml">` +
		`<link rel=alternate type="application/x-wiki" href="/edit"><link rel=webmention href=/mention>` +
		`<link rel=alternate hreflang=de type=text/html href=/de><link rel=next href=/2><link rel=alternate ` +
		`type=application/json href=/feed.json><link rel=alternate type=application/pdf href=/x.pdf>`
	page := mustURL(t, "https://site.example/a")
	want := "link https://site.example/de\nlink https://site.example/2\nlink https://site.example/feed.json\n" +
		"link https://site.example/x.pdf"
	if got := linkText(HTML([]byte(head), "", page, DefaultOptions())); got != want {
		t.Errorf("elements: %s, want %s", got, want)
	}
	r := &Result{}
	r.linkHeaders([]string{`<https://site.example/wp-json/>; rel="https://api.w.org/", </wp-json/wp/v2/posts/1>; rel="alternate"; ` +
		`title="JSON"; type="application/json", </?p=1>; rel=shortlink, </de>; rel=alternate; type="text/html"`}, page, 0)
	if got := linkText(r); got != "header https://site.example/de" {
		t.Errorf("header: %s", got)
	}
}

// A feed that is served as a page has links; a page is no feed.
func TestAFeedServedAsAPage(t *testing.T) {
	for doc, want := range map[string]int{
		`<?xml version='1.0'?><rss version="2.0"><channel><item><link>http://a.example/1</link></item></channel></rss>`: 1,
		`<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="http://a.example/1"/></entry></feed>`:             1,
		`<?xml version='1.0'?><html><p>http://a.example/1</p></html>`:                                                   0,
	} {
		if r := Parse([]byte(doc), "text/html", mustURL(t, pageURL), DefaultOptions()); len(r.Links) != want {
			t.Errorf("%s: %d links, want %d", doc, len(r.Links), want)
		}
	}
}
