package refs

import (
	"bytes"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// HTML passes the references of a document in UTF-8 to each, and returns the document with what each wants in their
// places. With Copy, it also takes away what keeps a browser from showing a copy: see Options.
func HTML(src []byte, opt Options, each Each) []byte {
	h := &htmlScan{output: output{src: src}, each: each, opt: opt}
	h.Reset(src)
	h.AllowCDATA(opt.XHTML)
	if opt.XHTML && opt.depth == 0 {
		h.prolog()
	}
	for {
		switch h.Next() {
		case htmlscan.StartTag:
			h.start()
		case htmlscan.Text:
			h.text()
		case htmlscan.EndTag:
			h.style = false
			h.leave(h.Tag())
		default:
			return h.bytes()
		}
	}
}

// Options say how a document is read.
type Options struct {
	XHTML bool // XML: XHTML, or SVG
	// Copy takes away what binds a document to the server that it came from: checksums of its requisites (integrity),
	// the wish to fetch them as another origin's (crossorigin), and the policies in meta elements of what may be loaded.
	Copy  bool
	depth int // of documents within documents
}

// maxDepth bounds documents within srcdoc attributes of documents.
const maxDepth = 3

type htmlScan struct {
	htmlscan.Scanner
	output
	each    Each
	opt     Options
	style   bool // the text that follows is a style sheet
	foreign int  // open svg elements
	math    int  // open math elements
	based   bool // a base element came
}

func (h *htmlScan) text() {
	if !h.style {
		return
	}
	h.style = false
	start, end := h.TextSpan()
	raw := h.src[start:end]
	if css := CSS(raw, h.each); !bytes.Equal(css, raw) {
		h.replace(start, end, css)
	}
}

// enter notes that an element of SVG or MathML begins, leave that it ends.
func (h *htmlScan) enter(tag htmlscan.Tag) {
	switch tag {
	case htmlscan.Svg:
		h.foreign++
	case htmlscan.Math:
		h.math++
	}
}

func (h *htmlScan) leave(tag htmlscan.Tag) {
	switch {
	case tag == htmlscan.Svg && h.foreign > 0:
		h.foreign--
	case tag == htmlscan.Math && h.math > 0:
		h.math--
	}
}

// start reads the attributes of a start tag.
func (h *htmlScan) start() {
	tag := h.Tag()
	h.style = tag == htmlscan.Style && (h.foreign > 0 || !h.opt.XHTML || !h.SelfClosing())
	if !h.SelfClosing() {
		h.enter(tag)
	}
	if h.SelfClosing() && (h.opt.XHTML || h.foreign > 0) {
		h.NextIsMarkup()
	}
	if at, _ := h.TagSpan(); h.Attrs() == 0 || at < h.done { // within an instruction, for HTML a tag
		return
	}
	el := h.element(tag)
	for i := range h.Attrs() {
		name, val := h.Attr(i)
		h.attr(&el, i, string(name), val)
	}
}

// element is what decides about the attributes of a start tag.
type element struct {
	tag   htmlscan.Tag
	svg   bool   // one of SVG's that show another file
	math  bool   // one of MathML's, each of which may be a link
	cites bool   // one of those that say whence they come
	rel   Kind   // of a link element
	equiv string // of a meta element
	image bool   // an input element that is an image
}

func (h *htmlScan) element(tag htmlscan.Tag) element {
	el := element{tag: tag}
	switch tag {
	case htmlscan.Link:
		el.rel = relKind(h.value("rel"), h.value("as"))
	case htmlscan.Meta:
		el.equiv = strings.ToLower(strings.TrimSpace(h.value("http-equiv")))
	case htmlscan.Input:
		el.image = strings.EqualFold(h.value("type"), "image")
	case htmlscan.Blockquote, htmlscan.Q:
		el.cites = true
	case htmlscan.Math:
		el.math = true
	case htmlscan.Other:
		switch strings.ToLower(string(h.Name())) {
		case "image", "use", "feimage":
			el.svg = h.foreign > 0
		case "del", "ins":
			el.cites = true
		}
		el.math = h.math > 0 && !el.svg
	}
	return el
}

// value is the decoded value of an attribute.
func (h *htmlScan) value(name string) string {
	for i := range h.Attrs() {
		if n, val := h.Attr(i); string(n) == name {
			return string(htmlscan.Value(val))
		}
	}
	return ""
}

// relKind says what a link element's rel makes of its href: a style sheet if any of its words does, else an asset if
// any does.
func relKind(rel, as string) Kind {
	kind := Link
	for r := range strings.FieldsSeq(strings.ToLower(rel)) {
		switch r {
		case "stylesheet":
			return Style
		case "icon", "mask-icon", "manifest", "modulepreload", "apple-touch-icon", "apple-touch-icon-precomposed",
			"apple-touch-startup-image":
			kind = max(kind, Asset)
		case "preload":
			kind = max(kind, preloadKind(strings.ToLower(as)))
		}
	}
	return kind
}

// preloadKind says what is loaded in advance.
func preloadKind(as string) Kind {
	switch as {
	case "style":
		return Style
	case "document", "fetch", "":
		return Link
	}
	return Asset
}

// attr handles one attribute.
func (h *htmlScan) attr(el *element, i int, name string, val []byte) {
	switch name {
	case "style":
		h.styleAttr(i, val)
	case "srcset", "imagesrcset":
		h.srcset(i, val)
	case "data-srcset", "data-lazy-srcset":
		if Later(el.tag, val) {
			h.srcset(i, val)
		}
	case "data-src", "data-original", "data-lazy-src":
		if Later(el.tag, val) {
			h.refer(i, val, Asset)
		}
	case "ping":
		h.ping(el, i, val)
	case "srcdoc":
		h.inner(el, i, val)
	case "content":
		h.meta(el, i, val)
	case "integrity", "crossorigin":
		if start, end := h.NameSpan(i); h.opt.Copy {
			h.replace(start, end, append([]byte("data-was-"), h.src[start:end]...))
		}
	case "http-equiv":
		if start, end, quote := h.ValueSpan(i); h.opt.Copy && strings.HasPrefix(el.equiv, "content-security-policy") {
			h.replace(start, end, quotedFor(quote, "x-was-"+el.equiv))
		}
	default:
		if kind, ok := h.kindOf(el, name); ok {
			h.refer(i, val, kind)
		}
	}
}

// kindOf says what the value of an attribute refers to; ok is false where it is no URL.
func (h *htmlScan) kindOf(el *element, name string) (kind Kind, ok bool) {
	switch name {
	case "href":
		switch el.tag {
		case htmlscan.A, htmlscan.Area:
			return Link, true
		case htmlscan.Link:
			return el.rel, true
		case htmlscan.Base:
			first := !h.based
			h.based = true
			return Base, first
		}
		return foreignKind(el)
	case "xlink:href":
		if el.tag == htmlscan.A {
			return Link, h.foreign > 0
		}
		return foreignKind(el)
	case "cite":
		return Link, el.cites
	case "src":
		return srcKind(el)
	case "poster":
		return Asset, el.tag == htmlscan.Video
	case "data":
		return Asset, el.tag == htmlscan.Object
	case "background":
		return Asset, el.tag == htmlscan.Body || el.tag == htmlscan.Table || el.tag == htmlscan.Td || el.tag == htmlscan.Th ||
			el.tag == htmlscan.Tr
	case "action":
		return Link, el.tag == htmlscan.Form
	case "formaction":
		return Link, el.tag == htmlscan.Button || el.tag == htmlscan.Input
	}
	return Link, false
}

// foreignKind says what the href of an element of SVG or MathML refers to.
func foreignKind(el *element) (kind Kind, ok bool) {
	if el.math {
		return Link, true
	}
	return Asset, el.svg
}

func srcKind(el *element) (kind Kind, ok bool) {
	switch el.tag {
	case htmlscan.Img, htmlscan.Script, htmlscan.Source, htmlscan.Video, htmlscan.Audio, htmlscan.Track, htmlscan.Embed:
		return Asset, true
	case htmlscan.Input:
		return Asset, el.image
	case htmlscan.Iframe, htmlscan.Frame:
		return Link, true
	}
	return Link, false
}
