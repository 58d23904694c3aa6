package xpath

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/net/html"
)

// Expr is a compiled expression. It may be used by several goroutines at once.
type Expr struct{ root expr }

// maxNesting bounds how deep an expression nests.
const maxNesting = 100

// Compile reads an expression.
func Compile(text string) (*Expr, error) {
	tokens, err := tokenize(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	e := p.binary(0)
	if p.err == nil && p.peek() != tokEnd {
		p.fail("%s is one too many", p.here())
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{e}, nil
}

// parser reads tokens. After the first error it reads the end for ever.
type parser struct {
	tokens []token
	depth  int
	err    error
}

func (p *parser) fail(format string, args ...any) expr {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.tokens = []token{{kind: tokEnd}}
	return literal("")
}

func (p *parser) peek() string { return p.tokens[0].kind }

// here is what the next token is called in messages.
func (p *parser) here() string {
	switch t := p.tokens[0]; t.kind {
	case tokName, tokNumber:
		return t.text
	case tokLiteral:
		return strconv.Quote(t.text)
	case "multiply":
		return "*"
	default:
		return t.kind
	}
}

func (p *parser) take() token {
	t := p.tokens[0]
	if t.kind != tokEnd {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *parser) accept(kind string) bool {
	if p.peek() != kind {
		return false
	}
	p.take()
	return true
}

func (p *parser) want(kind string) {
	if !p.accept(kind) {
		p.fail("want %s, not %s", kind, p.here())
	}
}

// levels are the binary operators, those that bind least first.
var levels = [][]string{{"or"}, {"and"}, {"=", "!="}, {"<", "<=", ">", ">="}, {"+", "-"}, {"multiply", "div", "mod"}}

func (p *parser) binary(level int) expr {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for slices.Contains(levels[level], p.peek()) {
		op := p.take().kind
		left = &operation{op, left, p.binary(level + 1)}
	}
	return left
}

func (p *parser) unary() expr {
	if p.depth++; p.depth > maxNesting {
		return p.fail("it nests deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	if p.accept("-") {
		return &negation{p.unary()}
	}
	e := p.path()
	for p.accept("|") {
		e = &union{e, p.path()}
	}
	return e
}

// path reads a location path, or another expression with what may follow: predicates and steps.
func (p *parser) path() expr {
	e := &path{}
	switch t := p.tokens[0]; {
	case t.kind == "/":
		p.take()
		e.absolute = true
		if !p.stepBegins() {
			return e
		}
		p.step(e)
	case t.kind == "//":
		e.absolute = true
	case p.primaryBegins():
		start := p.primary()
		predicates := p.predicates()
		if len(predicates) == 0 && p.peek() != "/" && p.peek() != "//" {
			return start
		}
		e.start, e.filters = start, predicates
	default:
		p.step(e)
	}
	for p.peek() == "/" || p.peek() == "//" {
		if p.take().kind == "//" {
			e.steps = append(e.steps, &step{axis: "descendant-or-self", test: test{kind: anyNode}})
		}
		p.step(e)
	}
	e.join()
	return e
}

func (p *parser) stepBegins() bool {
	return slices.Contains([]string{tokName, "*", "@", ".", ".."}, p.peek())
}

// primaryBegins says whether what follows is no step.
func (p *parser) primaryBegins() bool {
	switch p.peek() {
	case "(", tokLiteral, tokNumber, "$":
		return true
	case tokName:
		_, isTest := nodeTests[p.tokens[0].text]
		return p.tokens[1].kind == "(" && !isTest
	}
	return false
}

func (p *parser) primary() expr {
	switch t := p.take(); t.kind {
	case "(":
		e := p.binary(0)
		p.want(")")
		return e
	case tokLiteral:
		return literal(t.text)
	case tokNumber:
		n, _ := strconv.ParseFloat(t.text, 64)
		return number(n)
	case tokName:
		return p.call(t.text)
	default:
		return p.fail("there are no variables")
	}
}

func (p *parser) call(name string) expr {
	f, ok := functions[name]
	if !ok {
		return p.fail("there is no function %s()", name)
	}
	p.want("(")
	c := &call{name: name, function: f}
	for p.peek() != ")" && p.err == nil {
		if c.args = append(c.args, p.binary(0)); p.peek() != ")" {
			p.want(",")
		}
	}
	p.want(")")
	if n := len(c.args); n < f.min || n > f.max {
		return p.fail("%s() has %d arguments", name, n)
	}
	if err := c.check(); err != nil {
		return p.fail("%s(): %w", name, err)
	}
	return c
}

func (p *parser) predicates() (list []expr) {
	for p.accept("[") {
		list = append(list, p.binary(0))
		p.want("]")
	}
	return list
}

// nodeTests are the tests that look like functions.
var nodeTests = map[string]testKind{"node": anyNode, "text": textNode, "comment": commentNode,
	"processing-instruction": noNode}

// step reads one step and adds it to a path.
func (p *parser) step(e *path) {
	s := &step{axis: "child"}
	switch {
	case p.accept("."):
		s.axis, s.test.kind = "self", anyNode
	case p.accept(".."):
		s.axis, s.test.kind = "parent", anyNode
	default:
		p.axis(s)
		p.test(s)
		s.predicates = p.predicates()
	}
	e.steps = append(e.steps, s)
}

func (p *parser) axis(s *step) {
	if p.accept("@") {
		s.axis = "attribute"
		return
	}
	if p.peek() != tokName || p.tokens[1].kind != "::" {
		return
	}
	s.axis = p.take().text
	p.take()
	if _, ok := axes[s.axis]; !ok {
		p.fail("there is no axis %s", s.axis)
	}
}

func (p *parser) test(s *step) {
	t := p.take()
	switch kind, isTest := nodeTests[t.text]; {
	case t.kind == "*":
		s.test = test{kind: named, local: "*"}
	case t.kind == tokName && isTest && p.peek() == "(":
		p.take()
		if kind == noNode && p.peek() == tokLiteral {
			p.take()
		}
		s.test = test{kind: kind}
		p.want(")")
	case t.kind == tokName:
		s.test = newTest(t.text)
	default:
		p.tokens = append([]token{t}, p.tokens...)
		p.fail("want a name, not %s", p.here())
	}
}

var errBudget = errors.New("it looks at too many nodes of this page")

// Evaluate evaluates an expression at a node, which is its root. The value is of the type []Node, string, float64 or
// bool; nodes are in the order of the document. The error is that it took too long.
func (e *Expr) Evaluate(root *html.Node) (value any, err error) {
	ev := &evaluation{root: root, left: maxWork}
	defer func() {
		if p := recover(); p != nil {
			if p != any(errBudget) { //nolint:errorlint // it is that very value
				panic(p)
			}
			err = errBudget
		}
	}()
	value = e.root.eval(&context{evaluation: ev, node: Node{n: root}, position: 1, size: 1})
	if set, ok := value.(nodeSet); ok {
		return set.items, nil
	}
	return value, nil
}
