package xpath

import "golang.org/x/net/html"

// path is a location path, or steps from the nodes of another expression.
type path struct {
	absolute bool
	start    expr // nil: the root or the context node
	filters  []expr
	steps    []*step
}

// step is one step of a path.
type step struct {
	axis       string
	test       test
	predicates []expr
}

// axes say whether the axis goes backwards.
var axes = map[string]bool{"child": false, "descendant": false, "descendant-or-self": false, "self": false,
	"attribute": false, "following": false, "following-sibling": false, "parent": true, "ancestor": true,
	"ancestor-or-self": true, "preceding": true, "preceding-sibling": true}

// join makes one step of "//name" where that selects the same: what its predicates say must not depend on places among
// siblings.
func (p *path) join() {
	var steps []*step
	for i := 0; i < len(p.steps); i++ {
		s := p.steps[i]
		if i+1 < len(p.steps) && s.axis == "descendant-or-self" && s.test.kind == anyNode && len(s.predicates) == 0 {
			if next := p.steps[i+1]; next.axis == "child" && !anyPositional(next.predicates) {
				s = &step{"descendant", next.test, next.predicates}
				i++
			}
		}
		steps = append(steps, s)
	}
	p.steps = steps
}

func (p *path) eval(c *context) any {
	set := nodeSet{items: []Node{c.node}, flat: true}
	switch {
	case p.absolute:
		set.items[0] = Node{n: c.root}
	case p.start != nil:
		start, ok := p.start.eval(c).(nodeSet)
		if !ok {
			return nodeSet{} // no node: neither predicate nor step finds one
		}
		set = start
		if f, ok := p.start.(*call); ok && f.name == "reverse" && len(p.steps) > 0 {
			set.items = c.inOrder(set.items)
		}
		for _, f := range p.filters {
			set.items = c.filter(set.items, f)
		}
	}
	for _, s := range p.steps {
		set = c.step(s, set)
	}
	return set
}

// step takes a step from each node of a set.
func (ev *evaluation) step(s *step, in nodeSet) (out nodeSet) {
	positional := anyPositional(s.predicates)
	skip := !positional && !in.flat && (s.axis == "descendant" || s.axis == "descendant-or-self")
	var walked map[Node]bool
	if !positional && len(in.items) > 1 && goesOn[s.axis] {
		walked = map[Node]bool{}
	}
	var last *html.Node
	for _, it := range in.items {
		if skip && last != nil && contains(last, it.n) {
			continue // its nodes are among those of one before
		}
		if it.attr == 0 {
			last = it.n
		}
		items := ev.axis(s, it, walked)
		ev.spend(4 * len(items)) // for the memory that they take
		for _, p := range s.predicates {
			items = ev.filter(items, p)
		}
		out.items = append(out.items, items...)
	}
	backwards := axes[s.axis]
	switch {
	case len(in.items) == 1 && backwards:
		for i, j := 0, len(out.items)-1; i < j; i, j = i+1, j-1 {
			out.items[i], out.items[j] = out.items[j], out.items[i]
		}
	case len(in.items) <= 1 || s.axis == "self" || s.axis == "attribute" || s.axis == "child" && in.flat:
	case skip:
	case in.flat && (s.axis == "descendant" || s.axis == "descendant-or-self"):
	default:
		out.items = ev.inOrder(out.items)
	}
	out.flat = len(out.items) <= 1 || in.flat && (s.axis == "child" || s.axis == "self" || s.axis == "attribute") ||
		len(in.items) == 1 && (s.axis == "following-sibling" || s.axis == "preceding-sibling")
	return out
}

// goesOn has the axes on which what follows a node is the same wherever one came from: what another node led to is not
// walked again.
var goesOn = map[string]bool{"following-sibling": true, "preceding-sibling": true, "following": true, "ancestor": true,
	"ancestor-or-self": true}

