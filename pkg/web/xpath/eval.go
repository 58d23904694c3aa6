package xpath

import (
	"math"

	"golang.org/x/net/html"
)

// expr is a node of a compiled expression. Its value is a nodeSet, string, float64 or bool.
type expr interface {
	eval(c *context) any
}

// maxWork bounds how many nodes one evaluation looks at: a second, or a few.
const maxWork = 10_000_000

// evaluation is what is common to the parts of one evaluation.
type evaluation struct {
	root *html.Node
	left int
}

// spend counts work, and ends the evaluation where it was too much.
func (ev *evaluation) spend(n int) {
	if ev.left -= n; ev.left < 0 {
		panic(errBudget)
	}
}

// text is the string-value of a node, whose cost counts.
func (ev *evaluation) text(n Node) string {
	s := n.Text()
	ev.spend(1 + len(s)/32)
	return s
}

// context is where an expression is evaluated.
type context struct {
	*evaluation
	node           Node
	position, size int
}

// filter keeps the nodes for which a predicate holds; their places are those in the list.
func (ev *evaluation) filter(items []Node, predicate expr) []Node {
	if n, ok := predicate.(number); ok {
		if n >= 1 && float64(n) == math.Trunc(float64(n)) && float64(n) <= float64(len(items)) {
			return items[int(n)-1 : int(n)]
		}
		return nil
	}
	var out []Node
	for i, it := range items {
		ev.spend(1)
		c := &context{ev, it, i + 1, len(items)}
		switch v := predicate.eval(c).(type) {
		case float64:
			if v == float64(i+1) {
				out = append(out, it)
			}
		default:
			if c.toBool(v) {
				out = append(out, it)
			}
		}
	}
	return out
}

// anyPositional says whether one of some predicates may depend on places.
func anyPositional(predicates []expr) bool {
	for _, p := range predicates {
		if isNumber(p) || usesPlace(p) {
			return true
		}
	}
	return false
}

// isNumber says whether the value of an expression is a number: as a predicate that is a place.
func isNumber(e expr) bool {
	switch e := e.(type) {
	case number, *negation:
		return true
	case *operation:
		switch e.op {
		case "+", "-", "multiply", "div", "mod":
			return true
		}
	case *call:
		return e.numeric
	}
	return false
}

// usesPlace says whether an expression asks for the context's position or size.
func usesPlace(e expr) bool {
	switch e := e.(type) {
	case *operation:
		return usesPlace(e.left) || usesPlace(e.right)
	case *negation:
		return usesPlace(e.of)
	case *union:
		return usesPlace(e.left) || usesPlace(e.right)
	case *path:
		return e.start != nil && usesPlace(e.start)
	case *call:
		if e.name == "position" || e.name == "last" {
			return true
		}
		for _, arg := range e.args {
			if usesPlace(arg) {
				return true
			}
		}
	}
	return false
}

type literal string

func (l literal) eval(*context) any { return string(l) }

type number float64

func (n number) eval(*context) any { return float64(n) }

type negation struct{ of expr }

func (n *negation) eval(c *context) any { return -c.toNumber(n.of.eval(c)) }

// union joins two sets of nodes.
type union struct{ left, right expr }

func (u *union) eval(c *context) any {
	left, _ := u.left.eval(c).(nodeSet)
	right, _ := u.right.eval(c).(nodeSet)
	items := append(append([]Node(nil), left.items...), right.items...)
	items = c.inOrder(items)
	return nodeSet{items: items, flat: len(items) <= 1}
}

// operation is an operator between two expressions.
type operation struct {
	op          string
	left, right expr
}

func (o *operation) eval(c *context) any {
	switch o.op {
	case "or":
		return c.toBool(o.left.eval(c)) || c.toBool(o.right.eval(c))
	case "and":
		return c.toBool(o.left.eval(c)) && c.toBool(o.right.eval(c))
	case "=", "!=", "<", "<=", ">", ">=":
		return c.compare(o.op, o.left.eval(c), o.right.eval(c))
	}
	a, b := c.toNumber(o.left.eval(c)), c.toNumber(o.right.eval(c))
	switch o.op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "multiply":
		return a * b
	case "div":
		return a / b
	}
	return math.Mod(a, b)
}
