package parser

import (
	"bytes"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/sitemap"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Feed makes a Result of a sitemap, a sitemap index or a feed: links only. Of a broken document, or one of another
// kind, it returns the links before the fault.
func Feed(body []byte, contentType string, base weburl.URL, opt Options) *Result {
	r := &Result{MediaType: mediaType(contentType)}
	limits := sitemap.DefaultLimits()
	if opt.MaxURL > 0 {
		limits.MaxURL = opt.MaxURL
	}
	kind, stats, _ := sitemap.Parse(bytes.NewReader(body), limits, func(l sitemap.Link) error {
		r.Links = append(r.Links, feedLink(l, base, opt.Dates))
		return nil // nothing to fail
	})
	for i := range r.Links {
		r.Links[i].Tag = feedTag(kind)
	}
	if stats.Truncated || stats.Skipped > 0 {
		r.cut(CutLinks)
	}
	return r
}

func feedLink(l sitemap.Link, base weburl.URL, dates bool) crawl.Link {
	if l.Base != "" {
		if b, err := base.Resolve(l.Base); err == nil {
			base = b
		}
	}
	u, err := base.Resolve(l.URL)
	if err != nil {
		return crawl.Link{Raw: string(cutAt([]byte(l.URL), maxRaw))}
	}
	link := crawl.Link{URL: u}
	if dates && !l.LastMod.IsZero() {
		link.Told = l.LastMod.UTC().Truncate(time.Second)
	}
	return link
}

func feedTag(k sitemap.Kind) string {
	switch k {
	case sitemap.Index:
		return crawl.TagSitemapIndex
	case sitemap.URLSet, sitemap.Text:
		return crawl.TagSitemap
	}
	return crawl.TagFeed
}

// isPacked reports whether a body is gzip: what is no page but may be a sitemap.
func isPacked(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

// isFeed reports whether a body is a sitemap or a feed by its type and, where the type only says XML, by its beginning.
func isFeed(mt string, body []byte) bool {
	switch mt {
	case "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json":
		return true
	case "text/html":
		return maybeFeed(body) && sitemap.SniffFeed(body[:min(len(body), 1024)])
	case "text/xml", "application/xml":
		return sitemap.SniffFeed(body[:min(len(body), 1024)])
	}
	return strings.HasSuffix(mt, "+xml") && mt != "application/xhtml+xml" && sitemap.SniffFeed(body[:min(len(body), 1024)])
}

// maybeFeed reports whether a body that is served as HTML begins like a feed (MIME Sniffing Standard, 7.3): nearly all
// are pages, and are not looked at twice.
func maybeFeed(body []byte) bool {
	body = bytes.TrimLeft(body[:min(len(body), 64)], "\xEF\xBB\xBF \t\r\n")
	for _, begin := range [...]string{"<?xml", "<rss", "<feed", "<rdf:RDF", "<urlset", "<sitemapindex"} {
		if bytes.HasPrefix(body, []byte(begin)) {
			return true
		}
	}
	name, _, _ := bytes.Cut(body, []byte(" "))
	return bytes.HasPrefix(name, []byte("<")) && bytes.IndexByte(name, ':') > 0 // a root element with a prefix
}
