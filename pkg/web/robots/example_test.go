package robots_test

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
)

const exampleFile = `
User-agent: *
Disallow: /private/
Allow: /private/press/
Crawl-delay: 2

User-agent: BadBot
Disallow: /

Sitemap: https://example.org/sitemap.xml
`

// Parse reads a file once; Agent compiles the rules for one crawler.
func ExampleParse() {
	file := robots.Parse([]byte(exampleFile))
	rules := file.Agent("Whirlpool")
	for _, path := range []string{"/", "/private/salaries", "/private/press/2026?lang=en"} {
		fmt.Println(path, rules.Allowed(path))
	}
	fmt.Println("BadBot:", file.Agent("BadBot").Allowed("/"))
	fmt.Println(file.Sitemaps())
	// Output:
	// / true
	// /private/salaries false
	// /private/press/2026?lang=en true
	// BadBot: false
	// [https://example.org/sitemap.xml]
}

// Match says which rule decided, and in which line it stands.
func ExampleRules_Match() {
	rules := robots.Parse([]byte(exampleFile)).Agent("Whirlpool")
	fmt.Println(rules.Match("/private/salaries"))
	fmt.Println(rules.CrawlDelay())
	// Output:
	// false Disallow: /private/ 3
	// 2s true
}

// Product takes the name that robots.txt files use out of a User-Agent header.
func ExampleProduct() {
	fmt.Println(robots.Product("Mozilla/5.0 (compatible; ExampleBot/1.2; +https://example.org/bot)"))
	// Output:
	// ExampleBot
}
