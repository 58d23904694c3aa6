package ruletest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ErrIndex says that a page has no such element.
var ErrIndex = errors.New("the page has no element with that index: it has changed since the outline was made")

// noURL lets rules without conditions match.
var noURL weburl.URL

// meaning are attributes that say what an element is, the best first.
var meaning = []string{"itemprop", "property", "data-testid", "data-test-id", "data-test", "data-qa", "data-cy", "data-field", "data-label", "name", "rel", "aria-label", "role"}

// maxSteps bounds the path of an element; maxToken a name in a selector.
const (
	maxSteps = 8
	maxToken = 80
)

// pathTo is the path of an element by steps, from the root or at most maxSteps up.
func pathTo(n *html.Node, step func(*html.Node) string) string {
	var steps []string
	for ; n != nil && n.Type == html.ElementNode && len(steps) < maxSteps; n = n.Parent {
		steps = append(steps, step(n))
	}
	slices.Reverse(steps)
	return strings.Join(steps, " > ")
}

// step is the tag of an element with its number among its like, where there are others.
func step(n *html.Node) string {
	if tagOf(n) == anyTag {
		return child(n)
	}
	at, of := numberOf(n, func(s *html.Node) bool { return s.Data == n.Data })
	if of == 1 {
		return tagOf(n)
	}
	return fmt.Sprintf("%s:nth-of-type(%d)", tagOf(n), at)
}

// child is the number of an element among its siblings: it works for names that no selector can have.
func child(n *html.Node) string {
	at, _ := numberOf(n, func(*html.Node) bool { return true })
	return fmt.Sprintf("*:nth-child(%d)", at)
}

// numberOf is the number of an element, from 1, among those of its siblings that are alike, and how many they are.
func numberOf(n *html.Node, alike func(*html.Node) bool) (at, of int) {
	first := n
	for first.PrevSibling != nil {
		first = first.PrevSibling
	}
	for s := first; s != nil; s = s.NextSibling {
		if s.Type == html.ElementNode && alike(s) {
			of++
			if s == n {
				at = of
			}
		}
	}
	return at, of
}

// simple is an element by its tag, with a class where it has a good one, else with its number.
func simple(n *html.Node) string {
	if classes := tokensOf(n, "class"); len(classes) > 0 {
		return tagOf(n) + "." + cssName(classes[0])
	}
	return step(n)
}

// anchorOf is the nearest element around another that has an id, a class or a meaning of its own; empty: none.
func anchorOf(n *html.Node) string {
	for p := n.Parent; p != nil && p.Type == html.ElementNode; p = p.Parent {
		if id := tokensOf(p, "id"); len(id) > 0 {
			return "#" + cssName(id[0])
		}
		if name, value := meantBy(p); name != "" && name != "role" {
			return byMeaning(name, value)
		}
		if classes := tokensOf(p, "class"); len(classes) > 0 {
			return tagOf(p) + "." + cssName(classes[0])
		}
	}
	return ""
}

// byMeaning is a selector by the attribute that says what an element is.
func byMeaning(name, value string) string { return fmt.Sprintf("[%s=%s]", name, cssString(value)) }

// meantBy is the attribute that says best what an element is.
func meantBy(n *html.Node) (name, value string) {
	for _, name := range meaning {
		if name == "rel" && n.Data != "link" { // of a link it says something of where it leads
			continue
		}
		if v := attrOf(n, name); v != "" && len(v) <= maxToken && utf8.ValidString(v) {
			return name, v
		}
	}
	return "", ""
}

// hashed are names that programs make: they are others tomorrow.
var hashed = regexp.MustCompile(`[0-9]{3}|[0-9][A-Za-z]+[0-9]|[a-z][A-Z][a-z]+[A-Z]|^[a-z]{1,3}-[A-Za-z0-9]*[A-Z0-9][A-Za-z0-9]*$|^_`)

// tokensOf are the words of an attribute that may last: those without figures first, and none that a program made.
func tokensOf(n *html.Node, attr string) []string {
	words := strings.Fields(attrOf(n, attr))
	if attr == "id" && len(words) > 1 {
		return nil
	}
	words = slices.DeleteFunc(words, func(w string) bool {
		return len(w) > maxToken || hashed.MatchString(w) || !utf8.ValidString(w) || attr == "id" && strings.ContainsAny(w, "0123456789") || attr == "class" && !lasting(w)
	})
	slices.SortStableFunc(words, func(a, b string) int { return odd(a) - odd(b) })
	return words[:min(len(words), 2)]
}

// odd is how little a name says.
func odd(w string) (n int) {
	for _, r := range w {
		if !unicode.IsLetter(r) && r != '-' && r != '_' {
			n++
		}
	}
	return n
}

// tagOf is the tag in a selector. Selectors read tags in lower case, so that those of SVG with capitals match none:
// they are any element.
func tagOf(n *html.Node) string {
	if n.Data != strings.ToLower(n.Data) {
		return anyTag
	}
	return cssName(n.Data)
}

const anyTag = "*"

// cssName is a name in a selector, with what is special in it escaped.
func cssName(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r >= 0x80 && r != utf8.RuneError,
			i > 0 && (r >= '0' && r <= '9' || r == '-'), r == '-' && len(s) > 1 && isLetter(s[1]):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\%x `, r)
		}
	}
	return b.String()
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// cssString is a text in a selector.
func cssString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '"' || r == '\\' || r < ' ' || r == 0x7f {
			fmt.Fprintf(&b, `\%x `, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String() + `"`
}

// attrFor is the attribute that has what an element is about; empty: its text has.
func attrFor(n *html.Node) string {
	wanted := map[string]string{"meta": "content", "img": "src", "source": "src", "video": "src", "audio": "src", "iframe": "src", "time": "datetime",
		"input": "value", "link": "href", "base": "href"}[n.Data]
	if wanted == "" || attrOf(n, wanted) == "" {
		return ""
	}
	return wanted
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// nameFor is a name for a field of an element.
func nameFor(n *html.Node) string {
	_, name := meantBy(n)
	for _, attr := range []string{"id", "class"} {
		if words := tokensOf(n, attr); name == "" && len(words) > 0 {
			name = words[0]
		}
	}
	if name == "" {
		_, name = labelOf(n)
	}
	if notInName.ReplaceAllString(strings.ToLower(name), "") == "" {
		name = n.Data
	}
	name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if name = strings.Trim(name[:min(len(name), 32)], "_"); name == "" {
		return "field"
	}
	return name
}
