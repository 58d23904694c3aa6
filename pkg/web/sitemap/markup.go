package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
)

// maxFaults is how many times reading resumes behind broken markup. A stray "<" in a title should not cost the rest
// of a feed; a document that is broken a thousand times is no sitemap.
const maxFaults = 1000

// guard feeds the decoder octet by octet, which keeps it from reading ahead, and bounds each token: of a longer one the
// rest is passed over. Control characters, which XML forbids, become spaces.
type guard struct {
	r     *bufio.Reader
	left  int   // octets the current token may still take
	read  int64 // octets given to the current decoder
	last  byte
	again bool   // last is to be given once more
	head  []byte // of the current token; a "<" that was read with the one before it is missing
}

func (g *guard) ReadByte() (byte, error) {
	if g.left == 0 {
		return 0, ErrTokenTooLong
	}
	if !g.again {
		c, err := g.r.ReadByte()
		if err != nil {
			return 0, err
		}
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			c = ' '
		}
		g.last = c
	}
	g.again = false
	g.left--
	g.read++
	if len(g.head) < len(cdataHead) {
		g.head = append(g.head, g.last)
	}
	return g.last, nil
}

// begin says that a token of at most so many octets is to be read.
func (g *guard) begin(most int) { g.left, g.head = most, g.head[:0] }

// How the markup begins that ends by something else than the next "<" or ">", and how it ends.
const (
	cdataHead, cdataEnd     = "<![CDATA[", "]]>"
	commentHead, commentEnd = "<!--", "-->"
)

// skip passes over the rest of a token that is too long.
func (g *guard) skip() error {
	g.again = false
	end := "<"
	switch head := "<" + strings.TrimPrefix(string(g.head), "<"); {
	case strings.HasPrefix(head, cdataHead):
		end = cdataEnd
	case strings.HasPrefix(head, commentHead):
		end = commentEnd
	}
	for seen := make([]byte, len(end)); string(seen) != end; {
		c, err := g.r.ReadByte()
		if err != nil {
			return err
		}
		copy(seen, seen[1:])
		seen[len(seen)-1] = c
	}
	if end == "<" {
		return g.r.UnreadByte()
	}
	return nil
}

// Read is there because xml.NewDecoder wants it; the decoder calls ReadByte.
func (g *guard) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c, err := g.ReadByte()
	if err != nil {
		return 0, err
	}
	b[0] = c
	return 1, nil
}

// decoder returns a lenient decoder of what guard has left. The encoding has been seen to by then.
func (g *guard) decoder() *xml.Decoder {
	g.read = 0
	d := xml.NewDecoder(g)
	d.Strict = false
	d.Entity = xml.HTMLEntity // each is one character; XML knows five of them only
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return d
}

// resume returns a decoder that goes on where d met a fault; d may have looked at one octet more.
func (g *guard) resume(d *xml.Decoder) *xml.Decoder {
	g.again = d.InputOffset() < g.read
	return g.decoder()
}

// markup reads a document token by token. Tags need not match: an end tag closes what it names, if that is open.
func (p *parser) markup(text *bufio.Reader) (Kind, error) {
	skipDeclaration(text)
	in := &guard{r: text}
	d := in.decoder()
	w := walker{parser: p}
	for {
		in.begin(p.limits.MaxToken)
		token, err := d.RawToken()
		var broken *xml.SyntaxError
		switch {
		case errors.As(err, &broken) && !atEnd(text) && p.stats.Faults < maxFaults:
			p.stats.Faults++
			d = in.resume(d)
			continue
		case errors.Is(err, ErrTokenTooLong) && p.stats.Faults < maxFaults && in.skip() == nil:
			p.stats.Faults++
			p.stats.Skipped++
			d = in.decoder()
			continue
		case err != nil:
			return w.kind, errors.Join(w.cutBy(err), w.flush())
		}
		if err := w.token(token); err != nil {
			return w.kind, err
		}
		if w.root && w.kind == Unknown {
			return Unknown, nil
		}
	}
}

// cutBy is why reading ended early. A document that ends inside an element was cut somewhere on its way.
func (w *walker) cutBy(err error) error {
	if errors.Is(err, io.EOF) && len(w.stack) > 0 {
		return io.ErrUnexpectedEOF
	}
	return cutBy(err)
}

// skipDeclaration passes over the XML declaration: the decoder would refuse version 1.1.
func skipDeclaration(text *bufio.Reader) {
	head, _ := text.Peek(sniffLen)
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	if end := bytes.Index(trimmed, []byte("?>")); end >= 0 && bytes.HasPrefix(trimmed, []byte("<?xml")) {
		_, _ = text.Discard(len(head) - len(trimmed) + end + len("?>")) // all of it has been peeked at
	}
}

