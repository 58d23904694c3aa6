package crawl

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// SiteParser reads pages of some sites in Go, where site rules (SiteRule) do not suffice. Programs that embed the
// crawler register theirs. It is called by many goroutines at once. A panic costs the page what this parser would have
// found in it, and nothing else.
type SiteParser interface {
	// Match reports whether the parser is for the page of a URL. It is asked for every page.
	Match(u weburl.URL) bool
	// Extract returns fields for the page's record and links that are followed besides those of the page. Values of
	// fields are strings, numbers, bools, times or lists of them. The page goes on without them where err is not nil.
	Extract(p *SitePage) (fields []Field, links []Link, err error)
}

// SitePage is what a SiteParser reads. It must not be changed, nor kept: the body's memory is used for the next page.
type SitePage struct {
	URL         weburl.URL
	Status      int
	FetchedAt   time.Time
	ContentType string // the Content-Type header, or what was sniffed
	Body        []byte // decoded, at most limits.max_body bytes, in the encoding of the page
	Title       string
	Text        string // main text, UTF-8
	Lang        string
	Links       []Link
}
