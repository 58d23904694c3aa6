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
