package xpath

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a piece of an expression. Its kind is the text itself for what is punctuation or an operator.
type token struct {
	kind string
	text string // of a name, a literal or a number
}

// The kinds of tokens that have a text. Names may have a prefix: "svg:path", "svg:*".
const (
	tokName    = "name"
	tokLiteral = "literal"
	tokNumber  = "number"
	tokEnd     = "the end"
)

var symbols = []string{"::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", "@", ",", "/", "|", "+", "-", "=", "<",
	">", "*", ".", "$"}

// tokenize splits an expression. By section 3.7 a name or an asterisk is an operator where an operand stands before.
func tokenize(s string) (list []token, err error) {
	for s = skipSpace(s); s != ""; s = skipSpace(s) {
		var t token
		if t, s, err = next(s, operandEnds(list)); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return append(list, token{kind: tokEnd}), nil
}

func skipSpace(s string) string { return strings.TrimLeft(s, " \t\r\n") }

// operandEnds says whether the tokens so far end with an operand.
func operandEnds(list []token) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1]; last.kind {
	case tokName, tokLiteral, tokNumber, ")", "]", ".", "..", "*":
		return true
	case "multiply":
		return false
	}
	return false
}

// next reads one token from s, which is not empty and begins with no space.
func next(s string, operand bool) (t token, rest string, err error) {
	switch c := s[0]; {
	case c == '"' || c == '\'':
		text, rest, ok := strings.Cut(s[1:], s[:1])
		if !ok {
			return t, "", fmt.Errorf("a string has no closing %s", s[:1])
		}
		return token{tokLiteral, text}, rest, nil
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		n := numberLength(s)
		return token{tokNumber, s[:n]}, s[n:], nil
	}
	for _, symbol := range symbols {
		if rest, ok := strings.CutPrefix(s, symbol); ok {
			if symbol == "*" && operand {
				return token{kind: "multiply"}, rest, nil
			}
			return token{kind: symbol}, rest, nil
		}
	}
	n := nameLength(s)
	if n == 0 {
		r, _ := utf8.DecodeRuneInString(s)
		return t, "", fmt.Errorf("%q is not of XPath", r)
	}
	if name := s[:n]; operand {
		switch name {
		case "and", "or", "div", "mod":
			return token{kind: name}, s[n:], nil
		}
		return t, "", fmt.Errorf("want an operator, not %s", name)
	}
	return qualified(s, n)
}

// qualified reads a name that begins s and has n octets, and what follows if that was its prefix.
func qualified(s string, n int) (token, string, error) {
	rest := s[n:]
	if !strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "::") {
		return token{tokName, s[:n]}, rest, nil
	}
	local := nameLength(rest[1:])
	if local == 0 && strings.HasPrefix(rest, ":*") {
		local = 1
	}
	if local == 0 {
		return token{}, "", errors.New("a name ends with a colon")
	}
	n += 1 + local
	return token{tokName, s[:n]}, s[n:], nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func numberLength(s string) (n int) {
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n < len(s) && s[n] == '.' {
		n++
		for n < len(s) && isDigit(s[n]) {
			n++
		}
	}
	return n
}

// nameLength is how long the name without a prefix is that begins s.
func nameLength(s string) int {
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || i > 0 && (r == '-' || r == '.' || unicode.IsDigit(r) || unicode.IsMark(r)) {
			continue
		}
		return i
	}
	return len(s)
}
