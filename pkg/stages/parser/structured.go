package parser

import (
	"golang.org/x/text/encoding"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/structured"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// addStructured collects what a document in UTF-8 says to programs.
func (p *pass) addStructured(doc []byte, page weburl.URL, enc encoding.Encoding) {
	d := structured.Read(doc, newResolver(page, p.base, enc).shown)
	facts := d.Facts(page.Path())
	r := p.out
	r.Structured, r.Author, r.Published, r.Modified = d.JSON(), facts.Author, facts.Published, facts.Modified
	if d.Cut {
		r.cut(CutStructured)
	}
}
