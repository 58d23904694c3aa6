package parser

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// Binary makes a Result of a body that is no text, as an image: it has neither title, text nor links.
func Binary(contentType string) *Result {
	return &Result{MediaType: mediaType(contentType), binary: true}
}

// isXML reports whether a media type is XML (RFC 7303).
func isXML(mt string) bool {
	return mt == "text/xml" || mt == "application/xml" || strings.HasSuffix(mt, "+xml")
}

// texts are the media types of text, besides text/*, +json and +yaml.
var texts = map[string]bool{"application/json": true, "application/jsonl": true, "application/x-ndjson": true,
	"application/javascript": true, "application/ecmascript": true, "application/x-javascript": true,
	"application/yaml": true, "application/x-yaml": true, "application/toml": true, "application/sql": true,
	"application/x-sh": true, "application/x-tex": true}

// isPlain reports whether a media type is text without markup.
func isPlain(mt string) bool {
	if strings.HasPrefix(mt, "text/") {
		return !isMarkup(mt) && !isXML(mt)
	}
	return texts[mt] || strings.HasSuffix(mt, "+json") || strings.HasSuffix(mt, "+yaml")
}

// sniffed is how much of a body http.DetectContentType looks at.
const sniffed = 512

// looksBinary reports whether a body that is said to be text has the signature of something else. A signature alone
// does not tell: "BM" begins a bitmap and many a text, but no text has control characters.
func looksBinary(body []byte) bool {
	head := body[:min(len(body), sniffed)]
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return true
	}
	if !slices.ContainsFunc(head, isBinaryByte) {
		return false
	}
	found := http.DetectContentType(head)
	return !strings.HasPrefix(found, "text/") && found != "application/octet-stream" // that is: no signature
}

// isBinaryByte reports what the WHATWG calls a binary data byte (MIME Sniffing, section 3).
func isBinaryByte(c byte) bool {
	return c <= 0x08 || c == 0x0b || 0x0e <= c && c <= 0x1a || 0x1c <= c && c <= 0x1f
}

// mediaType is the lower-case type/subtype of a Content-Type.
func mediaType(contentType string) string {
	mt, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(mt))
}
