package robots

import "strings"

// recordKind is what a line is.
type recordKind uint8

const (
	otherRecord recordKind = iota
	userAgentRecord
	allowRecord
	disallowRecord
	crawlDelayRecord
	sitemapRecord
	requestRateRecord
)

// exactKind is the kind of a key that is spelt as it should be, whatever its case.
func exactKind(key string) recordKind {
	switch len(key) {
	case len("allow"):
		if strings.EqualFold(key, "allow") {
			return allowRecord
		}
	case len("sitemap"):
		if strings.EqualFold(key, "sitemap") {
			return sitemapRecord
		}
	case len("disallow"):
		if strings.EqualFold(key, "disallow") {
			return disallowRecord
		}
	case len("user-agent"):
		if strings.EqualFold(key, "user-agent") {
			return userAgentRecord
		}
	case len("crawl-delay"):
		if strings.EqualFold(key, "crawl-delay") {
			return crawlDelayRecord
		}
	case len("request-rate"):
		if strings.EqualFold(key, "request-rate") {
			return requestRateRecord
		}
	}
	return otherRecord
}

// looseRecord reads a line whose key is misspelt or without its colon, where it is plain what was meant (section 2.2.4
// allows for it; Google's parser reads the like). The line is trimmed and not empty of meaning by its exact key.
func looseRecord(line string) (recordKind, string) {
	if line == "" || !isLetter(line[0]) {
		return otherRecord, ""
	}
	word, rest := cutSpace(line)
	// "Disallow /a:b"
	if rest != "" && rest[0] != ':' && !strings.ContainsAny(rest, " \t") && !strings.Contains(word, ":") {
		if kind := spelled(word); kind != otherRecord && kind.takes(rest) {
			return kind, rest
		}
	}
	if key, value, ok := strings.Cut(line, ":"); ok { // "Dissallow: /a", "User agent: b"
		value = trim(value)
		if kind := spelled(key); value == "" || kind.takes(value) {
			return kind, value
		}
		return otherRecord, ""
	}
	if second, value := cutSpace(rest); value != "" && !strings.ContainsAny(value, " \t") { // "User agent b"
		if strings.EqualFold(word, "user") && strings.EqualFold(second, "agent") {
			return userAgentRecord, value
		}
	}
	return otherRecord, ""
}

// takes reports whether a value is one that such a record can have: what only looks a little like a record is prose.
func (k recordKind) takes(value string) bool {
	switch k {
	case allowRecord, disallowRecord:
		return isPattern(value)
	case crawlDelayRecord:
		return isDigit(value[0]) || value[0] == '.'
	case sitemapRecord:
		return value[0] == '/' || strings.Contains(value, "://")
	}
	return true
}

// isPattern reports whether a rule's value can match anything: a path starts with "/" (section 2.2).
func isPattern(value string) bool { return value != "" && (value[0] == '/' || value[0] == '*') }

// keys are what misspelt keys are compared with, in the form of foldKey.
var keys = [...]struct {
	kind recordKind
	text string
}{{disallowRecord, "disalow"}, {userAgentRecord, "useragent"}, {allowRecord, "alow"}, {sitemapRecord, "sitemap"},
	{crawlDelayRecord, "crawldelay"}, {disallowRecord, "diaslow"}, {disallowRecord, "disalaw"}}

// spelled is the kind of a key that is misspelt: hyphens and spaces and doubled letters do not count, nor what follows
// it ("disallowed"), nor, in a longer key, one letter that is wrong, missing, too many or swapped with the next.
func spelled(key string) recordKind {
	folded := foldKey(key)
	for _, k := range keys {
		if strings.HasPrefix(folded, k.text) {
			return k.kind
		}
	}
	for _, k := range keys[:5] {
		if k.kind != allowRecord && oneSlip(folded, k.text) {
			return k.kind
		}
	}
	return otherRecord
}

// maxKey bounds what is looked at of a key, in octets.
const maxKey = 40

// foldKey returns the letters that a key starts with in lower case, each once where it is doubled, without the
// hyphens, dashes, underscores and spaces between them.
func foldKey(key string) string {
	var buf [maxKey]byte
	b := buf[:0]
	for i := 0; i < len(key) && i < maxKey; i++ {
		c := key[i]
		switch {
		case isLetter(c):
			if c |= 0x20; len(b) == 0 || b[len(b)-1] != c {
				b = append(b, c)
			}
		case c == '-' || c == '_' || c == ' ' || c == '\t':
		case strings.HasPrefix(key[i:], "\u00ad"): // soft hyphen
			i++
		case strings.HasPrefix(key[i:], "\u2010"[:2]) && i+2 < len(key) && key[i+2] >= 0x90 &&
			key[i+2] <= 0x95: // hyphens, dashes
			i += 2
		default:
			return string(b)
		}
	}
	return string(b)
}

// oneSlip reports whether a differs from b by one slip of the pen.
func oneSlip(a, b string) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// cutSpace splits s at its first white space.
func cutSpace(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], trim(s[i:])
}

func isLetter(c byte) bool { c |= 0x20; return 'a' <= c && c <= 'z' }
