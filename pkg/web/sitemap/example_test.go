package sitemap_test

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/sitemap"
)

// Parse finds out by itself what a document is. It reads sitemaps, their indexes, text files and feeds.
func ExampleParse() {
	documents := []string{
		`<urlset><url><loc>https://example.org/a</loc><lastmod>2026-01-02</lastmod><priority>0.8</priority></url></urlset>`,
		`<sitemapindex><sitemap><loc>https://example.org/news.xml.gz</loc></sitemap></sitemapindex>`,
		`<rss version="2.0"><channel><item><link>https://example.org/post/1</link></item></channel></rss>`,
		"https://example.org/b\n",
	}
	for _, d := range documents {
		kind, _, err := sitemap.Parse(strings.NewReader(d), sitemap.DefaultLimits(), func(l sitemap.Link) error {
			fmt.Println(l.URL, l.Priority)
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("  from", kind)
	}
	// Output:
	// https://example.org/a 0.8
	//   from urlset
	// https://example.org/news.xml.gz 0.5
	//   from index
	// https://example.org/post/1 0.5
	//   from rss
	// https://example.org/b 0.5
	//   from text
}

// A document that is cut or too long is no error. The links before the cut are delivered, and Stats says why it ended.
func ExampleParse_limits() {
	limits := sitemap.DefaultLimits()
	limits.MaxLinks = 1
	list := "https://example.org/a\nhttps://example.org/b\n"
	_, stats, err := sitemap.Parse(strings.NewReader(list), limits, func(sitemap.Link) error { return nil })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Links, stats.Truncated, errors.Is(stats.Err, sitemap.ErrTooManyLinks))
	// Output:
	// 1 true true
}