func contains(outer, n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

// axis returns the nodes of a step before its predicates, in the order of the axis, up to one that was walked before.
func (ev *evaluation) axis(s *step, it Node, walked map[Node]bool) (items []Node) {
	most := s.most()
	add := func(n Node) bool {
		ev.spend(1)
		if walked[n] {
			return false
		}
		if walked != nil {
			walked[n] = true
		}
		if n.attr == 0 && n.n.Type == html.DoctypeNode || !s.test.matches(n) {
			return true
		}
		items = append(items, n)
		return len(items) != most
	}
	if s.axis == "self" || s.axis == "descendant-or-self" || s.axis == "ancestor-or-self" {
		if !add(it) {
			return items
		}
	}
	if it.attr > 0 {
		ev.fromAttribute(s.axis, it.n, add)
		return items
	}
	walk := walks[s.axis]
	if walk != nil {
		walk(it.n, func(n *html.Node) bool { return add(Node{n: n}) })
	}
	if s.axis == "attribute" && it.n.Type == html.ElementNode {
		for i := range it.n.Attr {
			if !add(Node{it.n, i + 1}) {
				break
			}
		}
	}
	return items
}

// most is how many nodes of the axis are wanted, where a number says it; 0: all.
func (s *step) most() int {
	if len(s.predicates) > 0 {
		if n, ok := s.predicates[0].(number); ok && n >= 1 && n < 1<<30 {
			return int(n)
		}
	}
	return 0
}

// fromAttribute walks from an attribute of an element, which has no children and no siblings.
func (ev *evaluation) fromAttribute(axis string, owner *html.Node, add func(Node) bool) {
	each := func(n *html.Node) bool { return add(Node{n: n}) }
	switch axis {
	case "parent":
		each(owner)
	case "ancestor", "ancestor-or-self":
		if each(owner) {
			walks["ancestor"](owner, each)
		}
	case "following":
		along(following(owner), following, each)
	case "preceding":
		walks["preceding"](owner, each)
	}
}

// walks call each with the nodes of an axis, until it returns false.
var walks = map[string]func(n *html.Node, each func(*html.Node) bool){
	"child": func(n *html.Node, each func(*html.Node) bool) {
		along(n.FirstChild, nextSibling, each)
	},
	"descendant":         descend,
	"descendant-or-self": descend,
	"parent": func(n *html.Node, each func(*html.Node) bool) {
		if n.Parent != nil {
			each(n.Parent)
		}
	},
	"ancestor":         ascend,
	"ancestor-or-self": ascend,
	"following": func(n *html.Node, each func(*html.Node) bool) {
		along(behind(n), following, each)
	},
	"following-sibling": func(n *html.Node, each func(*html.Node) bool) {
		along(n.NextSibling, nextSibling, each)
	},
	"preceding-sibling": func(n *html.Node, each func(*html.Node) bool) {
		along(n.PrevSibling, previousSibling, each)
	},
	"preceding": precede,
}

// along calls each with n and what next leads to, until it returns false.
func along(n *html.Node, next func(*html.Node) *html.Node, each func(*html.Node) bool) {
	for n != nil && each(n) {
		n = next(n)
	}
}

func nextSibling(n *html.Node) *html.Node     { return n.NextSibling }
func previousSibling(n *html.Node) *html.Node { return n.PrevSibling }
func parent(n *html.Node) *html.Node          { return n.Parent }

func descend(n *html.Node, each func(*html.Node) bool) {
	for d := range n.Descendants() {
		if !each(d) {
			return
		}
	}
}

func ascend(n *html.Node, each func(*html.Node) bool) {
	along(n.Parent, parent, each)
}

// precede goes backwards through all that ends before n begins.
func precede(n *html.Node, each func(*html.Node) bool) {
	for ; n != nil; n = n.Parent {
		for s := n.PrevSibling; s != nil; s = s.PrevSibling {
			if !backwards(s, each) {
				return
			}
		}
	}
}

// backwards calls each with what is within n, the last first, and then n.
func backwards(n *html.Node, each func(*html.Node) bool) bool {
	for c := n.LastChild; c != nil; c = c.PrevSibling {
		if !backwards(c, each) {
			return false
		}
	}
	return each(n)
}
