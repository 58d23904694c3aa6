package xpath

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// function is a function with the numbers of its arguments.
type function struct {
	min, max int
	numeric  bool // its value is a number
	do       func(c *context, args []expr) any
}

// call is a call of a function.
type call struct {
	name string
	function
	args    []expr
	pattern *regexp.Regexp // of matches() and replace(), where it is written out
}

func (f *call) eval(c *context) any {
	if f.name == "matches" || f.name == "replace" {
		return f.match(c)
	}
	return f.do(c, f.args)
}

const many = math.MaxInt

var functions map[string]function

func init() { // the functions evaluate expressions, which call functions
	functions = map[string]function{
		"last":     {0, 0, true, func(c *context, _ []expr) any { return float64(c.size) }},
		"position": {0, 0, true, func(c *context, _ []expr) any { return float64(c.position) }},
		"count":    {1, 1, true, func(c *context, args []expr) any { return float64(len(c.set(args[0]))) }},
		"sum":      {1, 1, true, sum},
		"number":   {0, 1, true, func(c *context, args []expr) any { return c.toNumber(c.or(args)) }},
		"floor":    {1, 1, true, func(c *context, args []expr) any { return math.Floor(c.toNumber(args[0].eval(c))) }},
		"ceiling":  {1, 1, true, func(c *context, args []expr) any { return math.Ceil(c.toNumber(args[0].eval(c))) }},
		"round":    {1, 1, true, func(c *context, args []expr) any { return round(c.toNumber(args[0].eval(c))) }},
		"string-length": {0, 1, true, func(c *context, args []expr) any {
			return float64(len([]rune(c.toString(c.or(args)))))
		}},

		"boolean":     {1, 1, false, func(c *context, args []expr) any { return c.toBool(args[0].eval(c)) }},
		"not":         {1, 1, false, func(c *context, args []expr) any { return !c.toBool(args[0].eval(c)) }},
		"true":        {0, 0, false, func(*context, []expr) any { return true }},
		"false":       {0, 0, false, func(*context, []expr) any { return false }},
		"lang":        {1, 1, false, func(c *context, args []expr) any { return isLang(c.node.n, c.string(args[0])) }},
		"contains":    {2, 2, false, ofTwo(strings.Contains)},
		"starts-with": {2, 2, false, ofTwo(strings.HasPrefix)},
		"ends-with":   {2, 2, false, ofTwo(strings.HasSuffix)},
		"matches":     {2, 2, false, nil},

		"id":      {1, 1, false, id},
		"reverse": {1, 1, false, reverse},

		"string": {0, 1, false, func(c *context, args []expr) any { return c.toString(c.or(args)) }},
		"concat": {2, many, false, concat},
		"normalize-space": {0, 1, false, func(c *context, args []expr) any {
			return strings.Join(strings.FieldsFunc(c.toString(c.or(args)), isSpace), " ")
		}},
		"lower-case":       {1, 1, false, func(c *context, args []expr) any { return strings.ToLower(c.string(args[0])) }},
		"upper-case":       {1, 1, false, func(c *context, args []expr) any { return strings.ToUpper(c.string(args[0])) }},
		"substring":        {2, 3, false, substring},
		"substring-before": {2, 2, false, substringBefore},
		"substring-after":  {2, 2, false, substringAfter},
		"translate":        {3, 3, false, translate},
		"replace":          {3, 3, false, nil},
		"string-join":      {2, 2, false, stringJoin},
		"name":             {0, 1, false, func(c *context, args []expr) any { return c.nameOf(args, true) }},
		"local-name":       {0, 1, false, func(c *context, args []expr) any { return c.nameOf(args, false) }},
		"namespace-uri":    {0, 1, false, func(*context, []expr) any { return "" }},
	}
}

// set is the value of an argument that is to be a set of nodes.
func (c *context) set(e expr) []Node {
	set, _ := e.eval(c).(nodeSet)
	return set.items
}

func (c *context) string(e expr) string { return c.toString(e.eval(c)) }

// or is the value of the argument, where there is none the context node.
func (c *context) or(args []expr) any {
	if len(args) > 0 {
		return args[0].eval(c)
	}
	return nodeSet{items: []Node{c.node}}
}

