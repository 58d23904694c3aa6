package refs

import (
	"bytes"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// refer passes on the URL that the value of an attribute is.
func (h *htmlScan) refer(i int, raw []byte, kind Kind) {
	if len(raw) == 0 {
		return
	}
	old := string(htmlscan.Value(raw))
	if text := h.each(Ref{URL: old, Kind: kind}); text != old {
		h.set(i, text)
	}
}

// set writes the value of an attribute.
func (h *htmlScan) set(i int, text string) {
	start, end, quote := h.ValueSpan(i)
	h.replace(start, end, quotedFor(quote, text))
}

// quotedFor escapes a text for an attribute in these quotes, and puts it into quotes where there were none.
func quotedFor(quote byte, text string) []byte {
	out := make([]byte, 0, len(text)+8)
	if quote == 0 {
		out = append(out, '"')
	}
	for i := range len(text) {
		switch c := text[i]; c {
		case '&':
			out = append(out, "&amp;"...)
		case '"':
			out = append(out, "&quot;"...)
		case '\'':
			out = append(out, "&#39;"...)
		case '<':
			out = append(out, "&lt;"...)
		case '>':
			out = append(out, "&gt;"...)
		default:
			out = append(out, c)
		}
	}
	if quote == 0 {
		out = append(out, '"')
	}
	return out
}

// Later says whether the value of an attribute such as data-src, of an element with that tag, is what a script will
// show when the reader comes to it: that of an image or a film, and no template of a URL.
func Later(tag htmlscan.Tag, raw []byte) bool {
	switch tag {
	case htmlscan.Img, htmlscan.Source, htmlscan.Video:
		return !bytes.ContainsAny(raw, "{}<>[]")
	}
	return false
}

// styleAttr reads a style attribute.
func (h *htmlScan) styleAttr(i int, raw []byte) {
	if bytes.IndexByte(raw, '(') < 0 { // no url()
		return
	}
	old := htmlscan.Value(raw)
	if css := CSS(old, h.each); !bytes.Equal(css, old) {
		h.set(i, string(css))
	}
}

// inner reads the document within a srcdoc attribute.
func (h *htmlScan) inner(el *element, i int, raw []byte) {
	if el.tag != htmlscan.Iframe || h.opt.depth >= maxDepth {
		return
	}
	opt := h.opt
	opt.depth++
	old := htmlscan.Value(raw)
	if doc := HTML(old, opt, h.each); !bytes.Equal(doc, old) {
		h.set(i, string(doc))
	}
}

// ping reads the URLs, parted by spaces, that are told when a link is followed.
func (h *htmlScan) ping(el *element, i int, raw []byte) {
	if el.tag != htmlscan.A && el.tag != htmlscan.Area {
		return
	}
	old := string(htmlscan.Value(raw))
	o := output{src: []byte(old)}
	for at := 0; at < len(old); {
		start := at
		for at < len(old) && !isSpace(old[at]) {
			at++
		}
		if url := old[start:at]; url != "" {
			if text := h.each(Ref{URL: url, Kind: Link}); text != url {
				o.replace(start, at, []byte(strings.ReplaceAll(text, " ", "%20")))
			}
		}
		at++
	}
	if out := o.bytes(); string(out) != old {
		h.set(i, string(out))
	}
}

// srcset reads candidates parted by commas, a URL and a descriptor each; a comma within a URL is part of it, at its end
// it is not (HTML Standard, 4.8.4.2.2).
func (h *htmlScan) srcset(i int, raw []byte) {
	old := string(htmlscan.Value(raw))
	o := output{src: []byte(old)}
	for at := 0; at < len(old); {
		for at < len(old) && (isSpace(old[at]) || old[at] == ',') {
			at++
		}
		start := at
		for at < len(old) && !isSpace(old[at]) {
			at++
		}
		url := strings.TrimRight(old[start:at], ",")
		if url == "" {
			continue
		}
		if text := h.each(Ref{URL: url, Kind: Asset}); text != url {
			o.replace(start, start+len(url), candidate(text))
		}
		if len(url) < at-start {
			continue // the comma at its end parts it from the next
		}
		for depth := 0; at < len(old) && (old[at] != ',' || depth > 0); at++ {
			switch old[at] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
	}
	if out := o.bytes(); string(out) != old {
		h.set(i, string(out))
	}
}

// candidate writes a URL into a srcset, where a space or a comma at an end would part it.
func candidate(url string) []byte {
	url = strings.ReplaceAll(url, " ", "%20")
	if strings.HasPrefix(url, ",") || strings.HasSuffix(url, ",") {
		url = strings.ReplaceAll(url, ",", "%2C")
	}
	return []byte(url)
}

// meta reads the URL of a meta element that refreshes the page.
func (h *htmlScan) meta(el *element, i int, raw []byte) {
	if el.tag != htmlscan.Meta || el.equiv != "refresh" {
		return
	}
	old := string(htmlscan.Value(raw))
	start, end := refreshURL(old)
	if start >= end {
		return
	}
	if text := h.each(Ref{URL: old[start:end], Kind: Link}); text != old[start:end] {
		h.set(i, old[:start]+text+old[end:])
	}
}

// refreshURL finds the URL in "5; url=x" (HTML Standard, shared declarative refresh steps).
func refreshURL(s string) (start, end int) {
	at := strings.IndexAny(s, ";,")
	if at < 0 {
		return 0, 0
	}
	skip := func(chars string) {
		for at < len(s) && strings.IndexByte(chars, s[at]) >= 0 {
			at++
		}
	}
	at++
	skip(" \t\n\f\r")
	if len(s)-at > 3 && strings.EqualFold(s[at:at+3], "url") {
		from := at
		at += 3
		if skip(" \t\n\f\r"); at < len(s) && s[at] == '=' {
			at++
			skip(" \t\n\f\r")
		} else {
			at = from
		}
	}
	if at < len(s) && (s[at] == '"' || s[at] == '\'') {
		if n := strings.IndexByte(s[at+1:], s[at]); n >= 0 {
			return at + 1, at + 1 + n
		}
		return at + 1, len(s)
	}
	return at, len(s)
}
