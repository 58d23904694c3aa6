// Package refs finds the URLs that HTML documents and style sheets refer to, and writes others in their places.
//
// [HTML] and [CSS] pass every reference, decoded, to a function, in the order of the document. Where it returns another
// text, that is written in the place of the reference, escaped as the place wants it: an attribute with or without
// quotes, a srcset, a style attribute within that, a style element, a CSS string or a bare url(). All other bytes stay
// as they are. So what a crawl fetches of a page is what a copy of the page is made to show.
//
// Scripts do not run: what they would load is not found.
package refs

// Kind says what a reference is for.
type Kind uint8

// The kinds.
const (
	Link  Kind = iota // leads to another page, or is not shown: a, area, iframe, form, ping, rel=prefetch …
	Asset             // shown or run as part of the page: an image, a script, a font …
	Style             // a style sheet, whose own references count
	Base              // the base URL of the references of the document
)

// Ref is a reference as it is in a document, decoded.
type Ref struct {
	URL  string
	Kind Kind
}

// Each is called for every reference. It returns what is to be in its place; the same text changes nothing.
type Each func(Ref) string

// output is the document as far as it was changed; nothing is copied before the first change.
type output struct {
	src  []byte
	out  []byte
	done int // bytes of src that are in out
}

// replace puts text in the place of src[start:end], which lies behind all that was replaced before.
func (o *output) replace(start, end int, text []byte) {
	if o.out == nil {
		o.out = make([]byte, 0, len(o.src)+len(o.src)/8)
	}
	o.out = append(append(o.out, o.src[o.done:start]...), text...)
	o.done = end
}

// bytes returns the document.
func (o *output) bytes() []byte {
	if o.out == nil {
		return o.src
	}
	return append(o.out, o.src[o.done:]...)
}
