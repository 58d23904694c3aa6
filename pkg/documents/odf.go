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
	return p.walk("content.xml", walker{
		start: func(n *node) error {
			switch n.name {
			case "a":
				c.link(n.attr("href"))
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
			if name == "table-row" {
				row--
			}
			switch {
			case (name == "p" || name == "h") && row > 0:
				c.add(" ")
			case name == "p", name == "h", name == "table-row":
				c.end()
			}
		},
	})
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
