package parser

import (
	"strings"

	"golang.org/x/text/encoding"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxInner is how deep documents are read that are in the srcdoc attributes of frames.
const maxInner = 3

// innerLinks adds the links and assets of the documents in srcdoc attributes. Without a base of their own they have
// that of the document around them (HTML Standard, 2.4.1). Their text is not part of the page's text.
func (p *pass) innerLinks(page weburl.URL, enc encoding.Encoding, depth int) {
	if len(p.inner) == 0 {
		return
	}
	outer := newResolver(page, p.base, enc)
	if outer.foreign || depth == maxInner {
		return
	}
	for _, raw := range p.inner {
		p.innerDocument(htmlscan.Value(raw), outer.base, enc, depth)
	}
}

func (p *pass) innerDocument(doc []byte, base weburl.URL, enc encoding.Encoding, depth int) {
	opt := p.opt
	opt.Markdown = false
	if opt.MaxLinks > 0 {
		opt.MaxLinks = max(1, opt.MaxLinks-len(p.out.Links))
	}
	if opt.MaxAssets > 0 {
		opt.MaxAssets = max(1, opt.MaxAssets-len(p.out.Assets))
	}
	q, r := passes.Get().(*pass), &Result{}
	defer q.free()
	q.run(doc, r, opt, false)
	q.resolve(base, enc)
	q.innerLinks(base, enc, depth+1)
	for _, what := range r.Cut {
		if what == CutLinks || what == CutAssets {
			p.out.cut(what)
		}
	}
	if r.NoFollow {
		r.sayNoFollow()
	}
	for i := range r.Links {
		p.out.addLink(&r.Links[i], p.opt.MaxLinks)
	}
	for i := range r.Over {
		p.out.tooMany(&r.Over[i])
	}
	p.out.More += r.More - len(r.Over)
	p.out.Assets = append(p.out.Assets, r.Assets...)
}

// sayNoFollow marks the links of a document that says that none is to be followed.
func (r *Result) sayNoFollow() {
	for _, links := range [][]crawl.Link{r.Links, r.Over} {
		for i := range links {
			if l := &links[i]; !l.NoFollow() {
				l.Rel = strings.TrimLeft(l.Rel+" nofollow", " ")
			}
		}
	}
}
