// Package elements says what of an element may last: the names by which a selector can know it tomorrow, and those that
// programs, looks and the moment gave it.
package elements

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Meaning are attributes that say what an element is, the best first.
var Meaning = []string{"itemprop", "property", "data-testid", "data-test-id", "data-test", "data-qa", "data-cy",
	"data-field", "data-label", "name", "rel", "aria-label", "role"}

// MaxToken bounds a name in a selector, in bytes.
const MaxToken = 80

// Attr is the value of an attribute; empty: there is none.
func Attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// NumberOf is the number of an element, from 1, among those of its siblings that are alike, and how many they are.
func NumberOf(n *html.Node, alike func(*html.Node) bool) (at, of int) {
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

// ByMeaning is a selector by the attribute that says what an element is.
func ByMeaning(name, value string) string { return fmt.Sprintf("[%s=%s]", name, CSSString(value)) }

// MeantBy is the attribute that says best what an element is.
func MeantBy(n *html.Node) (name, value string) {
	for _, name := range Meaning {
		if name == "rel" && n.Data != "link" { // of a link it says something of where it leads
			continue
		}
		if v := Attr(n, name); v != "" && len(v) <= MaxToken && utf8.ValidString(v) {
			return name, v
		}
	}
	return "", ""
}

// hashed are names that programs make: they are others tomorrow.
var hashed = regexp.MustCompile(
	`[0-9]{3}|[0-9][A-Za-z]+[0-9]|[a-z][A-Z][a-z]+[A-Z]|^[a-z]{1,3}-[A-Za-z0-9]*[A-Z0-9][A-Za-z0-9]*$|^_`)

// Hashed tells whether a name looks as if a program made it: such names are others tomorrow.
func Hashed(w string) bool { return hashed.MatchString(w) || random(w) }

// generators begin the names that kits make of a hash.
var generators = regexp.MustCompile(`^(?:css|sc|jsx|jss|svelte|astro|emotion|e|c)-?[0-9a-zA-Z]{5,8}$`)

// between are figures within a word: a8f.
var between = regexp.MustCompile(`[a-z][0-9]+[a-z]`)

// rare are pairs and runs of letters that words hardly have.
var rare = regexp.MustCompile(`q[^u]|[jvxz][bcdfghjklmnpqrstvwxz]|[bcdfghjklmpqstvwxz][jqxz]|[bcdfghjklmnpqrstvwxz]{5}`)

// random tells whether letters, capitals and figures are in a name as no person puts them: css-1x8fa0q, a8FqZ,
// hXyZabc, ygrfzk.
func random(w string) bool {
	w = acronym.ReplaceAllString(w, "")
	capitals, letters, figures, short := capitalsOf(w)
	mixed := capitals > 0 && capitals < letters
	low := strings.ToLower(w)
	switch {
	case len(w) < 5:
		return false
	case mixed && figures > 0, mixed && short > 0 && capitals > 1, between.MatchString(low):
		return true
	}
	odd := len(rare.FindAllString(low, -1))
	if !strings.ContainsAny(low, "aeiouy") {
		odd++
	}
	return odd > 1 || odd == 1 && generators.MatchString(w)
}

// acronym ends names such as productID.
var acronym = regexp.MustCompile(`(?:ID|URL|UI|TV|FAQ|SKU|HTML|API)s?$`)

// capitalsOf counts capitals, letters and figures of a name, and capitals that come less than three small letters after
// the last one.
func capitalsOf(w string) (capitals, letters, figures, short int) {
	run := 0
	for i, r := range w {
		switch {
		case unicode.IsUpper(r):
			letters++
			if capitals++; i > 0 && run < 3 {
				short++
			}
			run = 0
		case unicode.IsDigit(r):
			figures++
			run = 0
		case unicode.IsLetter(r):
			letters++
			run++
		default:
			run = 0
		}
	}
	if capitals > 0 && run == 1 {
		short++
	}
	return capitals, letters, figures, short
}

// Tokens are the words of an attribute that may last: those without figures first, and none that a program made.
func Tokens(n *html.Node, attr string) []string {
	words := strings.Fields(Attr(n, attr))
	if attr == "id" && len(words) > 1 {
		return nil
	}
	words = slices.DeleteFunc(words, func(w string) bool {
		return len(w) > MaxToken || hashed.MatchString(w) || !utf8.ValidString(w) ||
			attr == "id" && strings.ContainsAny(w, "0123456789") || attr == "class" && !Lasting(w)
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

// Tag is the tag in a selector. Selectors read tags in lower case, so that those of SVG with capitals match none:
// they are any element.
func Tag(n *html.Node) string {
	if n.Data != strings.ToLower(n.Data) {
		return AnyTag
	}
	return CSSName(n.Data)
}

// AnyTag stands for any element.
const AnyTag = "*"

// CSSName is a name in a selector, with what is special in it escaped.
func CSSName(s string) string {
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

// CSSString is a text in a selector.
func CSSString(s string) string {
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