func atEnd(text *bufio.Reader) bool {
	_, err := text.Peek(1)
	return err != nil
}

// element is an open element.
type element struct {
	name string // with its prefix
	base string // xml:base in force

	spaces []space // that it declares
}

// space is a namespace with the prefix that stands for it; "" is the default.
type space struct{ prefix, uri string }

// Bounds of the namespaces that are kept of an element: those of a real document are few and short.
const (
	maxSpaces   = 16
	maxSpaceURI = 200
)

// declared are the namespaces that a tag declares.
func declared(t xml.StartElement) (out []space) {
	for _, a := range t.Attr {
		if len(out) == maxSpaces || len(a.Value) > maxSpaceURI {
			continue
		}
		switch {
		case a.Name.Space == "xmlns":
			out = append(out, space{a.Name.Local, a.Value})
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			out = append(out, space{"", a.Value})
		}
	}
	return out
}

// uri is the namespace that a prefix stands for, within the innermost element; "": it is not known.
func (w *walker) uri(prefix string) string {
	for i := len(w.stack) - 1; i >= 0; i-- {
		for _, s := range w.stack[i].spaces {
			if s.prefix == prefix {
				return s.uri
			}
		}
	}
	return ""
}

// ofEntry reports whether the innermost element, of that prefix, is of the entry's namespace: whatever its prefix is.
func (w *walker) ofEntry(prefix string) bool {
	return prefix == w.entry.prefix || w.entry.uri != "" && w.uri(prefix) == w.entry.uri
}

// walker follows the elements and collects one entry after the other.
type walker struct {
	*parser
	kind  Kind
	root  bool // the root element has been seen
	stack []element
	entry *entry
}

func (w *walker) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return w.start(t)
	case xml.EndElement:
		return w.end(t)
	case xml.CharData:
		if w.entry != nil && len(w.stack) == w.entry.depth+1 {
			w.entry.text(t, w.limits.MaxURL)
		}
	}
	return nil
}

func (w *walker) start(t xml.StartElement) error {
	if len(w.stack) >= w.limits.MaxDepth {
		return errors.Join(ErrTooDeep, w.flush())
	}
	w.stack = append(w.stack, element{name: fullName(t.Name), base: w.base(t), spaces: declared(t)})
	switch {
	case !w.root:
		w.root, w.kind = true, kindOf(t.Name.Local)
	case t.Name.Local == entryName(w.kind):
		if err := w.flush(); err != nil {
			return err
		}
		w.entry = newEntry(w.kind, len(w.stack), t)
		w.entry.uri = w.uri(t.Name.Space)
	case w.entry != nil && len(w.stack) == w.entry.depth+1:
		w.entry.start(t, w.stack[len(w.stack)-1].base, w.ofEntry(t.Name.Space))
	}
	return nil
}

// base is the xml:base in force in an element: its own, joined to that of its parent (XML Base, section 4).
func (w *walker) base(t xml.StartElement) string {
	inherited := ""
	if len(w.stack) > 0 {
		inherited = w.stack[len(w.stack)-1].base
	}
	own := attr(t, "xml", "base")
	if own == "" || len(own) > w.limits.MaxURL {
		return inherited
	}
	outer, err := url.Parse(inherited)
	if err != nil {
		return own
	}
	joined, err := outer.Parse(own)
	if err != nil || len(joined.Path) > w.limits.MaxURL { // relative ones add up
		return own
	}
	return joined.String()
}

// end closes the innermost open element of that name and all within it.
func (w *walker) end(t xml.EndElement) error {
	name := fullName(t.Name)
	at := len(w.stack) - 1
	for at >= 0 && w.stack[at].name != name {
		at--
	}
	if at < 0 {
		return nil
	}
	w.stack = w.stack[:at]
	if w.entry == nil {
		return nil
	}
	if len(w.stack) <= w.entry.depth {
		w.entry.end()
	}
	if len(w.entry.urls) >= maxEntryLinks {
		if err := w.handOn(w.entry); err != nil {
			return err
		}
	}
	if len(w.stack) < w.entry.depth {
		return w.flush()
	}
	return nil
}

// flush hands on the links of the entry that is open, if any.
func (w *walker) flush() error {
	e := w.entry
	w.entry = nil
	if e == nil {
		return nil
	}
	return w.handOn(e)
}

// handOn hands on what an entry has so far.
func (w *walker) handOn(e *entry) error {
	found := e.found()
	e.urls = e.urls[:0]
	for _, l := range found {
		if err := w.link(l); err != nil {
			return err
		}
	}
	return nil
}

func fullName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// attr is the value of an attribute, "" if missing.
func attr(t xml.StartElement, prefix, local string) string {
	for _, a := range t.Attr {
		if a.Name.Local == local && a.Name.Space == prefix {
			return a.Value
		}
	}
	return ""
}
