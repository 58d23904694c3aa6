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
	o := odfText{c: c}
	return p.walk("content.xml", walker{
		skip:  []string{"tracked-changes", "annotation", "note-citation"},
		start: o.start, text: c.add, end: o.end,
	})
}

// odfText is where in the text the walk is.
type odfText struct {
	c     *collector
	row   int // depth of table rows: their cells are in one line
	notes notes
}

func (o *odfText) start(n *node) error {
	switch n.name {
	case "a":
		o.c.link(n.attr("href"))
	case "note":
		o.notes.begin(o.c)
	case "tab", "s", "line-break":
		o.c.add(" ")
	case "table-row":
		o.row++
	case "page", "table":
		if o.c.req.MediaType != odf+"text" && !o.c.page() {
			return errStop
		}
	}
	if o.c.full() {
		o.c.cut(cutText)
		return errStop
	}
	return nil
}

func (o *odfText) end(name string) {
	switch name {
	case "table-row":
		o.row--
	case "note":
		o.notes.end(o.c)
	}
	switch {
	case (name == "p" || name == "h") && (o.row > 0 || o.notes.open):
		o.c.add(" ")
	case name == "p", name == "h", name == "table-row":
		o.c.end()
		o.notes.write(o.c)
	}
}

// notes are those of a paragraph, which are within it and are written behind it.
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
