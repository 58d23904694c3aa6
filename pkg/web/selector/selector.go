// Package selector compiles selectors of CSS, those among them that browsers know and the library does not: :is(),
// :where(), :any-link, and :has() of children. As in browsers, the case of some attributes' values does not matter.
package selector

import (
	"errors"
	"strings"

	"github.com/andybalholm/cascadia"
)

// Parse compiles a list of selectors.
func Parse(css string) (cascadia.SelectorGroup, error) {
	group, err := cascadia.ParseGroup(modern(css))
	if err != nil && (strings.Contains(css, "::text") || strings.Contains(css, "::attr(")) {
		return nil, errors.New("::text and ::attr() are not of CSS: leave them out, since the text is taken anyway, and name " +
			"an attribute as attr")
	}
	return group, err
}

// aliases are the pseudo-classes with parentheses that stand for one of their arguments. Not to be none of them is the
// same.
var aliases = [...]string{":is(", ":where(", ":-webkit-any(", ":-moz-any("}

// modern writes a selector in the terms of the library.
func modern(css string) string {
	if !strings.ContainsAny(css, ":[") {
		return css
	}
	var out strings.Builder
	var open []string // what closes the parentheses that are open
	for i := 0; i < len(css); {
		rest := css[i:]
		n, text := 1, css[i:i+1]
		switch c := css[i]; {
		case c == '\\' && len(rest) > 1:
			n, text = 2, rest[:2]
		case c == '"' || c == '\'':
			n = quoted(rest)
			text = rest[:n]
		case c == '[':
			n, text = attribute(rest)
		case c == '(':
			open = append(open, ")")
		case c == ')' && len(open) > 0:
			text, open = open[len(open)-1], open[:len(open)-1]
		case c == ':':
			var closing string
			if n, text, closing = pseudo(rest); closing != "" {
				open = append(open, closing)
			}
		}
		out.WriteString(text)
		i += n
	}
	return out.String()
}

// pseudo reads a pseudo-class that begins s: how long it is, what is written for it, and what closes its parenthesis.
func pseudo(s string) (n int, text, closing string) {
	for _, alias := range aliases {
		if len(s) >= len(alias) && strings.EqualFold(s[:len(alias)], alias) {
			return len(alias), ":not(:not(", "))"
		}
	}
	const anyLink, has = ":any-link", ":has("
	switch {
	case len(s) >= len(anyLink) && strings.EqualFold(s[:len(anyLink)], anyLink):
		return len(anyLink), ":link", ""
	case len(s) >= len(has) && strings.EqualFold(s[:len(has)], has):
		if n, children := childrenOf(s[len(has):]); n > 0 {
			return len(has) + n, ":haschild(" + modern(children) + ")", ""
		}
	}
	return 1, ":", ""
}

// childrenOf reads the arguments of :has() up to its end, if each begins with a child: "> a, > .b > i". n is 0 where
// they do not.
func childrenOf(s string) (n int, children string) {
	var list []string
	start := 0
	eachOutside(s, func(i int) bool {
		if s[i] != ',' && s[i] != ')' {
			return true
		}
		one, ok := strings.CutPrefix(strings.TrimSpace(s[start:i]), ">")
		if ok {
			one, ok = within(one)
		}
		if !ok {
			return false
		}
		list, start = append(list, one), i+1
		if s[i] == ')' {
			n = i + 1
		}
		return n == 0
	})
	if n == 0 {
		return 0, ""
	}
	return n, strings.Join(list, ",")
}

// within writes a selector of an element and what lies in it, "a > b c", as one of the element: "a:haschild(b:has(c))".
// It is not ok where it is empty or goes on with a sibling.
func within(s string) (one string, ok bool) {
	s = strings.Trim(s, space)
	end := len(s)
	eachOutside(s, func(i int) bool {
		if strings.IndexByte(space+">+~", s[i]) >= 0 {
			end = i
			return false
		}
		return true
	})
	first, rest := s[:end], strings.TrimLeft(s[end:], space)
	if first == "" || rest == "" {
		return first, first != ""
	}
	pseudo := ":has("
	if rest[0] == '>' {
		pseudo, rest = ":haschild(", rest[1:]
	}
	inner, ok := within(rest)
	return first + pseudo + inner + ")", ok
}

// eachOutside calls use for the places of s that are in no brackets and no string, until it returns false. A bracket
// that closes none of s is one of them.
func eachOutside(s string, use func(i int) bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '"' || c == '\'':
			i += quoted(s[i:]) - 1
		case c == '(' || c == '[':
			depth++
		case (c == ')' || c == ']') && depth > 0:
			depth--
		case depth == 0 && !use(i):
			return
		}
	}
}

// quoted is how long the string is that begins s.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}
