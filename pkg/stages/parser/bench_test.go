package parser

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// page makes a page of about 30 KB with 40 links, the measure of the crawler's contract.
func page() []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the crawler reads a page of some length and finds in it words links lists tables and more " +
		"of the same sort again")
	sentence := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		return b.String()
	}
	var b bytes.Buffer
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A page &amp; more</title>` +
		`<link rel="stylesheet" href="/static/style.css"><script src="/static/app.js"></script></head><body class="page"><nav class="menu"><ul>`)
	for i := range 15 {
		fmt.Fprintf(&b, `<li class="item"><a class="nav-link" href="/section/%d/">Section %d</a></li>`, i, i)
	}
	b.WriteString(`</ul></nav><main id="content"><h1>A page &amp; more</h1>`)
	for i := range 25 {
		fmt.Fprintf(&b, "<div class=\"section level-2\" id=\"s%d\"><h2>Part %d</h2>\n"+
			"<p>%s<a href=\"../chapter/%d.html?x=%d&amp;y=2\">%s</a> %s<em>%s</em>.</p>\n"+
			"<p class=\"body\">%s &mdash; %s</p></div>\n", i, i, sentence(60), i, i, sentence(3), sentence(50), sentence(4),
			sentence(60), sentence(30))
	}
	b.WriteString(`</main><footer class="footer"><p>Copyright</p></footer></body></html>`)
	return b.Bytes()
}

type corpus struct {
	name string
	docs [][]byte
	size int64
}

func benchmarkPages(b *testing.B) []corpus {
	synthetic := page()
	all := []corpus{{"page", [][]byte{synthetic}, int64(len(synthetic))}}
	documentation := corpus{name: "documentation"}
	for _, name := range documentationPages(b) {
		doc, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		if len(doc) < 200<<10 {
			documentation.docs, documentation.size = append(documentation.docs, doc), documentation.size+int64(len(doc))
		}
	}
	if len(documentation.docs) > 0 {
		all = append(all, documentation)
	}
	return all
}

// BenchmarkHTML parses wholly; BenchmarkTokenizer only runs golang.org/x/net/html's tokenizer over the same bytes, and
// BenchmarkScan ours.
func BenchmarkHTML(b *testing.B) {
	base, opt := mustURL(b, "http://www.example.com/dir/page.html"), DefaultOptions()
	for _, s := range benchmarkPages(b) {
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(s.size)
			b.ReportAllocs()
			for b.Loop() {
				for _, doc := range s.docs {
					HTML(doc, "text/html; charset=utf-8", base, opt)
				}
			}
		})
	}
}

func BenchmarkTokenizer(b *testing.B) {
	for _, s := range benchmarkPages(b) {
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(s.size)
			b.ReportAllocs()
			for b.Loop() {
				for _, doc := range s.docs {
					tokenize(doc)
				}
			}
		})
	}
}

func tokenize(doc []byte) {
	z := html.NewTokenizer(bytes.NewReader(doc))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			_, more := z.TagName()
			for more {
				_, _, more = z.TagAttr()
			}
		case html.EndTagToken:
			z.TagName()
		case html.TextToken:
			z.Text()
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for _, s := range benchmarkPages(b) {
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(s.size)
			b.ReportAllocs()
			var z htmlscan.Scanner
			for b.Loop() {
				for _, doc := range s.docs {
					for z.Reset(doc); z.Next() != htmlscan.End; {
						continue
					}
				}
			}
		})
	}
}
