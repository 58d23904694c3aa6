package documents

import (
	"bytes"
	"maps"
	"slices"
)

// kind is a way to read a document.
type kind uint8

const (
	kindNone kind = iota
	kindPDF
	kindOOXML
	kindODF
	kindEPUB
	kindRTF
)

const (
	ooxml = "application/vnd.openxmlformats-officedocument."
	odf   = "application/vnd.oasis.opendocument."
)

// kinds are the media types that are opened.
var kinds = map[string]kind{
	"application/pdf": kindPDF, "application/x-pdf": kindPDF,
	ooxml + "wordprocessingml.document":   kindOOXML,
	ooxml + "wordprocessingml.template":   kindOOXML,
	ooxml + "spreadsheetml.sheet":         kindOOXML,
	ooxml + "spreadsheetml.template":      kindOOXML,
	ooxml + "presentationml.presentation": kindOOXML,
	ooxml + "presentationml.slideshow":    kindOOXML,
	odf + "text":                          kindODF,
	odf + "spreadsheet":                   kindODF,
	odf + "presentation":                  kindODF,
	"application/epub+zip":                kindEPUB,
	"application/rtf":                     kindRTF,
	"application/x-rtf":                   kindRTF,
	"text/rtf":                            kindRTF,
}

// MediaTypes returns the media types of documents that are opened, and those of plain text and tables of it, which the
// parser reads itself.
func MediaTypes() []string {
	out := slices.AppendSeq([]string{"text/plain", "text/csv"}, maps.Keys(kinds))
	slices.Sort(out)
	return out
}

// kindOf says how a document is read. Its first bytes count where they contradict the media type.
func kindOf(mediaType string, body []byte) kind {
	if bytes.Contains(body[:min(len(body), 1024)], []byte("%PDF-")) {
		return kindPDF
	}
	if bytes.HasPrefix(body, rtfHead) {
		return kindRTF
	}
	return kinds[mediaType]
}
