package parser

import (
	"bytes"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// questionWords is how many words a button has at least that is taken for the question whose answer it opens.
const questionWords = 3

// opensText says whether the button that begins may be a question, whose answer opens below it, rather than a command:
// it says that it opens something, or is called so, and no menu.
func (p *pass) opensText() bool {
	opens := false
	for i := range p.Attrs() {
		switch name, val := p.Attr(i); string(name) {
		case "aria-haspopup", "role":
			return false
		case "aria-expanded":
			opens = true
		case "class":
			opens = opens || bytes.Contains(val, []byte("accordion")) || bytes.Contains(val, []byte("collapsible")) ||
				bytes.HasPrefix(val, []byte("faq"))
		}
	}
	return opens
}

// endQuestion ends the text of such a button: with few words it is a command all the same.
func (p *pass) endQuestion() {
	before := len(p.blocks)
	p.endBlock()
	for i := before; i < len(p.blocks); i++ {
		if p.blocks[i].words < questionWords {
			p.blocks[i].flags |= boilerplate
		} else {
			p.asked = len(p.blocks)
		}
	}
}

// answers says whether the element that begins is right behind a question: it is closed when the page comes, and text.
func (p *pass) answers() bool {
	return p.asked > 0 && p.asked == len(p.blocks) && len(p.buf) == int(p.cur.start)
}

// ticks says whether the input element that begins is there to be ticked, as in a list of ingredients or tasks, or not
// shown: no sign of a form.
func (p *pass) ticks() bool {
	kind := bytes.TrimSpace(p.attr("type"))
	return equalFold(kind, "checkbox") || equalFold(kind, "radio") || equalFold(kind, "hidden")
}

// holdsCode says whether code is most of what the element shows: what is called a toolbar may be around it.
func (n *node) holdsCode() bool { return n.code > 0 && 2*n.code >= n.shown }

// markCode counts for each element the words of the code inside.
func (j *judge) markCode() {
	for i := range j.blocks {
		if b := &j.blocks[i]; b.kind == pre && b.flags&hidden == 0 {
			j.nodes[b.node].code += b.words
		}
	}
	for i := len(j.nodes) - 1; i > 0; i-- {
		j.nodes[j.nodes[i].parent].code += j.nodes[i].code
	}
}

// headedTable says whether the element is a table with heads of columns or rows: its cells are data, also where many
// are links.
func (j *judge) headedTable(i int32) bool {
	n, heads, seen := &j.nodes[i], 0, 0
	if n.tag != htmlscan.Table || float64(n.linkWords) > tableLinks*float64(n.words) {
		return false
	}
	for k := i + 1; k <= n.last && seen < maxLook && heads < tableHeads; k, seen = j.nodes[k].last+1, seen+1 {
		if j.nodes[k].tag == htmlscan.Th {
			heads++
		}
	}
	return heads >= tableHeads
}

const (
	tableHeads = 2   // head cells of a table of data
	tableLinks = 0.9 // share of its words that are links, at most
)
