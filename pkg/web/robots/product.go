package robots

import "strings"

// Product is the name by which a User-Agent header makes its sender known, and by which a robots.txt calls it:
//
//   - the text itself if it is a name: "whirlpool", "*";
//   - the name after "compatible;", where crawlers that start like a browser say who they are:
//     "Mozilla/5.0 (compatible; Whirlpool/1.0; +https://…)" is Whirlpool;
//   - else the first product that is no part of a browser: "Whirlpool/1.0 (+https://…)" is Whirlpool, and so is
//     "Mozilla/5.0 (X11) Gecko/20 Whirlpool/1.0";
//   - else the first product: "Mozilla/5.0 (X11)" is Mozilla.
//
// It is "" where there is none.
func Product(agent string) string {
	text := strings.TrimSpace(agent)
	const marker = "compatible;"
	if i := indexFold(text, marker); i >= 0 {
		if name := leadingName(strings.TrimLeft(text[i+len(marker):], " \t")); name != "" {
			return name
		}
	}
	if text == wildcardAgent {
		return text
	}
	first := leadingName(text)
	if !browserParts[strings.ToLower(first)] {
		return first
	}
	for _, product := range strings.Fields(withoutComments(text)) {
		if name := leadingName(product); name != "" && !browserParts[strings.ToLower(name)] {
			return name
		}
	}
	return first
}

// browserParts are products that browsers name, in lower case: many crawlers name them too, before their own.
var browserParts = map[string]bool{"mozilla": true, "applewebkit": true, "gecko": true, "chrome": true,
	"chromium": true, "headlesschrome": true, "firefox": true, "safari": true, "mobile": true, "version": true,
	"edg": true, "edge": true, "opr": true, "opera": true, "presto": true, "khtml": true, "like": true, "trident": true}

// withoutComments drops what is in parentheses, which nest (RFC 9110, section 5.6.5).
func withoutComments(s string) string {
	var b strings.Builder
	depth := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '(':
			depth++
			b.WriteByte(' ')
		case c == ')':
			depth = max(depth-1, 0)
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// indexFold is strings.Index without regard to the case of ASCII letters; substr is in lower case.
func indexFold(s, substr string) int {
	for i := 0; i+len(substr) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(substr)], substr) {
			return i
		}
	}
	return -1
}

// leadingName is the name at the start of s, "" if none; a "*" starts none.
func leadingName(s string) string {
	end := 0
	for end < len(s) && nameChars[s[end]] && s[end] != '*' {
		end++
	}
	return s[:end]
}
