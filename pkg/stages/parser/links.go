package parser

import (
	"bytes"
	"math"
	"strings"

	"golang.org/x/text/encoding"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/charsets"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxLinkText bounds a link's text, in bytes.
const maxLinkText = 200

// maxRaw bounds Link.Raw, in bytes: what is no http(s) link is only noted.
const maxRaw = 200

func (p *pass) onAnchor() {
	p.closeAnchor()
	href, rel, xlink := p.linkAttrs("xlink:href")
	if href == nil && p.flags&inForeign != 0 {
		href = xlink
	}
	leads := rel != nil && turnsPage(rel)
	if href != nil && p.addLink(tagA, href, rel) {
		p.anchor, p.inLink = len(p.links)-1, true
		p.anchorTitle = nil
		if p.Attrs() > 1 { // most links have no attribute but href
			p.links[p.anchor].veiled, p.anchorTitle = p.attr("aria-label"), p.attr("title")
			leads = leads || bytes.HasPrefix(p.attr("class"), []byte("nav-")) // Bootstrap's, Node's manual's
		}
	}
	if leads && p.cur.leads < math.MaxUint8 {
		p.cur.leads++
	}
	if p.kind == heading && len(href) > 1 && href[0] == '#' {
		p.anchored++
		p.manual = p.manual || p.anchored >= anchoredHeadings
	}
}

// turnsPage reports whether a link leads to the page before or behind this one in a sequence, or to the one above.
func turnsPage(rel []byte) bool {
	for word := range bytes.FieldsSeq(rel) {
		switch string(bytes.ToLower(word)) {
		case "next", "prev", "previous", "up":
			return true
		}
	}
	return false
}

// navigates reports whether a block is links by which one gets about, and a word or two beside each, as in "Next:
// Files, Up: Programming [Index]" on pages of Texinfo.
func (b *block) navigates() bool {
	return b.leads > 0 && b.kind != heading && b.words-b.linkWords <= 2*int32(b.leads)+2
}

// anchoredHeadings is how many headings that link to themselves make a page documentation.
const anchoredHeadings = 2

// linkAttrs returns the raw values of the start tag's href, rel and a third attribute; nil where it has none.
func (p *pass) linkAttrs(third string) (href, rel, other []byte) {
	for i := range p.Attrs() {
		switch name, val := p.Attr(i); string(name) {
		case "href":
			href = first(href, val)
		case "rel":
			rel = first(rel, val)
		case third:
			other = first(other, val)
		}
	}
	return href, rel, other
}

// first keeps the first of attributes with the same name.
func first(old, val []byte) []byte {
	if old != nil {
		return old
	}
	return val
}

// closeAnchor ends the text of the open link. Links that show nothing but a sign, as beside headings, are no words of
// the text.
func (p *pass) closeAnchor() {
	if p.anchor < 0 {
		return
	}
	l := &p.links[p.anchor]
	l.text.end = int32(len(p.buf))
	p.anchor, p.inLink = -1, false
	if len(bytes.TrimSpace(l.veiled)) == 0 {
		l.veiled = p.anchorTitle
	}
	if text := p.buf[l.text.start:]; l.text.start >= p.cur.start && len(text) <= len(" \u00B6") && isPermalink(text) {
		l.permalink, p.manual = true, true
		p.buf = p.buf[:l.text.start]
		if text[0] <= ' ' || l.text.start == p.cur.start {
			p.cur.linkWords--
			p.cur.words--
		}
	}
}

func isPermalink(text []byte) bool {
	switch string(bytes.TrimSpace(text)) {
	case "\u00B6", "\u00A7", "#":
		return true
	}
	return false
}

// addLink notes a link; false where it is missing or there are too many.
func (p *pass) addLink(tag linkTag, href, rel []byte) bool {
	switch {
	case href == nil:
		return false
	case p.opt.MaxURL > 0 && len(href) > p.opt.MaxURL:
		if !hasScheme(href, "data:") {
			p.out.cut(CutLinks)
		}
		return false
	case p.opt.MaxLinks > 0 && len(p.links) >= p.opt.MaxLinks:
		if !hasScheme(href, "data:") {
			p.tooMany(tag, href, rel)
		}
		return false
	}
	at := int32(len(p.buf))
	p.links = append(p.links, linkRef{tag: tag, href: href, rel: rel, text: span{at, at}})
	return true
}

// tooMany notes a link beyond those that are taken. The first of them are told later.
func (p *pass) tooMany(tag linkTag, href, rel []byte) {
	if p.more++; len(p.over) < crawl.MaxBeyond {
		p.over = append(p.over, linkRef{tag: tag, href: href, rel: rel})
	}
}

// onLinkElement sorts a link element: a resource of the page, the canonical URL, a feed, or a link like others.
func (p *pass) onLinkElement() {
	href, rel, media := p.linkAttrs("type")
	switch {
	case href == nil:
	case isResource(string(htmlscan.Value(rel))), len(media) > 0 && isData(string(htmlscan.Value(media)), string(href)):
		p.addAsset(href)
	case isFeedSource(rel, media):
		p.addLink(tagFeedSource, href, rel)
	case p.addLink(tagLink, href, rel):
		p.links[len(p.links)-1].canonical = hasWord(rel, "canonical")
	}
}

// isResource reports whether a link element's rel names something that the page is made of or that programs use, not a
// page to read; or, as a shortlink does, the page itself.
func isResource(rel string) bool {
	for r := range strings.FieldsSeq(rel) {
		switch strings.ToLower(r) {
		case "stylesheet", "icon", "preload", "prefetch", "dns-prefetch", "preconnect", "modulepreload", "manifest",
			"mask-icon", "apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image", "pingback", "search",
			"shortlink", "edituri", "wlwmanifest", "https://api.w.org/", "webmention", "micropub", "microsub", "hub",
			"authorization_endpoint", "token_endpoint", "indieauth-metadata", "openid.server", "openid2.provider":
			return true
		}
	}
	return false
}

// isData reports whether a link of that type is what programs ask for in the place of the page: WordPress names four
// URLs of it on each page, which would be fetched as so many pages. Other JSON may be a feed.
func isData(media, href string) bool {
	switch media = mediaType(media); media {
	case "application/json":
		return strings.Contains(href, "/wp-json/") || strings.Contains(href, "rest_route=")
	case "application/json+oembed", "text/xml+oembed", "application/rsd+xml", "application/wlwmanifest+xml",
		"application/opensearchdescription+xml", "application/activity+json", "application/x-wiki", "text/vcard":
		return true
	}
	return false
}

// isFeedSource reports whether a link element names a feed of the page (HTML Standard, 4.6.7.1): what else is alternate
// is a page in another form or language.
func isFeedSource(rel, media []byte) bool {
	if len(media) == 0 || !hasWord(rel, "alternate") {
		return false
	}
	switch mediaType(string(htmlscan.Value(media))) {
	case "application/rss+xml", "application/atom+xml", "application/feed+json":
		return true
	}
	return false
}

// resolver makes URLs of references, in the order of the document.
type resolver struct {
	page, base weburl.URL
	foreign    bool // the base is no http(s) URL: only absolute references lead anywhere
	enc        encoding.Encoding
}

// newResolver finds the document's base (HTML Standard, 4.2.3): the first base element with href, wherever it stands.
func newResolver(page weburl.URL, href []byte, enc encoding.Encoding) *resolver {
	r := &resolver{page: page, base: page, enc: enc}
	if href == nil {
		return r
	}
	ref := strings.TrimSpace(string(htmlscan.Value(href)))
	if u, err := page.Resolve(ref); err == nil {
		r.base = u
	} else if s := []byte(ref); !hasScheme(s, "data:") && !hasScheme(s, "javascript:") {
		_, perr := weburl.ParseAny(ref, page.String())
		r.foreign = perr == nil // what cannot be parsed is passed over
	}
	return r
}

func (r *resolver) resolve(ref string) (weburl.URL, error) {
	ref = charsets.EncodeQuery(ref, r.enc)
	if r.foreign {
		return weburl.Parse(ref)
	}
	return r.base.Resolve(ref)
}

// resolve turns the links of the pass into those of the result.
func (p *pass) resolve(page weburl.URL, enc encoding.Encoding) {
	res := newResolver(page, p.base, enc)
	hrefs, texts := p.linkStrings()
	if len(p.links) > 0 {
		p.out.Links = make([]crawl.Link, 0, len(p.links))
	}
	for i := range p.links {
		l, href := &p.links[i], hrefs.next()
		link := crawl.Link{Tag: linkTagNames[l.tag], Rel: relString(l.rel), Text: texts.next()}
		u, err := res.resolve(href)
		if err != nil {
			link.Raw = string(cutAt([]byte(strings.TrimSpace(href)), maxRaw))
		}
		if link.URL = u; u.IsZero() && link.Raw == "" {
			continue // empty, where the base leads nowhere
		}
		p.out.Links = append(p.out.Links, link)
		if l.canonical && p.out.Canonical == "" {
			p.out.Canonical = u.String()
		}
	}
	for i := range p.over {
		l := &p.over[i]
		link := crawl.Link{Tag: linkTagNames[l.tag], Rel: relString(l.rel)}
		link.URL, _ = res.resolve(string(htmlscan.Value(l.href)))
		p.out.tooMany(&link)
	}
	p.out.More += p.more - len(p.over)
	for _, raw := range p.assets {
		if u, err := res.resolve(string(htmlscan.Value(raw))); err == nil {
			p.out.Assets = append(p.out.Assets, u.String())
		}
	}
}

// pieces is a string with marks where its parts end, so that many small strings take one allocation.
type pieces struct {
	text string
	ends []int32
	at   int32
}

func (p *pieces) next() string {
	s := p.text[p.at:p.ends[0]]
	p.at, p.ends = p.ends[0], p.ends[1:]
	return s
}

// linkStrings returns the references and the texts of the links.
func (p *pass) linkStrings() (hrefs, texts pieces) {
	n := len(p.links)
	ends := make([]int32, 0, 2*n)
	scratch := make([]byte, 0, 64*n)
	for i := range p.links {
		scratch = htmlscan.AppendValue(scratch, p.links[i].href)
		ends = append(ends, int32(len(scratch)))
	}
	hrefs = pieces{text: string(scratch), ends: ends[:n:n]}
	scratch = scratch[:0]
	for i := range p.links {
		scratch = p.appendLinkText(scratch, &p.links[i])
		ends = append(ends, int32(len(scratch)))
	}
	return hrefs, pieces{text: string(scratch), ends: ends[n:]}
}

func (p *pass) appendLinkText(dst []byte, l *linkRef) []byte {
	if l.permalink {
		return append(dst, "\u00B6"...)
	}
	start := len(dst)
	dst = append(dst, cutAt(bytes.Trim(p.buf[l.text.start:l.text.end], " \n\t"), maxLinkText)...)
	if len(dst) == start && len(l.veiled) > 0 {
		var t textState
		t.write(l.veiled[:min(len(l.veiled), 8*maxLinkText)], true)
		dst = append(dst, cutAt(t.buf, maxLinkText)...)
	}
	for i := start; i < len(dst); i++ {
		if dst[i] == '\n' {
			dst[i] = ' ' // the link spans blocks
		}
	}
	return dst
}

// relString folds the white space of a rel attribute. The common values cost no allocation.
func relString(raw []byte) string {
	switch string(raw) {
	case "":
		return ""
	case "nofollow":
		return "nofollow"
	case "noopener":
		return "noopener"
	case "noopener noreferrer":
		return "noopener noreferrer"
	case "canonical":
		return "canonical"
	case "next":
		return "next"
	}
	return strings.Join(strings.Fields(string(cutAt(htmlscan.Value(raw), maxRaw))), " ")
}
