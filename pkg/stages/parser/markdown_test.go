package parser

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
)

func extractedFrom(t testing.TB, doc string) *Result {
	t.Helper()
	opt := DefaultOptions()
	opt.Markdown, opt.Structured = true, true
	return HTML([]byte(doc), "text/html; charset=utf-8", mustURL(t, "http://www.example.com/dir/page.html"), opt)
}

// rendered reads Markdown as GitHub does.
func rendered(t testing.TB, md string) *html.Node {
	t.Helper()
	var out bytes.Buffer
	gm := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(ghtml.WithUnsafe()))
	if err := gm.Convert([]byte(md), &out); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// shownBy returns what a document says, without the white space, and where its links lead.
func shownBy(root *html.Node) (text string, links []string) {
	var b strings.Builder
	for d := range root.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.Data == "a":
			for _, a := range d.Attr {
				if a.Key == "href" {
					links = append(links, a.Val)
				}
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), ""), links
}

// checkMarkdown reports where the Markdown of a page, read back, says something else than its main text, or has a link
// that the page has not.
func checkMarkdown(t *testing.T, name string, r *Result) (links int) {
	t.Helper()
	got, hrefs := shownBy(rendered(t, r.Markdown))
	want := strings.Join(strings.Fields(r.Text), "")
	if got != want {
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s: words differ at %d of %d\n got %.80q\nwant %.80q", name, i, len(want), got[max(0, i-20):],
			want[max(0, i-20):])
	}
	known := map[string]bool{}
	for i := range r.Links {
		known[r.Links[i].URL.String()+r.Links[i].Raw] = true
	}
	for _, h := range hrefs {
		if !known[h] {
			t.Errorf("%s: link %q is not the page's", name, h)
		}
	}
	return len(hrefs)
}

// Markdown says what the text says: whatever the classifier's rules are, both are made of the same blocks.
func TestMarkdownReadBackIsTheText(t *testing.T) {
	pages, err := filepath.Glob("testdata/text/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	pages = append(pages, documentationPages(t)...)
	checked, links := 0, 0
	for i, name := range pages {
		if testing.Short() && i%5 > 0 {
			continue
		}
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := extractedFrom(t, string(doc))
		if len(r.Cut) == 0 { // a cut text and a cut Markdown end at different places
			checked++
			links += checkMarkdown(t, name, r)
		}
	}
	t.Logf("%d of %d pages, %d links", checked, len(pages), links)
}

const filler = "These are words of a paragraph that is long enough, as such paragraphs go, to be kept as prose by " +
	"whoever looks at it. "

func TestMarkdownOfTheMainText(t *testing.T) {
	prose := "<p>" + filler + filler + "</p>"
	for name, c := range map[string]struct {
		doc        string
		want, lack []string
	}{
		"navigation is left out": {"<nav><ul><li><a href=/a>Aaa</a></ul><img src=logo.png></nav><main><h1>T</h1>" + prose +
			"</main><footer>Foot</footer>", []string{"# T\n\nThese are"}, []string{"Aaa", "Foot", "logo", "-"}},
		"base": {"<base href=/other/><main>" + prose + "<p><a href=x>link</a> " + filler,
			[]string{"[link](http://www.example.com/other/x)"}, nil},
		"figure": {"<main>" + prose + "<figure><img src=f.png alt=Fig><figcaption>" + filler +
			"</figcaption></figure>" + prose, []string{"![Fig](http://www.example.com/dir/f.png)"}, nil},
		"scripts and forms": {"<main>" + prose +
			"<script>var x = '<b>no</b>'</script><style>p{}</style><form><button>Buy</button></form>" + prose, []string{"These"},
			[]string{"var", "Buy", "p{}"}},
		"svg and math": {"<main>" + prose + "<p>" + filler +
			"<svg><title>no</title><text>nope</text></svg><math><mi>x</mi></math></main>", []string{"x"}, []string{"nope"}},
		"hidden": {"<main>" + prose + "<div hidden><p>" + filler + "secret</div>" + prose, nil,
			[]string{"secret"}},
		"table of data": {"<main>" + prose + "<table><tr><th>K<th>V<tr><td>a<td>1</table>",
			[]string{"| K | V |\n|---|---|\n| a | 1 |"}, nil},
	} {
		r := extractedFrom(t, c.doc)
		for _, w := range c.want {
			if !strings.Contains(r.Markdown, w) {
				t.Errorf("%s: no %q in\n%s", name, w, r.Markdown)
			}
		}
		for _, l := range c.lack {
			if strings.Contains(r.Markdown, l) {
				t.Errorf("%s: %q in\n%s", name, l, r.Markdown)
			}
		}
		checkMarkdown(t, name, r)
	}
}

func TestMarkdownOfXHTML(t *testing.T) {
	opt := DefaultOptions()
	opt.Markdown = true
	doc := `<html xmlns="http://www.w3.org/1999/xhtml"><body><main><p><a id="x"/>` + filler + `<![CDATA[a < b & c]]> ` +
		filler + `</p><p>` + filler + `</p></main></body></html>`
	r := HTML([]byte(doc), "application/xhtml+xml", mustURL(t, "http://www.example.com/"), opt)
	if !strings.Contains(r.Markdown, "a &lt; b & c These") || strings.Contains(r.Markdown, "[These") {
		t.Errorf("got %s", r.Markdown)
	}
	checkMarkdown(t, "xhtml", r)
}

func TestNothingIsExtractedByDefault(t *testing.T) {
	r := HTML([]byte(`<meta name=author content=A><main><p>`+filler), "text/html", mustURL(t,
		"http://www.example.com/"), DefaultOptions())
	if r.Markdown != "" || r.Structured != "" || r.Author != "" {
		t.Errorf("got %+v", r.Extracted)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("<main><p>"+filler+"<a href=x>a<table><tr><td>b</main><nav>c", false)
	f.Add("<div itemscope><p itemprop=a>"+filler+"<script type=application/ld+json>{]</script>", true)
	f.Fuzz(func(t *testing.T, doc string, xhtml bool) {
		opt := DefaultOptions()
		opt.Markdown, opt.Structured = true, true
		typ := "text/html"
		if xhtml {
			typ = "application/xhtml+xml"
		}
		base := mustURL(t, "http://www.example.com/")
		with := HTML([]byte(doc), typ, base, opt)
		opt.Markdown, opt.Structured = false, false
		if without := HTML([]byte(doc), typ, base, opt); with.Text != without.Text ||
			len(with.Links) != len(without.Links) || with.Title != without.Title {
			t.Errorf("extraction changes the page: %q, %q", with.Text, without.Text)
		}
	})
}

func TestTasksInMarkdown(t *testing.T) {
	opt := DefaultOptions()
	opt.Markdown = true
	r := HTML([]byte(`<main><p>`+prose+`<ul><li><input type=checkbox checked disabled> Milk</li><li><p><input type=Checkbox>
		<b>Cow</b> <input type=checkbox> or calf</p><ul><li><label><input type=checkbox checked><span>Deep</span></label></ul>
		<li>Text<li><input type=radio>One</ul><p><input type=checkbox> I agree`), "", mustURL(t, pageURL), opt)
	want := "- [x] Milk\n- [ ] **Cow** or calf\n  \n  - [x] Deep\n- Text\n- One\n\nI agree"
	if !strings.HasSuffix(r.Markdown, want) {
		t.Errorf("got %q\nwant %q", r.Markdown, want)
	}
}
