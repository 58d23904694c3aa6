package parser

import (
	"golang.org/x/text/encoding"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/markdown"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxMarkup bounds the markup of which Markdown is made, in bytes: four times as much as a long page has.
const maxMarkup = 4 << 20

// addMarkdown makes Markdown of the main text. A page that cannot be converted has its text all the same; CutMarkdown
// says that Markdown is missing, or shorter.
func (p *pass) addMarkdown(page weburl.URL, enc encoding.Encoding) {
	doc, full := p.markup(p.pieces, p.chosen(), maxMarkup)
	res := newResolver(page, p.base, enc)
	text, cut, err := markdown.Convert(doc, markdown.Options{Resolve: res.shown, MaxText: p.opt.MaxText})
	if full || cut || err != nil {
		p.out.cut(CutMarkdown)
	}
	p.out.Markdown = text
}

// chosen says which blocks the main text was made of.
func (p *pass) chosen() []bool {
	keep := mainBlocks(p)
	p.keepTitle(keep)
	return keep
}

// shown makes an absolute URL of a reference in Markdown: of any scheme that can be followed. Scripts and data are left
// out.
func (r *resolver) shown(ref string) string {
	if s := []byte(ref); hasScheme(s, "data:") || hasScheme(s, "javascript:") || hasScheme(s, "vbscript:") ||
		len(ref) > maxURL {
		return ""
	}
	if u, err := r.resolve(ref); err == nil {
		return u.String()
	}
	if hasScheme([]byte(ref), "mailto:") || hasScheme([]byte(ref), "tel:") {
		return ref
	}
	return ""
}
