package parser

import (
	"bytes"
	"html"
	"os"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	ghtml "github.com/yuin/goldmark/renderer/html"
	xhtml "golang.org/x/net/html"
)

func markdownOf(t testing.TB, doc string) *Result {
	t.Helper()
	opt := DefaultOptions()
	opt.Markdown = true
	return HTML([]byte(doc), "text/html; charset=utf-8", mustURL(t, "http://www.example.com/dir/page.html"), opt)
}

// rendered parses Markdown as GitHub does, and returns its HTML.
func rendered(t testing.TB, md string) *xhtml.Node {
	t.Helper()
	var out bytes.Buffer
	gm := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(), ghtml.WithUnsafe()))
	if err := gm.Convert([]byte(md), &out); err != nil {
		t.Fatal(err)
	}
	root, err := xhtml.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// letters are what a text says, whatever stands between its words.
func letters(s string) string {
	return strings.Join(strings.Fields(html.UnescapeString(s)), "")
}

func textOf(root *xhtml.Node) string {
	var b strings.Builder
	for d := range root.Descendants() {
		if d.Type == xhtml.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), "")
}

func TestMarkdownProbe(t *testing.T) {
	files := documentationPages(t)
	same, all, shown := 0, 0, 0
	for _, name := range files {
		doc, _ := os.ReadFile(name)
		r := markdownOf(t, string(doc))
		got, want := textOf(rendered(t, r.Markdown)), strings.Join(strings.Fields(r.Text), "")
		all++
		if got == want {
			same++
			continue
		}
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		if shown++; shown < 40 {
			t.Logf("%s at %d of %d %v\n got %.100q\nwant %.100q", name, i, len(want), r.Cut, got[max(0, i-20):], want[max(0, i-20):])
		}
	}
	t.Logf("%d of %d", same, all)
}

func TestMarkdownShow(t *testing.T) {
	doc, _ := os.ReadFile(os.Getenv("SHOW"))
	t.Log(markdownOf(t, string(doc)).Markdown)
}
