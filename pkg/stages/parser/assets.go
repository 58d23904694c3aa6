package parser

import (
	"strings"

	"golang.org/x/text/encoding"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/charsets"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/refs"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// requisites returns the links to what a page is made of: another pass over it, which only jobs pay for that fetch
// assets.
func requisites(body []byte, contentType string, page weburl.URL, limit int) (links crawl.LinkList, cut bool) {
	doc, _, enc := charsets.Decode(body, contentType)
	c := newCollector(page, enc, limit)
	refs.HTML(doc, refs.Options{XHTML: mediaType(contentType) == "application/xhtml+xml"}, c.each)
	return c.links()
}

// styleRequisites returns those of a style sheet, which are resolved against its own URL.
func styleRequisites(body []byte, contentType string, sheet weburl.URL, limit int) (links crawl.LinkList, cut bool) {
	doc, _, enc := charsets.Decode(body, contentType)
	c := newCollector(sheet, enc, limit)
	refs.CSS(doc, c.each)
	return c.links()
}

// collector keeps the requisites of a document until its base is known, each once.
type collector struct {
	page  weburl.URL
	enc   encoding.Encoding
	base  []byte
	raw   []string
	seen  map[string]bool
	limit int
	cut   bool
}

func newCollector(page weburl.URL, enc encoding.Encoding, limit int) *collector {
	return &collector{page: page, enc: enc, seen: map[string]bool{}, limit: limit}
}

func (c *collector) each(r refs.Ref) string {
	ref := strings.TrimSpace(r.URL)
	switch {
	case r.Kind == refs.Base:
		c.base = []byte(r.URL)
	case r.Kind == refs.Link, ref == "", ref[0] == '#', hasScheme([]byte(ref), "data:"), c.seen[ref]:
	case len(c.raw) >= c.limit, len(ref) > maxURL:
		c.cut = true
	default:
		c.seen[ref] = true
		c.raw = append(c.raw, ref)
	}
	return r.URL
}

func (c *collector) links() (links crawl.LinkList, cut bool) {
	res := newResolver(c.page, c.base, c.enc)
	for _, ref := range c.raw {
		if u, err := res.resolve(ref); err == nil && !u.IsZero() {
			links = append(links, crawl.Link{URL: u, Tag: crawl.TagAsset})
		}
	}
	return links, c.cut
}

// addRequisites adds the requisites of a page to its document.
func addRequisites(d *crawl.Document, body []byte, limit int) {
	var cut bool
	if d.Requisites, cut = requisites(body, d.Page.ContentType, d.Page.Task.URL, limit); cut {
		r := Result{Cut: d.Cut}
		r.cut(CutAssets)
		d.Cut = r.Cut
	}
}

// styleSheet makes the document of an asset that has assets itself. It has no record, so nothing else is asked of it.
func styleSheet(p *crawl.Page, body []byte, opt Options) *crawl.Document {
	d := &crawl.Document{Page: *p, ContentType: mediaType(p.ContentType)}
	d.Requisites, _ = styleRequisites(body, p.ContentType, p.Task.URL, opt.MaxLinks)
	return d
}
