package documents

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ooxml reads a document of Microsoft Office (ECMA-376).
func (p *pack) ooxml(c *collector) error {
	if err := p.coreMeta(c, "docProps/core.xml"); err != nil {
		return err
	}
	switch {
	case p.files["word/document.xml"] != nil:
		return p.word(c)
	case p.files["xl/workbook.xml"] != nil:
		return p.sheets(c)
	case p.files["ppt/presentation.xml"] != nil:
		for _, name := range p.inOrder("ppt/presentation.xml", "sldId", "ppt/slides/slide") {
			if c.full() || !c.page() {
				break
			}
			if err := errors.Join(p.paragraphs(c, name), p.relations(c, name)); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("the archive is no document, sheet or presentation")
}

// numbered returns the files whose names are the beginning, a number and the end, in the order of the numbers.
func (p *pack) numbered(begin, end string) (names []string) {
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, begin), end))
		if err != nil {
			return -1
		}
		return n
	}
	for _, name := range p.names {
		if sameText(name, begin, end) && number(name) >= 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	return names
}

// coreMeta reads title, author, dates and language (Dublin Core), of either family.
func (p *pack) coreMeta(c *collector, file string) error {
	var in string
	var text strings.Builder
	set := map[string]func(s string){
		"title": func(s string) { c.out.Title = s }, "language": func(s string) { c.out.Lang = strings.ToLower(s) },
		"initial-creator": func(s string) { c.out.Author = s },
		"creator": func(s string) {
			if c.out.Author == "" {
				c.out.Author = s
			}
		},
		"created":       func(s string) { c.out.Created = anyTime(s) },
		"creation-date": func(s string) { c.out.Created = anyTime(s) },
		"modified":      func(s string) { c.out.Modified = anyTime(s) },
		"date":          func(s string) { c.out.Modified = anyTime(s) },
	}
	return p.walk(file, walker{
		start: func(n *node) error { in = n.name; text.Reset(); return nil },
		text: func(s string) {
			if set[in] != nil && text.Len() < maxField {
				text.WriteString(s)
			}
		},
		end: func(name string) {
			if f := set[name]; f != nil && name == in {
				f(short(text.String()))
			}
			in = ""
		},
	})
}

// anyTime reads a time as office documents write them; zero where it is none.
func anyTime(s string) time.Time {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(form, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// word reads a text, then its notes.
func (p *pack) word(c *collector) error {
	for _, part := range []string{"word/document.xml", "word/footnotes.xml", "word/endnotes.xml"} {
		if err := errors.Join(p.paragraphs(c, part), p.relations(c, part)); err != nil {
			return err
		}
	}
	return nil
}

// inOrder returns the slides of a presentation, or the sheets of a workbook, as the part has them in elements of that
// name; where it names none, by the numbers in the names of the files.
func (p *pack) inOrder(part, element, begin string) (names []string) {
	dir, file := path.Split(part)
	targets := map[string]string{}
	fault := p.walk(dir+"_rels/"+file+".rels", walker{start: func(n *node) error {
		target := n.attr("Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join("/", dir, target)
		}
		targets[n.attr("Id")] = strings.TrimPrefix(target, "/")
		return nil
	}})
	fault = errors.Join(fault, p.walk(part, walker{start: func(n *node) error {
		for _, a := range n.attrs {
			name := targets[a.Value]
			if n.name == element && a.Name.Local == "id" && a.Name.Space != "" && p.files[name] != nil &&
				!slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return nil
	}}))
	if fault != nil || len(names) == 0 {
		return p.numbered(begin, ".xml")
	}
	return names
}

// paragraphs reads the text of a document or slide. A shape is there twice, once for older programs.
func (p *pack) paragraphs(c *collector, file string) error {
	inText, inRun, off := 0, false, false // off: the run is not shown
	return p.walk(file, walker{
		skip: []string{"Fallback"},
		start: func(n *node) error {
			switch n.name {
			case "r":
				inRun, off = true, false
			case "vanish":
				off = inRun && n.attr("val") != "0" && n.attr("val") != "false"
			case "t":
				inText++
			case "tab", "br", "cr":
				c.add(" ")
			case "noBreakHyphen":
				c.add("-")
			}
			if c.full() {
				c.cut(cutText)
				return errStop
			}
			return nil
		},
		text: func(s string) {
			if inText > 0 && !off {
				c.add(s)
			}
		},
		end: func(name string) {
			switch name {
			case "r":
				inRun, off = false, false
			case "t":
				inText--
			case "tc": // cells of a table stand beside each other
				c.add(" ")
			case "p":
				c.end()
			}
		},
	})
}

// relations notes the links of a part: they lie in a file beside it.
func (p *pack) relations(c *collector, part string) error {
	dir, name := path.Split(part)
	return p.walk(dir+"_rels/"+name+".rels", walker{start: func(n *node) error {
		if n.attr("TargetMode") == "External" && strings.HasSuffix(n.attr("Type"), "/hyperlink") {
			c.link(n.attr("Target"))
		}
		return nil
	}})
}

// phonetic is the element that says how a text is pronounced.
const phonetic = "rPh"

// maxShared is how many bytes of shared strings of a workbook are kept.
const maxShared = 64 << 20

// sheets reads a workbook: a row a line, cells separated by spaces.
func (p *pack) sheets(c *collector) error {
	book, err := p.readWorkbook(c)
	if err != nil {
		return err
	}
	for _, name := range p.inOrder("xl/workbook.xml", "sheet", "xl/worksheets/sheet") {
		if c.full() || !c.page() {
			break
		}
		if err := errors.Join(p.sheet(c, name, book), p.relations(c, name)); err != nil {
			return err
		}
	}
	return nil
}

// shared reads the strings that cells name by number.
func (p *pack) shared(c *collector) (list []string, err error) {
	var text strings.Builder
	in, size := false, 0
	err = p.walk("xl/sharedStrings.xml", walker{
		skip: []string{phonetic},
		start: func(n *node) error {
			in = n.name == "t"
			if size > maxShared {
				c.cut(cutText)
				return errStop
			}
			return nil
		},
		text: func(s string) {
			if in {
				text.WriteString(s)
			}
		},
		end: func(name string) {
			in = false
			if name == "si" {
				list = append(list, text.String())
				size += text.Len() + 16
				text.Reset()
			}
		},
	})
	return list, err
}

// sheet reads the cells of one sheet.
func (p *pack) sheet(c *collector, file string, book *workbook) error {
	var kind, style string
	var value strings.Builder
	in := false
	return p.walk(file, walker{
		skip: []string{phonetic},
		start: func(n *node) error {
			switch n.name {
			case "c":
				kind, style = n.attr("t"), n.attr("s")
				value.Reset()
			case "v", "t":
				in = true
			}
			if c.full() {
				c.cut(cutText)
				return errStop
			}
			return nil
		},
		text: func(s string) {
			if in && value.Len() < maxShared {
				value.WriteString(s)
			}
		},
		end: func(name string) {
			switch name {
			case "v", "t":
				in = false
			case "c":
				if value.Len() > 0 {
					c.add(book.cell(kind, style, value.String()))
				}
				c.add(" ")
			case "row":
				c.end()
			}
		},
	})
}
