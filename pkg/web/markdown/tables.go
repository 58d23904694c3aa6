package markdown

import (
	"bytes"

	"github.com/JohannesKaufmann/html-to-markdown/v2/marker"
)

// opensTable says that a character of the text keeps its backslash, where its line would make a table of the one before
// it: the line has nothing but bars, hyphens and colons. The backslash before the first that can have one is enough.
func opensTable(text []byte, at int) int {
	if text[at] != '|' && text[at] != '-' {
		return -1
	}
	start := at
	for ; start > 0 && text[start-1] != '\n'; start-- {
		switch text[start-1] {
		case ':', ' ', '\t', marker.BytesMarkerEscaping[0]:
		default:
			return -1
		}
	}
	line, _, _ := bytes.Cut(text[start:], []byte("\n"))
	above := text[:max(0, start-1)]
	above = bytes.TrimSpace(above[bytes.LastIndexByte(above, '\n')+1:])
	if len(above) == 0 || !isDelimiterRow(line) {
		return -1
	}
	return 1
}

// isDelimiterRow reports whether a line looks like the second of a table (GitHub Flavored Markdown, 4.10). One of
// hyphens alone is the line under a heading, for which the library has a rule.
func isDelimiterRow(line []byte) bool {
	hyphen, other := false, false
	for _, c := range line {
		switch c {
		case '-':
			hyphen = true
		case '|', ':':
			other = true
		case ' ', '\t', marker.BytesMarkerEscaping[0]:
		default:
			return false
		}
	}
	return hyphen && other
}
