package documents

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Bounds of an archive: what is unpacked of it in all, how deep its XML is nested, how many files it lists.
const (
	maxUnpacked = 128 << 20
	maxDepth    = 1000
	maxFiles    = 100_000
)

// Faults of archives that are not the XML's.
var (
	errUnpacked  = errors.New("it unpacks to more than 128 MiB")
	errDepth     = errors.New("its XML is nested more than 1,000 deep")
	errEncrypted = errors.New("it is encrypted")
	errStop      = errors.New("enough was read")
)

// pack is an office document: an archive of XML files.
type pack struct {
	files map[string]*zip.File
	names []string
	left  int64 // bytes that may still be unpacked
}

// compound begins files of Microsoft's older container, in which encrypted documents lie.
var compound = []byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}

func openPack(body []byte) (*pack, error) {
	if bytes.HasPrefix(body, compound) {
		return nil, errEncrypted
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, err
	}
	if len(z.File) > maxFiles {
		return nil, fmt.Errorf("it lists %d files", len(z.File))
	}
	p := &pack{files: map[string]*zip.File{}, left: maxUnpacked}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return nil, errEncrypted
		}
		if p.files[f.Name] == nil { // of two the first counts
			p.files[f.Name] = f
			p.names = append(p.names, f.Name)
		}
	}
	return p, nil
}

// limited reads a file of the archive and counts what is unpacked.
type limited struct {
	p *pack
	r io.Reader
}

// Read implements io.Reader.
func (l *limited) Read(b []byte) (int, error) {
	if l.p.left <= 0 {
		return 0, errUnpacked
	}
	n, err := l.r.Read(b[:min(int64(len(b)), l.p.left)])
	l.p.left -= int64(n)
	return n, err
}

// node is an element while it is walked over: its name without name space, and its attributes.
type node struct {
	name  string
	attrs []xml.Attr
}

// attr returns the value of an attribute by its name without name space.
func (n *node) attr(name string) string {
	for _, a := range n.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// walker is called for what an XML file holds, in its order. A nil function is not called, and none for the elements of
// these names and what they hold.
type walker struct {
	skip  []string
	below int // depth of the element that is being skipped; zero: none is
	start func(n *node) error
	end   func(name string)
	text  func(s string)
}

// walk walks over a file of the archive; one that is not there is empty. errStop of a start ends it without an error.
func (p *pack) walk(name string, w walker) error {
	f := p.files[name]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	d := xml.NewDecoder(&limited{p, r})
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for depth := 0; ; {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("%s: %w", name, errDepth)
			}
		case xml.EndElement:
			depth--
		}
		if w.skips(t, depth) {
			continue
		}
		if err := w.token(t); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// skips reports whether a token belongs to an element that is skipped; depth is that of its element, of an end the one
// around it.
func (w *walker) skips(t xml.Token, depth int) bool {
	e, starts := t.(xml.StartElement)
	switch _, ends := t.(xml.EndElement); {
	case w.below == 0 && starts && slices.Contains(w.skip, e.Name.Local):
		w.below = depth
	case w.below > 0 && ends && depth < w.below:
		w.below = 0
		return true
	}
	return w.below > 0
}

// token hands a token to whom it is for.
func (w *walker) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		if w.start != nil {
			return w.start(&node{t.Name.Local, t.Attr})
		}
	case xml.EndElement:
		if w.end != nil {
			w.end(t.Name.Local)
		}
	case xml.CharData:
		if w.text != nil {
			w.text(string(t))
		}
	}
	return nil
}

// openOffice opens an office document of either family.
func openOffice(r *crawl.OpenRequest, k kind) *crawl.Opened {
	p, err := openPack(r.Body)
	c := newCollector(r)
	if err == nil {
		switch {
		case k == kindODF, p.files["content.xml"] != nil:
			err = p.odf(c)
		case k == kindEPUB:
			err = p.epub(c)
		default:
			err = p.ooxml(c)
		}
	}
	switch {
	case errors.Is(err, errEncrypted):
		return failed(crawl.ReasonDocumentEncrypted, "it wants a password")
	case err != nil && c.text.Len() == 0:
		return failed(crawl.ReasonDocumentBroken, err.Error())
	case err != nil: // what was read before is worth something
		c.cut(cutText)
	}
	return c.done()
}

// sameText reports whether a file's name has this beginning and end.
func sameText(name, begin, end string) bool {
	return strings.HasPrefix(name, begin) && strings.HasSuffix(name, end)
}
