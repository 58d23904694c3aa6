package documents

import "errors"

// odf reads a document of the OpenDocument family (ISO/IEC 26300).
func (p *pack) odf(c *collector) error {
	if p.files["content.xml"] == nil {
		return errors.New("the archive has no content.xml")
	}
	if err := p.odfEncrypted(); err != nil {
		return err
	}
	if err := p.coreMeta(c, "meta.xml"); err != nil {
		return err
	}
	row := 0 // depth of table rows: their cells stand in one line
	var n notes
	return p.walk("content.xml", walker{
		skip: []string{"tracked-changes", "annotation", "note-citation"},
		start: func(e *node) error {
			switch e.name {
			case "a":
				c.link(e.attr("href"))
			case "note":
				n.begin(c)
			case "tab", "s", "line-break":
				c.add(" ")
			case "table-row":
				row++
			case "page", "table":
				if c.req.MediaType != odf+"text" && !c.page() {
					return errStop
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
			switch name {
			case "table-row":
				row--
			case "note":
				n.end(c)
			}
			switch {
			case (name == "p" || name == "h") && (row > 0 || n.open):
				c.add(" ")
			case name == "p", name == "h", name == "table-row":
				c.end()
				n.write(c)
			}
		},
	})
}

// notes are those of a paragraph, which stand within it and are written behind it.
type notes struct {
	open   bool
	before string // of the paragraph
	list   []string
}

func (n *notes) begin(c *collector) {
	if !n.open {
		n.open, n.before = true, c.line.String()
		c.line.Reset()
	}
}

func (n *notes) end(c *collector) {
	if n.open {
		n.list = append(n.list, c.line.String())
		c.line.Reset()
		c.line.WriteString(n.before)
		n.open = false
	}
}

func (n *notes) write(c *collector) {
	for _, note := range n.list {
		c.add(note)
		c.end()
	}
	n.list = n.list[:0]
}

// odfEncrypted looks into the manifest, which says so of each file.
func (p *pack) odfEncrypted() error {
	return p.walk("META-INF/manifest.xml", walker{start: func(n *node) error {
		if n.name == "encryption-data" {
			return errEncrypted
		}
		return nil
	}})
}
