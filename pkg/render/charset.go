package render

import (
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"
)

// declares finds what tells a browser the encoding of a document: a meta element, or an XML declaration.
var declares = regexp.MustCompile(`(?i)<meta\s[^>]*charset|^\s*<\?xml\s[^>]*encoding`)

// ContentType is the Content-Type that a browser gets of a page, so that it reads the page as the crawler did. charset
// is the encoding that the crawler found. Where that is empty, a page of UTF-8 that nothing declares is told to be
// that: a browser would take it for windows-1252.
func ContentType(fetched, charset string, body []byte) string {
	kind, _, _ := strings.Cut(fetched, ";")
	if kind = strings.TrimSpace(kind); kind == "" {
		kind = "text/html"
	}
	if charset == "" {
		if _, params, err := mime.ParseMediaType(fetched); err == nil && params["charset"] != "" || !utf8.Valid(body) ||
			declares.Match(body) {
			if fetched == "" {
				return kind
			}
			return fetched
		}
		charset = "utf-8"
	}
	return kind + "; charset=" + charset
}
