package parser_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func picture(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 99, 99))); err != nil {
		t.Fatal(err)
	}
	return b.String() + "<title>no title</title><a href=/hidden>x</a>"
}

// little is a text in UTF-16 without byte-order mark, as some servers send it.
func little(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// A binary body has a record without text, whatever Content-Type says. A text keeps its text, whatever its first bytes
// are.
func TestOnlyTextHasText(t *testing.T) {
	base, err := weburl.Parse("http://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	page := "<html><title>T</title><p>some words <a href=/l>link</a>"
	for name, tt := range map[string]struct {
		contentType, body string
		text              bool
	}{
		"picture":                {"image/png", picture(t), false},
		"picture as HTML":        {"text/html", picture(t), false},
		"picture as text":        {"text/plain", picture(t), false},
		"picture without type":   {"", picture(t), false},
		"PDF":                    {"application/pdf", "%PDF-1.4\n1 0 obj", false},
		"PDF as HTML":            {"text/html; charset=utf-8", "%PDF-1.4\n1 0 obj", false},
		"archive":                {"application/zip", "PK\x03\x04 some words", false},
		"archive as text":        {"text/plain", "PK\x03\x04\x14\x00 some words", false},
		"font":                   {"font/woff2", "wOF2 some words", false},
		"octets":                 {"application/octet-stream", "some words", false},
		"video":                  {"video/mp4", "some words", false},
		"page":                   {"text/html", page, true},
		"page without type":      {"", page, true},
		"page with a NUL":        {"text/html", page + "\x00\x01", true},
		"page in UTF-16":         {"text/html; charset=utf-16le", little(page), true},
		"page as XML":            {"application/xml", page, true},
		"text that begins BM":    {"text/plain", "BM some words", true},
		"text with an escape":    {"text/plain", "BM \x1b[1m some words", true},
		"style":                  {"text/css", "some { words: x }", true},
		"JSON":                   {"application/json", `{"some": "words"}`, true},
		"linked data":            {"application/ld+json", `{"some": "words"}`, true},
		"script":                 {"application/javascript", `some("words")`, true},
		"calendar":               {"text/calendar", "BEGIN:some words", true},
		"XHTML":                  {"application/xhtml+xml", page, true},
		"picture's name, a page": {"text/html", "GIF89a some words", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := parser.Parse([]byte(tt.body), tt.contentType, base, parser.DefaultOptions())
			if got := strings.Contains(r.Text, "some"); got != tt.text {
				t.Errorf("text %q", r.Text)
			}
			if !tt.text && (r.Title != "" || r.Text != "" || len(r.Links) > 0 || len(r.Assets) > 0) {
				t.Errorf("made of it: %+v", r)
			}
		})
	}
}
