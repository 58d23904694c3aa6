package structured

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// walk collects items of microdata and RDFa from a tree.
type walk struct {
	data    *Data
	resolve func(string) string
	byID    map[string]*html.Node // of the elements that itemref may name
	refs    int                   // elements that were reached by itemref
}

// maxRefs bounds how many elements are reached by itemref: items may share them.
const maxRefs = 1_000

// items adds the items of a document.
func (d *Data) items(doc []byte, resolve func(string) string) {
	root, err := html.Parse(bytes.NewReader(doc))
	if err != nil { // nested too deeply
		d.Cut = true
		return
	}
	w := &walk{data: d, resolve: resolve}
	w.ids(root)
	w.node(root, nil, nil, names{})
}

func (w *walk) ids(root *html.Node) {
	wanted := map[string]bool{}
	for n := range root.Descendants() {
		for ref := range strings.FieldsSeq(attr(n, "itemref")) {
			wanted[ref] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	w.byID = map[string]*html.Node{}
	for n := range root.Descendants() {
		if id := attr(n, "id"); id != "" && wanted[id] && w.byID[id] == nil {
			w.byID[id] = n
		}
	}
}

// node adds what an element says to the items around it, and its items to the data.
func (w *walk) node(n *html.Node, micro, rdfa *Item, in names) {
	if n.Type == html.ElementNode {
		micro = w.micro(n, micro)
		in = in.within(n)
		rdfa = w.rdfa(n, rdfa, in)
	}
	for c := range n.ChildNodes() {
		w.node(c, micro, rdfa, in)
	}
}

// micro adds an element's microdata; it returns the item that its content belongs to.
func (w *walk) micro(n *html.Node, in *Item) *Item {
	_, scope := lookup(n, "itemscope")
	props := strings.Fields(attr(n, "itemprop"))
	if !scope {
		if in != nil && len(props) > 0 {
			w.put(in, props, w.value(n))
		}
		return in
	}
	item := w.item(in, strings.Fields(attr(n, "itemtype")), attr(n, "itemid"))
	switch {
	case item == nil:
		return in
	case in != nil && len(props) > 0:
		w.put(in, props, item)
	case len(props) == 0 || !w.referred(n): // a property of nothing is an item like others
		w.data.Microdata = append(w.data.Microdata, item)
	}
	for ref := range strings.FieldsSeq(attr(n, "itemref")) {
		w.reference(n, item, ref)
	}
	return item
}

// reference adds to an item the properties of an element elsewhere.
func (w *walk) reference(from *html.Node, item *Item, id string) {
	to := w.byID[id]
	if to == nil || w.refs >= maxRefs {
		return
	}
	for p := from; p != nil; p = p.Parent {
		if p == to {
			return // it would hold itself
		}
	}
	w.properties(to, item)
}

// referred says whether itemref names an element, or one that it is in.
func (w *walk) referred(n *html.Node) bool {
	for ; n != nil && len(w.byID) > 0; n = n.Parent {
		if id := attr(n, "id"); id != "" && w.byID[id] == n {
			return true
		}
	}
	return false
}

// properties adds what an element that itemref names, and what is in it, say of an item.
func (w *walk) properties(n *html.Node, in *Item) {
	if w.refs++; w.refs > maxRefs {
		w.data.Cut = true
		return
	}
	if _, scope := lookup(n, "itemscope"); scope && attr(n, "itemprop") == "" {
		return // an item of its own
	}
	if n.Type == html.ElementNode {
		in = w.micro(n, in)
	}
	for c := range n.ChildNodes() {
		w.properties(c, in)
	}
}

// rdfa adds an element's RDFa Lite; it returns the item that its content belongs to.
func (w *walk) rdfa(n *html.Node, in *Item, known names) *Item {
	props := strings.Fields(attr(n, "property"))
	for i, p := range props {
		props[i] = known.property(p)
	}
	types, typed := lookup(n, "typeof")
	if !typed {
		if in != nil && len(props) > 0 {
			w.put(in, props, w.value(n))
		}
		return in
	}
	id, ok := lookup(n, "resource")
	if !ok {
		id = attr(n, "about")
	}
	full := strings.Fields(types)
	for i, t := range full {
		full[i] = known.typ(t)
	}
	item := w.item(in, full, id)
	switch {
	case item == nil:
		return in
	case in != nil && len(props) > 0:
		w.put(in, props, item)
	default:
		w.data.RDFa = append(w.data.RDFa, item)
	}
	return item
}

// item makes an item within another or none; nil where there is no room.
func (w *walk) item(in *Item, types []string, id string) *Item {
	size, depth := len(id), 0
	if in != nil {
		depth = in.depth + 1
	}
	types = slices.DeleteFunc(types, func(t string) bool { return len(t) > maxName })
	for i := range types {
		types[i] = strings.ToValidUTF8(types[i], "\uFFFD")
		size += len(types[i])
	}
	if id != "" {
		if abs := w.resolve(id); abs != "" {
			id = abs
		}
	}
	if depth > maxDepth || !w.data.budget.take(size+40) {
		w.data.Cut = true
		return nil
	}
	return &Item{Type: types, ID: w.data.text(id), Properties: map[string][]any{}, depth: depth}
}

// put adds a value to properties of an item.
func (w *walk) put(item *Item, props []string, value any) {
	s, isText := value.(string)
	if isText {
		s = w.data.text(s)
		value = s
	}
	for _, p := range props {
		if len(p) > maxName || !w.data.budget.take(len(p)+len(s)) {
			w.data.Cut = true
			return
		}
		p = strings.ToValidUTF8(p, "\uFFFD")
		item.Properties[p] = append(item.Properties[p], value)
	}
}

// value is what an element says as a property (HTML Standard, 5.2.4; RDFa Lite: content comes first).
func (w *walk) value(n *html.Node) string {
	if v, ok := lookup(n, "content"); ok {
		return fold(v)
	}
	key := ""
	switch n.DataAtom {
	case atom.Audio, atom.Embed, atom.Iframe, atom.Img, atom.Source, atom.Track, atom.Video:
		key = "src"
	case atom.A, atom.Area, atom.Link:
		key = "href"
	case atom.Object:
		key = "data"
	case atom.Data, atom.Meter:
		return fold(attr(n, "value"))
	case atom.Time:
		if v, ok := lookup(n, "datetime"); ok {
			return fold(v)
		}
	}
	if v, ok := lookup(n, "resource"); ok && key == "" {
		return w.absolute(v)
	}
	if key != "" {
		return w.absolute(attr(n, key))
	}
	return textOf(n)
}

func (w *walk) absolute(ref string) string {
	ref = strings.TrimSpace(ref)
	if abs := w.resolve(ref); ref != "" && abs != "" {
		return abs
	}
	return ref
}

// textOf is the text of an element, as much of it as a value may have. Elements that lines do not break at part no
// words: H<sub>2</sub>O.
func textOf(n *html.Node) string {
	var b strings.Builder
	addText(&b, n)
	return fold(b.String())
}

func addText(b *strings.Builder, n *html.Node) {
	for c := range n.ChildNodes() {
		switch {
		case b.Len() > 2*maxString:
			return
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.Type != html.ElementNode || c.DataAtom == atom.Script || c.DataAtom == atom.Style:
		case inline[c.DataAtom]:
			addText(b, c)
		default:
			b.WriteByte(' ')
			addText(b, c)
			b.WriteByte(' ')
		}
	}
}

// inline are the elements that are within words.
var inline = map[atom.Atom]bool{atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true,
	atom.Cite: true, atom.Code: true, atom.Data: true, atom.Del: true, atom.Dfn: true, atom.Em: true, atom.Font: true,
	atom.I: true, atom.Ins: true, atom.Kbd: true, atom.Mark: true, atom.Q: true, atom.S: true, atom.Samp: true,
	atom.Small: true, atom.Span: true, atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Time: true,
	atom.Tt: true, atom.U: true, atom.Var: true, atom.Wbr: true}

func lookup(n *html.Node, key string) (val string, ok bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == key && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

func attr(n *html.Node, key string) string {
	v, _ := lookup(n, key)
	return v
}
