package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tidyDefinitions makes a list of a definition list: an item a term, and what is said of it within. Markdown has no
// other way to tell which is which.
func tidyDefinitions(n *html.Node) {
	rename(n, atom.Ul)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Div {
			prev := c.PrevSibling
			unwrap(c)
			if c = prev; c == nil {
				c = n.FirstChild
			}
			if c == nil {
				return
			}
		}
	}
	var item *html.Node
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.DataAtom == atom.Dt, item == nil && c.DataAtom == atom.Dd:
			rename(c, atom.Li)
			item = c
		case c.DataAtom == atom.Dd:
			rename(c, atom.Div)
			n.RemoveChild(c)
			item.AppendChild(c)
		}
		c = next
	}
	tidyList(n)
}

// tidyList leaves nothing but items in a list, and its start where it has one.
func tidyList(n *html.Node) {
	start := strings.TrimSpace(attr(n, "start"))
	n.Attr = nil
	if n.DataAtom == atom.Ol && start != "" && len(start) < 9 && strings.Trim(start, "0123456789") == "" {
		n.Attr = []html.Attribute{{Key: "start", Val: start}}
	}
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.TextNode && strings.TrimSpace(c.Data) == "":
			n.RemoveChild(c)
		case c.DataAtom != atom.Li:
			wrap(c, atom.Li)
		}
		c = next
	}
}

// task is the element that stands for the box of a task until it is written.
const task = "x-task"

// tidyTask keeps the box that an item begins with: the item is a task. Markdown has no others.
func tidyTask(n *html.Node) {
	begins := strings.EqualFold(attr(n, "type"), "checkbox")
	for p := n; begins && p.DataAtom != atom.Li; p = p.Parent {
		begins = p.Parent != nil
		for prev := p.PrevSibling; begins && prev != nil; prev = prev.PrevSibling {
			begins = prev.Type == html.TextNode && strings.TrimSpace(prev.Data) == ""
		}
	}
	if !begins {
		remove(n)
		return
	}
	n.DataAtom, n.Data = 0, task
}

// Bounds of a table that is written as one: what has more is written as text.
const (
	maxCells   = 20_000
	maxColumns = 100
)

// tidyCell leaves in a cell what fits in a line of Markdown.
func tidyCell(n *html.Node) {
	keep := n.Attr[:0]
	for _, a := range n.Attr {
		switch {
		case (a.Key == "colspan" || a.Key == "rowspan") && len(a.Val) <= 2 && strings.Trim(a.Val, "0123456789") == "":
			keep = append(keep, a)
		case a.Key == "class" && (strings.Contains(a.Val, "linenos") || strings.Contains(a.Val, "gutter")):
			keep = append(keep, a)
		case a.Key == "align":
			a.Val = strings.ToLower(a.Val)
			keep = append(keep, a)
		}
	}
	n.Attr = keep
}

// tidyTable makes text of a table that Markdown cannot write as one: in a cell there are no lists, headings, code
// blocks, quotes or tables. Such tables mostly lay out a page.
func tidyTable(n *html.Node) {
	dropLineNumbers(n)
	if isEmpty(n) {
		remove(n)
		return
	}
	if !isData(n) || n.Parent != nil && !isBlock(n.Parent) && n.Parent.DataAtom != atom.Body {
		unfold(n)
		return
	}
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.DataAtom == atom.Code {
			d.Data = strings.ReplaceAll(d.Data, "|", `\|`) // as GitHub has it
		}
	}
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.DataAtom == atom.Caption { // the library writes it behind the table
			n.RemoveChild(c)
			rename(c, atom.P)
			n.Parent.InsertBefore(c, n)
		}
		c = next
	}
	n.Attr = nil
}

// isData reports whether a table holds data that fits in one of Markdown's: a line a cell, or a few.
func isData(n *html.Node) bool {
	rows, columns := 0, 0
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Tr:
			rows++
			columns = max(columns, width(d))
		case atom.Td, atom.Th:
			if manyBlocks(d) {
				return false
			}
		case atom.Table, atom.Pre, atom.Ul, atom.Ol, atom.Blockquote, atom.Hr, atom.H1, atom.H2, atom.H3, atom.H4,
			atom.H5, atom.H6:
			return false
		}
	}
	return columns > 1 && columns <= maxColumns && rows > 0 && rows*columns <= maxCells
}

// manyBlocks reports whether a cell has several paragraphs.
func manyBlocks(cell *html.Node) bool {
	n := 0
	for d := range cell.Descendants() {
		if (d.DataAtom == atom.P || d.DataAtom == atom.Div) && !has(d, isBlock) {
			n++
		}
	}
	return n > 1
}

// width is how many columns a row takes.
func width(row *html.Node) (n int) {
	for c := range row.ChildNodes() {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th {
			continue
		}
		span := 0
		for _, d := range attr(c, "colspan") {
			span = 10*span + int(d-'0')
		}
		n += max(span, 1)
	}
	return n
}

// unfold makes blocks of a table's cells.
func unfold(n *html.Node) {
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Colgroup:
			rename(d, atom.Div)
		}
	}
	rename(n, atom.Div)
}

// dropLineNumbers takes out the cells with which generators number the lines of code.
func dropLineNumbers(n *html.Node) {
	var cells []*html.Node
	for d := range n.Descendants() {
		if d.DataAtom == atom.Td && attr(d, "class") != "" {
			cells = append(cells, d)
		}
	}
	for _, c := range cells {
		if strings.Trim(plainText(c), "0123456789 \n\t") == "" {
			remove(c)
		}
	}
}
