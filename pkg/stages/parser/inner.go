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

// A page whose own text has fewer octets than shellText is there for the frame that says more, at least framedText.
const (
	shellText  = 200
	framedText = 100
)

// inner is a document in a srcdoc attribute, raw.
type inner struct {
	doc   []byte
	shown bool // its frame is: not hidden, and no advertisement
}

// framed is the main text of the document in a srcdoc attribute that has most of it.
type framed struct{ text, markdown string }

// addFramed adds the text of a frame to that of a page that has hardly any itself: one that shows a message, a notebook
// or a preview, kept apart from its own scripts. Else a frame says what is beside the page's matter.
func (p *pass) addFramed() {
	if len(p.out.Text) >= shellText || len(p.framed.text) < max(framedText, len(p.out.Text)) {
		return
	}
	p.out.Text = p.boundText(strings.TrimLeft(p.out.Text+"\n"+p.framed.text, "\n"))
	p.out.Markdown = strings.TrimLeft(p.out.Markdown+"\n\n"+p.framed.markdown, "\n")
}

// innerLinks adds the links and assets of the documents in srcdoc attributes, and keeps the longest text. Without a
// base of their own they have that of the document around them (HTML Standard, 2.4.1).
func (p *pass) innerLinks(page weburl.URL, enc encoding.Encoding, depth int) {
	if len(p.inner) == 0 {
		return
	}
	outer := newResolver(page, p.base, enc)
	if outer.foreign || depth == maxInner {
		return
	}
	for _, in := range p.inner {
		text := p.innerDocument(htmlscan.Value(in.doc), outer.base, enc, depth)
		if in.shown && len(text.text) > len(p.framed.text) {
			p.framed = text
		}
	}
}

func (p *pass) innerDocument(doc []byte, base weburl.URL, enc encoding.Encoding, depth int) framed {
	opt := p.opt
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
	q.findTitle()
	r.Text = q.mainText()
	if opt.Markdown {
		q.addMarkdown(base, enc)
	}
	q.addFramed()
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
	return framed{r.Text, r.Markdown}
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
