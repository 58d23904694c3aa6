package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

// Bounds of the MathML that is read as a tree; what has more is left as it is.
const (
	maxMathNodes = 4000
	maxMathDepth = 100
)

// mathNode is an element of MathML.
type mathNode struct {
	name string
	text []byte
	kids []*mathNode
}

// linear is the content of a math element in a line: fractions with a slash, powers with ^, indices with _, as they are
// typed. It is empty where that says nothing, or there is too much of it.
func linear(mathml []byte) string {
	var s htmlscan.Scanner
	s.Reset(mathml)
	stack, nodes := []*mathNode{{name: "mrow"}}, 0
	for {
		k := s.Next()
		top := stack[len(stack)-1]
		switch k {
		case htmlscan.Text:
			raw, _ := s.Text()
			top.text = append(top.text, htmlscan.Value(raw)...)
		case htmlscan.StartTag:
			s.NextIsMarkup()
			n := &mathNode{name: strings.ToLower(string(s.Name()))}
			top.kids = append(top.kids, n)
			if nodes++; nodes > maxMathNodes || len(stack) > maxMathDepth {
				return ""
			}
			if !s.SelfClosing() {
				stack = append(stack, n)
			}
		case htmlscan.EndTag:
			if name := strings.ToLower(string(s.Name())); len(stack) > 1 && top.name == name {
				stack = stack[:len(stack)-1]
			}
		default:
			return strings.Join(strings.Fields(stack[0].line()), " ")
		}
	}
}

// line writes an element.
func (n *mathNode) line() string {
	switch n.name {
	case "mi", "mn", "mo", "mtext", "ms", "annotation", "annotation-xml", "mphantom", "mspace":
		return n.token()
	case "semantics":
		n.kids = n.kids[:min(1, len(n.kids))]
	case "msqrt":
		return "√" + (&mathNode{name: "mrow", kids: n.kids}).group()
	case "mfenced":
		return "(" + n.join(", ") + ")"
	}
	if len(n.kids) < 2 {
		return n.row()
	}
	a, b := n.kids[0].group(), n.kids[1].group()
	switch n.name {
	case "mfrac":
		return a + "/" + b
	case "msub", "munder":
		return a + "_" + b
	case "msup":
		return a + "^" + b
	case "mover":
		if r, size := utf8.DecodeRuneInString(b); size == len(b) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return a + b // an accent
		}
		return a + "^" + b
	case "msubsup", "munderover":
		if len(n.kids) > 2 {
			return a + "_" + b + "^" + n.kids[2].group()
		}
	case "mroot":
		return "√[" + n.kids[1].line() + "]" + a
	case "mtable":
		return n.join("; ")
	case "mtr", "mlabeledtr":
		return n.join(" ")
	}
	return n.row()
}

// token is the text of an element without others inside; that of what is not shown is none.
func (n *mathNode) token() string {
	switch n.name {
	case "mspace":
		return " "
	case "annotation", "annotation-xml", "mphantom":
		return ""
	}
	text := strings.Trim(string(n.text), " \t\r\n")
	for _, k := range n.kids { // HTML in mtext
		text += k.row()
	}
	switch text {
	case "\u2061": // the application of a function
		return " "
	case "\u2062", "\u2063", "\u2064": // multiplication, separation, addition that are not seen
		return ""
	}
	return text
}

// row joins the elements inside. Words are set off: "sin x".
func (n *mathNode) row() string {
	var b strings.Builder
	if len(n.kids) == 0 {
		return strings.TrimSpace(string(n.text))
	}
	word := false
	for _, k := range n.kids {
		s := k.line()
		first, _ := utf8.DecodeRuneInString(s)
		long := k.name == "mi" && utf8.RuneCountInString(s) > 1
		if b.Len() > 0 && (word || long) && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		word = long
	}
	return b.String()
}

func (n *mathNode) join(sep string) string {
	parts := make([]string, len(n.kids))
	for i, k := range n.kids {
		parts[i] = k.line()
	}
	return strings.Join(parts, sep)
}

// group is the line of an element, in brackets where it is more than one name or number.
func (n *mathNode) group() string {
	line, leaf := strings.TrimSpace(n.line()), n
	for len(leaf.kids) == 1 {
		leaf = leaf.kids[0]
	}
	if len(leaf.kids) == 0 || utf8.RuneCountInString(line) < 2 || n.name == "mfenced" ||
		strings.IndexByte(line, '(') == 0 && strings.IndexByte(line, ')') == len(line)-1 {
		return line
	}
	return "(" + line + ")"
}
