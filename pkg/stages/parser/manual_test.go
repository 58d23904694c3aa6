package parser

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// bodyOf finds the element that a page of documentation names as its body.
func bodyOf(n *html.Node) *html.Node {
	if n.Type == html.ElementNode {
		for _, a := range n.Attr {
			if a.Key == "role" && a.Val == "main" || a.Key == "id" && (a.Val == "apicontent" || a.Val == "_content") {
				return n
			}
		}
		if n.Data == "main" {
			return n
		}
	}
	for c := range n.ChildNodes() {
		if found := bodyOf(c); found != nil {
			return found
		}
	}
	return nil
}

// shownWords writes the text of a tree as a reader sees it.
func shownWords(n *html.Node, b *strings.Builder) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
		return
	}
	switch n.Data {
	case "script", "style", "nav", "template", "button", "svg", "select":
		return
	case "a":
		if len(n.Attr) > 0 && n.FirstChild != nil && n.FirstChild.NextSibling == nil &&
			isPermalink([]byte(n.FirstChild.Data)) {
			return
		}
		if n.Parent.Data == "li" && len(n.Attr) > 0 && strings.HasPrefix(n.Attr[0].Val, "#") {
			return // a table of the page's own contents
		}
	case "b", "i", "em", "strong", "span", "code", "tt", "var", "sub", "sup", "cite", "wbr", "kbd", "abbr":
	default:
		b.WriteByte(' ')
		defer b.WriteByte(' ')
	}
	for c := range n.ChildNodes() {
		shownWords(c, b)
	}
}

// minBody is how many words a body has at least that is checked.
const minBody = 50

// leastOfBody is the share of the words of a page's body that its main text must have.
const leastOfBody = 0.97

// Pages of documentation lose nothing of what they call their body: neither lists of links nor boxes.
func TestDocumentationKeepsItsBody(t *testing.T) {
	checked := 0
	for i, name := range append(documentationPages(t), npmPages(t)...) {
		if testing.Short() && i%5 > 0 {
			continue
		}
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := html.Parse(bytes.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		body := bodyOf(tree)
		if body == nil {
			continue
		}
		var b strings.Builder
		shownWords(body, &b)
		if len(strings.Fields(b.String())) < minBody {
			continue // a page for scripts
		}
		checked++
		if share := found(parseHTML(t, string(doc)).Text, b.String()); share < leastOfBody {
			t.Errorf("%s: %.3f of the body's words are in the main text", name, share)
		}
	}
	if checked == 0 {
		t.Skip("no documentation installed: the families sphinx, rustdoc, javadoc and docs site of TestMainTextOfFamilies " +
			"are")
	}
	t.Logf("%d pages", checked)
}

func npmPages(t *testing.T) []string {
	files, err := filepath.Glob("/usr/lib/node_modules/npm/docs/output/*/*.html")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// found is the share of the words wanted that the text has.
func found(text, want string) float64 {
	have, all, both := map[string]int{}, 0, 0
	for _, w := range strings.Fields(text) {
		have[w]++
	}
	for _, w := range strings.Fields(want) {
		all++
		if have[w] > 0 {
			have[w]--
			both++
		}
	}
	return float64(both) / float64(max(1, all))
}

// AsciiDoc writes what a manual page is about into the header of the page.
func TestNameOfAManualPage(t *testing.T) {
	page := `<title>ls(1)</title><div id=header><h1>ls(1) Manual Page</h1><h2>NAME</h2><div class=sectionbody><p>ls -
		list the files</p></div></div><div id=content><div class=sect1><h2>SYNOPSIS</h2><div class=sectionbody>` + prose +
		`</div></div><div class=sect1><h2>OPTIONS</h2><div class=sectionbody>` + prose + `</div></div></div>`
	checkText(t, page, "NAME\nls - list the files\nSYNOPSIS", "")
	checkText(t, strings.Replace(page, "ls -", "ls and", 1), "SYNOPSIS", "NAME|list the files")
}

// Lines of links that say that they are navigation are no text of documentation, whose lists of links are: those by
// which one turns the pages of Texinfo, and the column of Node's manual. A paragraph with such a link stays.
func TestLinksThatNavigate(t *testing.T) {
	const prose = "<p>The number of elements in a sparse matrix is the number of nonzero elements, not the product.</p>"
	for name, c := range map[string]struct {
		page string
		kept bool
	}{
		"turning pages": {`<div class="header"><p>Next: <a href="b" rel="Next">Oddments</a>, Previous: <a href="a" rel="prev">
			Files</a>, Up: <a href="c" rel="up">Guide</a> [<a href="d" rel="contents">Oddments</a>]</p></div>`, false},
		"a column of chapters": {`<ul><li><a href="b" class="nav-b">Oddments</a></li>
			<li><a href="c" class="nav-c">Files</a></li></ul>`, false},
		"a list of chapters": {`<ul><li><a href="b">Oddments</a></li><li><a href="c">Files</a></li></ul>`, true},
		"a paragraph": {`<p>How pages are turned, and why Oddments come last, the
			<a href="b" rel="next">next chapter</a> says.</p>`, true},
	} {
		for _, sides := range []string{c.page + "<h1>Arrays</h1>" + prose, "<h1>Arrays</h1>" + prose + c.page + prose} {
			doc := `<body><div class="document"><h2>A<a href="#a">#</a></h2><h2>B<a href="#b">#</a></h2>` + sides + `</div>`
			got := parseHTML(t, doc).Text
			if strings.Contains(got, "Oddments") != c.kept || !strings.Contains(got, "sparse matrix") {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}
