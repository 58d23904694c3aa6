package documents

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// bookPart is a file that the package of an EPUB book lists.
type bookPart struct {
	file  string
	page  bool // XHTML
	table bool // of contents
}

// book is what the package document of an EPUB book says.
type book struct {
	parts map[string]bookPart // by their ids
	spine []string            // ids, in the order of reading
}

// epub reads a book (EPUB 2 and 3): its chapters in the order of reading.
func (p *pack) epub(c *collector) error {
	root, err := p.bookPackage()
	if err != nil {
		return err
	}
	b, err := p.readPackage(c, root)
	if err != nil {
		return err
	}
	if err := p.bookEncrypted(b); err != nil {
		return err
	}
	for _, id := range b.spine {
		part := b.parts[id]
		if !part.page || part.table {
			continue
		}
		if c.full() || !c.page() {
			break
		}
		if err := p.chapter(c, part.file); err != nil {
			return err
		}
	}
	return nil
}

// bookPackage finds the package document, which the container names.
func (p *pack) bookPackage() (root string, err error) {
	err = p.walk("META-INF/container.xml", walker{start: func(n *node) error {
		if n.name == "rootfile" && root == "" {
			root = n.attr("full-path")
		}
		return nil
	}})
	if err == nil && p.files[root] == nil {
		err = errors.New("the book has no package document")
	}
	return root, err
}

// readPackage reads title, authors, language and dates, the files, and their order.
func (p *pack) readPackage(c *collector, root string) (b *book, err error) {
	b = &book{parts: map[string]bookPart{}}
	var in string
	var text strings.Builder
	err = p.walk(root, walker{
		start: func(n *node) error {
			in = n.name
			text.Reset()
			switch n.name {
			case "meta":
				in = n.attr("property")
			case "item":
				b.parts[n.attr("id")] = bookPart{inBook(path.Dir(root), n.attr("href")),
					strings.HasSuffix(n.attr("media-type"), "html+xml") || n.attr("media-type") == "text/html",
					strings.Contains(" "+n.attr("properties")+" ", " nav ")}
			case "itemref":
				b.spine = append(b.spine, n.attr("idref"))
			}
			return nil
		},
		text: func(s string) {
			if text.Len() < maxField {
				text.WriteString(s)
			}
		},
		end: func(string) {
			c.ofBook(in, short(text.String()))
			in = ""
		},
	})
	return b, err
}

// ofBook notes what a book says of itself. The first of several titles is the title; authors are all of them.
func (c *collector) ofBook(name, value string) {
	o := &c.out
	switch {
	case value == "":
	case name == "title" && o.Title == "":
		o.Title = value
	case name == "language" && o.Lang == "":
		o.Lang = strings.ToLower(value)
	case name == "creator" && o.Author == "":
		o.Author = value
	case name == "creator":
		o.Author += ", " + value
	case name == "date" && o.Created.IsZero():
		o.Created = anyTime(value)
	case name == "dcterms:modified":
		o.Modified = anyTime(value)
	}
}

// inBook is the name in the archive of a file that the package document refers to.
func inBook(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return strings.TrimPrefix(path.Join("/", dir, href), "/")
}

// bookEncrypted reports an error where chapters are encrypted. Fonts may be without harm.
func (p *pack) bookEncrypted(b *book) error {
	locked := map[string]bool{}
	err := p.walk("META-INF/encryption.xml", walker{start: func(n *node) error {
		if n.name == "CipherReference" {
			locked[inBook("", n.attr("URI"))] = true
		}
		return nil
	}})
	for _, id := range b.spine {
		if locked[b.parts[id].file] {
			return errEncrypted
		}
	}
	return err
}

// chapter reads the text of an XHTML file of a book.
func (p *pack) chapter(c *collector, file string) error {
	return p.walk(file, walker{
		skip: []string{"head", "script", "style", "rt", "rp", "template"},
		start: func(n *node) error {
			switch n.name {
			case "a":
				if href := n.attr("href"); strings.Contains(href, "://") {
					c.link(href)
				}
			case "br", "img", "td", "th":
				c.add(" ")
			default:
				if bookBlock(n.name) {
					c.end()
				}
			}
			if c.full() {
				c.cut(cutText)
				return errStop
			}
			return nil
		},
		text: c.add,
		end: func(name string) {
			if bookBlock(name) {
				c.end()
			}
		},
	})
}

// bookBlock says whether an element is in lines of its own.
func bookBlock(name string) bool {
	switch name {
	case "p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol", "dl", "dt", "dd", "tr", "table", "caption",
		"section", "article", "aside", "header", "footer", "figure", "figcaption", "blockquote", "pre", "hr", "body", "nav":
		return true
	}
	return false
}
