package parser

import (
	"bytes"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/charsets"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// HTML makes a Result of an HTML or XHTML document. It never fails: whatever the bytes are, a browser would make
// something of them. It does not change body or keep a part of it.
func HTML(body []byte, contentType string, base weburl.URL, opt Options) *Result {
	r := &Result{MediaType: mediaType(contentType)}
	if r.MediaType == "" {
		r.MediaType = "text/html"
	}
	doc, name, enc := charsets.Decode(body, contentType)
	doc = settled(doc)
	r.Charset = name
	p := passes.Get().(*pass)
	defer p.free()
	p.run(doc, r, opt, r.MediaType == "application/xhtml+xml")
	p.resolve(base, enc)
	p.innerLinks(base, enc, 0)
	p.findTitle()
	r.Text = p.mainText()
	if opt.Markdown {
		p.addMarkdown(base, enc)
	}
	p.addFramed()
	if opt.Structured {
		p.addStructured(doc, base, enc)
	}
	if r.Lang == "" && opt.GuessLang {
		r.Lang = guessLang(r.Text)
	}
	return r
}

// passes keeps the buffers of passes that ended, as a crawl makes one a page.
var passes = sync.Pool{New: func() any { return new(pass) }}

// maxPooled is the largest text buffer that waits for the next page: 30 times that of an average page.
const maxPooled = 1 << 20

// pass is one reading of a document.
type pass struct {
	htmlscan.Scanner
	opt   Options
	out   *Result
	xhtml bool

	textState
	stack       []element
	open        [htmlscan.Tags]int32 // elements of the stack, by tag
	links       []linkRef
	over        []linkRef // the first links that are too many
	more        int       // how many are
	assets      [][]byte
	inner       []inner // documents within this one
	framed      framed  // what one of them says
	pieces      []piece // the tokens, where Markdown is asked for
	anchor      int     // index of the open <a> in links, or -1
	anchorTitle []byte
	base        []byte // href of the first base element
	titled      bool
	untitled    untitled
	article     bool // says of itself that it is one
	anchored    int  // headings that link to themselves
	manual      bool // made as documentation, it seems
	veil        veil
	docBook     bool // made by DocBook's style sheets
	thread      bool // what people say to each other, by markup that only such pages have
	rowOff      bool // the table row is hidden
	asked       int  // how many blocks there were when a question ended, 0 if there is none

	formulas    []formula // where Markdown is asked for
	lastFormula string
	mathPlain   int  // up to here formulas are left as they are, so that a hostile page takes no quadratic time
	pictured    bool // the image that begins shows a formula
	texNext     bool // the next text is TeX
	texBlock    bool // of a formula in a line of its own
}

// linkRef is a link whose parts still lie in the document and the text buffer.
type linkRef struct {
	tag       linkTag
	permalink bool // "¶": taken out of the text
	canonical bool
	href, rel []byte // raw
	text      span
	veiled    []byte // raw, where it shows no text: hidden text, an image's alt, its own aria-label or title
}

type span struct{ start, end int32 }

type linkTag uint8

const (
	tagA linkTag = iota
	tagArea
	tagLink
	tagFrame
	tagIframe
	tagMeta
	tagFeedSource
)

var linkTagNames = [...]string{"a", "area", "link", "frame", "iframe", "meta", crawl.TagFeedSource}

func (p *pass) free() {
	if cap(p.buf) > maxPooled || len(p.stack) > maxPooled/8 || cap(p.nodes) > maxPooled/32 {
		return
	}
	clear(p.links[:cap(p.links)]) // they hold on to the document
	clear(p.assets[:cap(p.assets)])
	fresh := pass{stack: p.stack[:0], links: p.links[:0], assets: p.assets[:0]}
	clear(p.inner)
	fresh.inner = p.inner[:0]
	fresh.buf, fresh.blocks, fresh.nodes = p.buf[:0], p.blocks[:0], p.nodes[:0]
	fresh.layout = p.layout[:0]
	fresh.Scanner = p.Scanner
	fresh.Reset(nil)
	*p = fresh
	passes.Put(p)
}

func (p *pass) run(doc []byte, r *Result, opt Options, xhtml bool) {
	p.out, p.opt, p.xhtml, p.anchor = r, opt, xhtml, -1
	p.Reset(doc)
	p.AllowCDATA(xhtml)
	p.nodes = append(p.nodes[:0], node{})
	if opt.Markdown {
		p.pieces = p.runTraced()
		return
	}
	for {
		switch p.Next() {
		case htmlscan.Text:
			p.onText()
		case htmlscan.StartTag:
			p.onStart(p.Tag())
		case htmlscan.EndTag:
			p.onEnd(p.Tag())
		default:
			p.closeAnchor()
			p.endBlock()
			return
		}
	}
}

func (p *pass) onStart(t htmlscan.Tag) {
	p.skipRaw, p.titleNext, p.texNext, p.pictured = false, false, false, false
	if p.flags&inForeign != 0 {
		p.enterForeign(t)
	}
	if p.veil.depth > 0 || traits[t].veil && p.Attrs() > 0 || p.flags&inForeign != 0 {
		p.veilStart(t)
	}
	switch t {
	case htmlscan.A:
		p.onAnchor()
	case htmlscan.Title:
		p.onTitle()
	case htmlscan.Script, htmlscan.Style, htmlscan.Textarea, htmlscan.Iframe, htmlscan.Noframes, htmlscan.Noembed:
		p.onRaw(t)
	case htmlscan.Base, htmlscan.Meta, htmlscan.Link, htmlscan.Area, htmlscan.Frame, htmlscan.HTML:
		p.onHead(t)
	case htmlscan.Img, htmlscan.Source, htmlscan.Video, htmlscan.Audio, htmlscan.Embed, htmlscan.Object,
		htmlscan.Track, htmlscan.Input:
		p.onMedia(t)
	case htmlscan.Br:
		p.breakLine()
	}
	if t == htmlscan.Input && !p.ticks() {
		p.nodes[p.node].control = true
	}
	if traits[t].block {
		p.onBlock(t)
	}
	if traits[t].push {
		p.push(t)
	}
	if t == htmlscan.Math {
		p.onMath()
	}
	if p.xhtml && p.SelfClosing() {
		p.NextIsMarkup()
		p.onEnd(t)
	}
}

// onBlock begins a block of text.
func (p *pass) onBlock(t htmlscan.Tag) {
	p.endBlock()
	p.kind = traits[t].kind
	if !traits[t].push && t != htmlscan.Pre && t != htmlscan.Body && p.Attrs() > 0 { // class="brush: js; toolbar: false"
		h := p.hints(t, p.flags)
		if t == htmlscan.H1 && h&certain == 0 {
			h &^= suspect // class="ad-title": no part of a site that is none of the text begins with such a heading
		}
		p.own = h & (suspect | hidden)
	}
	switch t {
	case htmlscan.Tr:
		p.rowOff = p.own&hidden != 0
	case htmlscan.H1:
		p.onH1()
	}
}

func (p *pass) onEnd(t htmlscan.Tag) {
	p.skipRaw, p.titleNext, p.texNext = false, false, false
	if t == htmlscan.A {
		p.closeAnchor()
	}
	if p.veil.depth > 0 {
		p.veilEnd(t)
	}
	if traits[t].block {
		p.endBlock()
		p.kind = para
	}
	if traits[t].push {
		p.pop(t)
	}
}

// onRaw passes over the text that follows a script and the like, so that it is no text of the page.
func (p *pass) onRaw(t htmlscan.Tag) {
	switch t {
	case htmlscan.Iframe:
		p.addLink(tagIframe, p.attr("src"), nil)
		if doc := p.attr("srcdoc"); len(doc) > 0 {
			shown := (p.flags|p.hints(t, p.flags))&(hidden|boilerplate|certain) == 0
			p.inner = append(p.inner, inner{doc, shown})
		}
	case htmlscan.Script:
		p.addAsset(p.attr("src"))
		if bytes.HasPrefix(p.attr("type"), []byte("math/tex")) {
			p.texNext = true // MathJax shows it
			p.texBlock = bytes.Contains(p.attr("type"), []byte("display"))
			return
		}
	}
	if p.flags&inForeign == 0 && (!p.xhtml || !p.SelfClosing()) {
		p.skipRaw = true
	}
}

func (p *pass) onTitle() {
	if p.flags&inForeign != 0 || p.xhtml && p.SelfClosing() {
		return
	}
	p.titleNext = !p.titled && p.open[htmlscan.Template] == 0
	p.skipRaw = !p.titleNext
}

// attr returns the raw value of the start tag's attribute, nil where it has none.
func (p *pass) attr(name string) []byte {
	for i := range p.Attrs() {
		if n, val := p.Attr(i); string(n) == name {
			return val
		}
	}
	return nil
}
