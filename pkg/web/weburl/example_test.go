package weburl_test

import (
	"fmt"
	"log"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Parse reads a URL as a browser does.
func ExampleParse() {
	u, err := weburl.Parse("HTTP://Bücher.Example:80/a/../b?q=1#top")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(u)
	fmt.Println(u.Hostname(), u.EffectivePort(), u.RequestURI())
	// Output:
	// http://xn--bcher-kva.example/b?q=1#top
	// xn--bcher-kva.example 80 /b?q=1
}

// Resolve reads a link as it is in a page.
func ExampleURL_Resolve() {
	page, err := weburl.Parse("https://example.org/docs/intro.html")
	if err != nil {
		log.Fatal(err)
	}
	for _, href := range []string{"../about", "//cdn.example.net/a.js", "?page=2", "mailto:a@example.org"} {
		u, err := page.Resolve(href)
		fmt.Println(u, err != nil)
	}
	// Output:
	// https://example.org/about false
	// https://cdn.example.net/a.js false
	// https://example.org/docs/intro.html?page=2 false
	//  true
}

// A crawler files a URL under several names: the origin has the robots.txt, the host key is the unit of politeness.
func ExampleURL_HostKey() {
	u, err := weburl.Parse("https://shop.example.co.uk:8443/cart")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(u.Origin())
	fmt.Println(u.HostKey())
	fmt.Println(u.RegistrableDomain())
	// Output:
	// https://shop.example.co.uk:8443
	// shop.example.co.uk:8443
	// example.co.uk
}

// Canonical removes what makes two spellings of one page differ.
func ExampleCanonicalizer_Canonical() {
	c := weburl.NewCanonicalizer(weburl.DefaultCanonical())
	for _, raw := range []string{
		"https://example.org/list?utm_source=mail&page=2#top",
		"https://user:secret@EXAMPLE.org:443/list?page=2&gclid=x1",
	} {
		u, err := weburl.Parse(raw)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Canonical(u))
	}
	// Output:
	// https://example.org/list?page=2
	// https://example.org/list?page=2
}
