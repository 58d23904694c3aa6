package parser

// untitled has what may stand for the title of a document that has none, or an empty one.
type untitled struct {
	named  []byte // what a meta element calls the document, raw
	shared bool   // the meta element is og:title, which goes before others
	h1     int32  // the first block that an h1 element may have, counted from 1
}

// onMetaTitle notes what a meta element calls the document.
func (p *pass) onMetaTitle(m *metaAttrs) {
	key := first(m.property, m.name)
	switch {
	case equalFold(key, "og:title"):
		if !p.untitled.shared {
			p.untitled.named, p.untitled.shared = m.content, true
		}
	case p.untitled.named != nil:
	case equalFold(key, "twitter:title"), equalFold(key, "citation_title"), equalFold(key, "dc.title"),
		equalFold(key, "dcterms.title"):
		p.untitled.named = m.content
	}
}

// onH1 notes where the heading is that may stand for the title.
func (p *pass) onH1() {
	if p.untitled.h1 == 0 && (p.flags|p.own)&(hidden|boilerplate|inForeign) == 0 {
		p.untitled.h1 = int32(len(p.blocks)) + 1
	}
}

// findTitle gives a document without a title what it calls itself elsewhere: to those who share it, or in its first
// heading.
func (p *pass) findTitle() {
	if p.out.Title != "" {
		return
	}
	if p.setTitle(p.untitled.named); p.out.Title != "" {
		return
	}
	if i := int(p.untitled.h1) - 1; i >= 0 && i < len(p.blocks) && p.blocks[i].kind == heading {
		b := &p.blocks[i]
		p.out.Title = cutAt(string(p.buf[b.start:b.end]), maxTitle)
	}
}
