package parser

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// isJSON reports whether an element is a script that holds data (application/ld+json and the like) and no program.
func isJSON(n *html.Node) bool {
	if n.Type != html.ElementNode || n.Data != "script" {
		return false
	}
	for _, a := range n.Attr {
		if a.Key == "type" {
			kind := strings.ToLower(strings.TrimSpace(a.Val))
			return kind == "application/json" || kind == "application/ld+json"
		}
	}
	return false
}

// jsonText is the source of such a script as a field takes it, so that one pattern fits however it was written: without
// white space between its parts, and with characters in place of their escapes. What is no JSON stands as it was
// written.
func jsonText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && b.Len() <= maxNodeText {
			b.WriteString(d.Data)
		}
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(b.String())) != nil {
		return strings.Join(strings.Fields(b.String()), " ")
	}
	return unescaped(compact.String())
}

// unescaped writes out \/ and \uXXXX; quotation marks, backslashes and controls stay escaped.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\' || i+1 == len(s):
			b.WriteByte(s[i])
		case s[i+1] == '/':
			b.WriteByte('/')
			i++
		case s[i+1] == 'u' && i+6 <= len(s):
			r, n := escapedRune(s[i:])
			b.WriteString(r)
			i += n - 1
		default:
			b.WriteString(s[i : i+2])
			i++
		}
	}
	return b.String()
}

// escapedRune reads \uXXXX, or two of them for one character, at the beginning of s, and how many bytes that takes.
func escapedRune(s string) (text string, n int) {
	for _, n := range []int{12, 6} {
		if len(s) < n || n == 12 && !strings.HasPrefix(s[6:], `\u`) {
			continue
		}
		err := json.Unmarshal([]byte(`"`+s[:n]+`"`), &text)
		if err == nil && !strings.ContainsAny(text, "\"\\\uFFFD") && text >= " " &&
			(n == 6 || utf8.RuneCountInString(text) == 1) {
			return text, n
		}
	}
	return s[:6], 6
}