func ofTwo(test func(s, part string) bool) func(*context, []expr) any {
	return func(c *context, args []expr) any { return test(c.string(args[0]), c.string(args[1])) }
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

func sum(c *context, args []expr) any {
	total := 0.0
	for _, n := range c.set(args[0]) {
		total += parseNumber(c.text(n))
	}
	return total
}

// round rounds halves up.
func round(n float64) float64 {
	if n == math.Trunc(n) || math.IsNaN(n) {
		return n
	}
	return math.Floor(n + 0.5)
}

func concat(c *context, args []expr) any {
	var b strings.Builder
	for _, arg := range args {
		b.WriteString(c.string(arg))
	}
	return b.String()
}

func stringJoin(c *context, args []expr) any {
	set, ok := args[0].eval(c).(nodeSet)
	if !ok {
		return c.string(args[0])
	}
	var parts []string
	for _, n := range set.items {
		parts = append(parts, c.text(n))
	}
	return strings.Join(parts, c.string(args[1]))
}

// substring counts characters from 1, and rounds both numbers.
func substring(c *context, args []expr) any {
	from := round(c.toNumber(args[1].eval(c)))
	to := math.Inf(1)
	if len(args) > 2 {
		to = from + round(c.toNumber(args[2].eval(c)))
	}
	var b strings.Builder
	at := 0.0
	for _, r := range c.string(args[0]) {
		if at++; at >= from && at < to {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func substringBefore(c *context, args []expr) any {
	before, _, ok := strings.Cut(c.string(args[0]), c.string(args[1]))
	if !ok {
		return ""
	}
	return before
}

func substringAfter(c *context, args []expr) any {
	_, after, _ := strings.Cut(c.string(args[0]), c.string(args[1]))
	return after
}

func translate(c *context, args []expr) any {
	from, to := []rune(c.string(args[1])), []rune(c.string(args[2]))
	return strings.Map(func(r rune) rune {
		switch i := slices.Index(from, r); {
		case i < 0:
			return r
		case i < len(to):
			return to[i]
		}
		return -1
	}, c.string(args[0]))
}

func (c *context) nameOf(args []expr, prefixed bool) any {
	set, ok := c.or(args).(nodeSet)
	if !ok || len(set.items) == 0 {
		return ""
	}
	prefix, local := set.items[0].name()
	if prefixed && prefix != "" && set.items[0].attr > 0 {
		return prefix + ":" + local
	}
	return local
}

func reverse(c *context, args []expr) any {
	items := slices.Clone(c.set(args[0]))
	slices.Reverse(items)
	return nodeSet{items: items}
}

// id selects the elements with the ids that a text lists, or the texts of nodes.
func id(c *context, args []expr) any {
	var words []string
	switch v := args[0].eval(c).(type) {
	case nodeSet:
		for _, n := range v.items {
			words = append(words, strings.Fields(c.text(n))...)
		}
	default:
		words = strings.Fields(c.toString(v))
	}
	found := map[string]bool{}
	var set nodeSet
	for n := range c.root.Descendants() {
		c.spend(1)
		if value := attribute(n, "id"); slices.Contains(words, value) && !found[value] {
			found[value] = true
			set.items = append(set.items, Node{n: n})
		}
	}
	return set
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// isLang says whether the language of a node is the one asked for, or a kind of it.
func isLang(n *html.Node, lang string) bool {
	for ; n != nil; n = n.Parent {
		for _, a := range n.Attr {
			if a.Key == "lang" || a.Key == "xml:lang" {
				return strings.EqualFold(a.Val, lang) ||
					len(a.Val) > len(lang) && a.Val[len(lang)] == '-' && strings.EqualFold(a.Val[:len(lang)], lang)
			}
		}
	}
	return false
}

// check compiles a pattern that is written out.
func (f *call) check() (err error) {
	if f.name != "matches" && f.name != "replace" {
		return nil
	}
	if text, ok := f.args[1].(literal); ok {
		f.pattern, err = regexp.Compile(string(text))
	}
	return err
}

var digitReference = regexp.MustCompile(`\$([0-9]+)`)

// match does what matches() and replace() do. A pattern that is none matches nothing.
func (f *call) match(c *context) any {
	text, pattern := c.string(f.args[0]), f.pattern
	if pattern == nil {
		var err error
		if pattern, err = regexp.Compile(c.string(f.args[1])); err != nil {
			pattern = neverMatches
		}
	}
	c.spend(1 + len(text)/32)
	if f.name == "matches" {
		return pattern.MatchString(text)
	}
	return pattern.ReplaceAllString(text, digitReference.ReplaceAllString(c.string(f.args[2]), "$${$1}"))
}

var (
	neverMatches = regexp.MustCompile(`[^\x00-\x{10FFFF}]`)
)
