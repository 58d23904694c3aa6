package weburl

import (
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// The references are those of an ordinary page; "slow" ones leave the short cut.
const (
	cleanURL = "https://www.example.com/news/2024/05/some-article-title?page=2&lang=en"
	slowURL  = "HTTPS://www.Example.com/news/../2024/some article?q=caf\u00e9"
)

var benchBase = parseOrZero("https://www.example.com/news/2024/index.html")

func BenchmarkParse(b *testing.B) {
	b.Run("clean", func(b *testing.B) { benchParse(b, cleanURL) })
	b.Run("slow", func(b *testing.B) { benchParse(b, slowURL) })
	b.Run("idn", func(b *testing.B) { benchParse(b, "https://b\u00fccher.example/") })
	b.Run("mailto", func(b *testing.B) { benchParse(b, "mailto:someone@example.com") })
	b.Run("whatwg-url/clean", func(b *testing.B) {
		p := whatwg.NewParser()
		for b.Loop() {
			if _, err := p.Parse(cleanURL); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchParse(b *testing.B, raw string) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Parse(raw)
	}
}

func BenchmarkResolve(b *testing.B) {
	for name, ref := range map[string]string{
		"absolute": cleanURL, "root": "/news/2024/05/some-article-title?page=2", "relative": "some-article-title.html",
		"parent": "../05/some-article-title.html", "fragment": "#top", "slow": "../a b/./c",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = benchBase.Resolve(ref)
			}
		})
	}
}

func BenchmarkCanonical(b *testing.B) {
	c := NewCanonicalizer(DefaultCanonical())
	for name, raw := range map[string]string{
		"unchanged": cleanURL, "fragment": cleanURL + "#top", "tracked": cleanURL + "&utm_source=a&utm_medium=b",
		"encoded": "https://www.example.com/caf%c3%a9/%7euser",
	} {
		b.Run(name, func(b *testing.B) {
			u := parseOrZero(raw)
			b.ReportAllocs()
			for b.Loop() {
				c.Canonical(u)
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	u := parseOrZero(cleanURL)
	b.ReportAllocs()
	for b.Loop() {
		u.Key()
	}
}

// BenchmarkLink is what the crawler does with each link of a page.
func BenchmarkLink(b *testing.B) {
	c := NewCanonicalizer(DefaultCanonical())
	b.ReportAllocs()
	for b.Loop() {
		u, err := benchBase.Resolve("/news/2024/05/some-article-title?page=2")
		if err != nil {
			b.Fatal(err)
		}
		c.Canonical(u).Key()
	}
}

func BenchmarkRegistrableDomain(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		benchBase.RegistrableDomain()
	}
}
