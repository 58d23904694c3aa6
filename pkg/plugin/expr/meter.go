package expr

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// meter puts the budget into an expression: each step of a predicate is counted, and whatever makes a string or a list
// takes it off the budget. It refuses what cannot be bounded.
type meter struct {
	err error
}

// Names of the functions that count, and of the budget: no expression can write them.
const (
	budgetName = "#budget"
	stepName   = "#step"
	grownName  = "#grown"
)

// budgeted are functions of ours that need the budget before they make something.
var budgeted = []string{"repeat", "replace", "join"}

// selecting are functions that return what exists already.
var selecting = []string{"first", "last", "get", "find", "findLast", "reduce", "type"}

// Visit implements ast.Visitor.
func (m *meter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			m.refuse(n, "$env is not available")
		}
	case *ast.PredicateNode:
		counted := &ast.SequenceNode{Nodes: []ast.Node{call(stepName), n.Node}}
		counted.SetLocation(n.Node.Location())
		n.Node = counted
	case *ast.BinaryNode:
		m.binary(node, n)
	case *ast.ArrayNode:
		if slices.ContainsFunc(n.Nodes, func(e ast.Node) bool { return !constant(e) }) {
			grown(node)
		}
	case *ast.MapNode:
		grown(node)
	case *ast.BuiltinNode:
		if !slices.Contains(selecting, n.Name) && !small(n.Type()) {
			grown(node)
		}
	case *ast.CallNode:
		m.call(node, n)
	}
}

func (m *meter) binary(node *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "+":
		if !small(n.Type()) {
			grown(node)
		}
	case "matches":
		if _, ok := n.Right.(*ast.StringNode); !ok {
			m.refuse(n.Right, "a regular expression must be written out: a page must not choose it")
		}
	}
}

// call gives functions of ours the budget, and counts what they return.
func (m *meter) call(node *ast.Node, n *ast.CallNode) {
	name, ok := n.Callee.(*ast.IdentifierNode)
	if !ok || name.Value == stepName || name.Value == grownName {
		return
	}
	if slices.Contains(budgeted, name.Value) {
		n.Arguments = append([]ast.Node{&ast.IdentifierNode{Value: budgetName}}, n.Arguments...)
	}
	if !small(n.Type()) {
		grown(node)
	}
}

func (m *meter) refuse(n ast.Node, text string) {
	if m.err == nil {
		m.err = &file.Error{Location: n.Location(), Message: text}
	}
}

// call is a call of a function that counts.
func call(name string, args ...ast.Node) ast.Node {
	args = append([]ast.Node{&ast.IdentifierNode{Value: budgetName}}, args...)
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
}

// grown wraps a node so that its value is taken off the budget.
func grown(node *ast.Node) {
	inner := *node
	outer := call(grownName, inner)
	outer.SetLocation(inner.Location())
	*node = outer
}

func constant(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.BoolNode, *ast.NilNode:
		return true
	}
	return false
}

// small reports whether values of a type are of a fixed size.
func small(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64, reflect.Struct:
		return true
	}
	return false
}
