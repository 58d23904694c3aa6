package parser_test

import (
	"fmt"
	"log"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const examplePage = `<!doctype html>
<html lang="en"><head><title>Spring &amp; summer</title>
<link rel="canonical" href="/shop">
<meta name="robots" content="noindex"></head>
<body><nav><a href="/">Home</a> <a href="/map">Map</a></nav>
<article><h1>Our shop</h1>
<p>We sell flowers, seeds and tools for every garden, all year round, in the old market hall beside the river.</p>
<p>In spring the hall is open until eight in the evening, and on Sundays there is coffee under the trees for all.</p>
<p>Our gardeners answer your questions at the long table by the door, about soil, frost, snails and old roses.</p>
</article><p><a href="items?page=2" rel="next">More items</a></p></body></html>`

// Parse makes a Result of a body of any content type.
func ExampleParse() {
	base, err := weburl.Parse("https://example.org/shop?ref=1")
	if err != nil {
		log.Fatal(err)
	}
	// Navigation is no part of the text; its links are links all the same.
	r := parser.Parse([]byte(examplePage), "text/html; charset=utf-8", base, parser.DefaultOptions())
	fmt.Println(r.Title)
	fmt.Println(r.Text)
	fmt.Println(r.Lang, r.Charset, r.Canonical, r.NoIndex)
	for _, l := range r.Links {
		fmt.Printf("%s %q %q\n", l.URL, l.Text, l.Rel)
	}
	// Output:
	// Spring & summer
	// Our shop
	// We sell flowers, seeds and tools for every garden, all year round, in the old market hall beside the river.
	// In spring the hall is open until eight in the evening, and on Sundays there is coffee under the trees for all.
	// Our gardeners answer your questions at the long table by the door, about soil, frost, snails and old roses.
	// en utf-8 https://example.org/shop true
	// https://example.org/shop "" "canonical"
	// https://example.org/ "Home" ""
	// https://example.org/map "Map" ""
	// https://example.org/items?page=2 "More items" "next"
}

// CompileRules checks the site rules of a job. Its error names the rule and the field.
func ExampleCompileRules() {
	_, err := parser.CompileRules([]crawl.SiteRule{{Match: "^https://example\\.org/",
		Fields: []crawl.FieldRule{{Name: "price", CSS: "span["}}}})
	fmt.Println(err)
	// Output:
	// rule 1: field "price": css "span[": expected identifier, found EOF instead
}
