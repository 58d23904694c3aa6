// Package charsets finds the character encodings of documents as browsers do, and turns their texts into UTF-8.
package charsets

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
)

const utf8Name = "utf-8"

// prescanBytes is how far a meta element is looked for (HTML Standard, 13.2.3.2).
const prescanBytes = 1024

// Decode returns body as valid UTF-8, with the name of the encoding it had. Valid UTF-8 is returned as it is, without a
// copy. The encoding is that of the byte order mark, else of the Content-Type header, else of the first declaration in
// the body whose name is known, else UTF-8 where the body is valid UTF-8, else what its octets speak for, else
// windows-1252. Where the body shows that it is in another, that counts: see correct. enc is nil for UTF-8 and
// UTF-16, as then the queries of links are in UTF-8 too (URL Standard, 4.5).
func Decode(body []byte, contentType string) (text []byte, name string, enc encoding.Encoding) {
	e, name, bom := findEncoding(body, contentType)
	body = body[bom:]
	if name == utf8Name && utf8.Valid(body) {
		return body, name, nil
	}
	if bom == 0 {
		e, name = correct(body, e, name)
	}
	switch {
	case name == utf8Name:
		e = unicode.UTF8
	case strings.HasPrefix(name, "utf-16"):
	case ascii(body) && name != "iso-2022-jp":
		return body, name, e // all other encodings of the standard contain ASCII
	default:
		enc = e
	}
	text, err := decoderOf(e, name).NewDecoder().Bytes(body)
	if err != nil { // the decoders replace what they cannot read
		text = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	return text, name, enc
}

func findEncoding(body []byte, contentType string) (e encoding.Encoding, name string, bom int) {
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		return unicode.UTF8, utf8Name, 3
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be", 2
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16le", 2
	}
	_, params, _ := strings.Cut(contentType, ";")
	if strings.Count(params, `"`) == 1 {
		params += `"` // what opens and does not close goes to the end (MIME Sniffing, 4.4)
	}
	if e, name = knownCharset(params); e != nil {
		return e, name, 0
	}
	if e, name = unmarkedUTF16(body); e != nil { // browsers know it by an XML declaration (HTML Standard, 13.2.3.2)
		return e, name, 0
	}
	if e, name = declaredIn(body, isXML(contentType)); e != nil {
		return inMarkup(e, name)
	}
	if switchesToJapanese(body) {
		e, name = charset.Lookup("iso-2022-jp")
		return e, name, 0
	}
	if validPrefix(body) {
		return unicode.UTF8, utf8Name, 0
	}
	if name = guess(body); name == utf8Name {
		return unicode.UTF8, utf8Name, 0
	}
	e, name = charset.Lookup(cmp.Or(name, "windows-1252"))
	return e, name, 0
}

// Declared is the name of the encoding that the start of a document says that it has, as far as a browser looks for it
// before it reads; "" where it says none that the standard knows.
func Declared(body []byte, contentType string) string {
	_, name := declaredIn(body[:min(len(body), prescanBytes)], isXML(contentType))
	return name
}

// inMarkup corrects declarations that the markup itself refutes: it was read as ASCII, so it cannot be UTF-16.
func inMarkup(e encoding.Encoding, name string) (encoding.Encoding, string, int) {
	switch {
	case strings.HasPrefix(name, "utf-16"):
		return unicode.UTF8, utf8Name, 0
	case name == "x-user-defined":
		e, name = charset.Lookup("windows-1252")
	}
	return e, name, 0
}

// knownCharset returns the first encoding that s names and the standard knows, by "charset=…"; e is nil where there is
// none.
func knownCharset(s string) (e encoding.Encoding, name string) {
	for label, rest := charsetIn(s); label != ""; label, rest = charsetIn(rest) {
		if e, name = charset.Lookup(label); e != nil {
			return e, name
		}
	}
	return nil, ""
}

// charsetIn finds "charset=…" in the content of a meta element (HTML Standard, 2.6.4) or in the parameters of a header.
// rest is what follows.
func charsetIn(s string) (label, rest string) {
	lower := strings.ToLower(s)
	for {
		i := strings.Index(lower, "charset")
		if i < 0 {
			return "", ""
		}
		lower = strings.TrimLeft(lower[i+len("charset"):], " \t\n\f\r")
		val, ok := strings.CutPrefix(lower, "=")
		if !ok {
			continue
		}
		val = strings.TrimLeft(val, " \t\n\f\r")
		if q := strings.IndexAny(val, `"'`); q == 0 {
			val, rest, ok = strings.Cut(val[1:], val[:1])
			if !ok {
				return "", ""
			}
			return val, rest
		}
		if end := strings.IndexAny(val, " \t\n\f\r;"); end >= 0 {
			val, rest = val[:end], val[end:]
		}
		return val, rest
	}
}

// declaredIn is the encoding that a document declares; e is nil where it declares none that the standard knows. In XML
// a meta element says nothing of it (HTML Standard, 4.2.5.4).
func declaredIn(body []byte, xml bool) (e encoding.Encoding, name string) {
	head := body[:min(len(body), prescanBytes)]
	if bytes.HasPrefix(head, []byte("<?xml")) {
		if e, name = charset.Lookup(xmlEncoding(head)); e != nil || xml {
			return e, name
		}
	}
	if xml {
		return nil, ""
	}
	if e, name = declared(head); e == nil {
		e, name = declaredLate(body)
	}
	return e, name
}

// declared is the first encoding that a meta element names and the standard knows; e is nil where there is none.
func declared(head []byte) (e encoding.Encoding, name string) {
	if !containsFold(head, "charset") {
		return nil, ""
	}
	var s htmlscan.Scanner
	s.Reset(head)
	for k := s.Next(); k != htmlscan.End; k = s.Next() {
		if k == htmlscan.StartTag && s.Tag() == htmlscan.Meta {
			if e, name = metaCharset(&s); e != nil {
				return e, name
			}
		}
	}
	return nil, ""
}

// declaredLate looks for a declaration in the whole body if the first 1,024 bytes have none: a browser that meets one
// later starts again with it (HTML Standard, 13.2.3.5). A body without anything like a declaration is not read a second
// time.
func declaredLate(body []byte) (e encoding.Encoding, name string) {
	for at := prescanBytes - len("<meta charset=x"); at < len(body); at++ {
		i := bytes.IndexByte(body[max(at, 0):], '<')
		if i < 0 {
			return nil, ""
		}
		at = max(at, 0) + i
		tag := body[at+1:]
		if len(tag) < len("meta") || tag[0]|0x20 != 'm' || !bytes.EqualFold(tag[:len("meta")], []byte("meta")) {
			continue
		}
		if tag = tag[:min(len(tag), prescanBytes)]; containsFold(tag[:max(0, bytes.IndexByte(tag, '>'))], "charset") {
			return declared(body)
		}
	}
	return nil, ""
}

func containsFold(b []byte, word string) bool {
	for i := 0; i+len(word) <= len(b); i++ {
		if b[i]|0x20 == word[0] && strings.EqualFold(string(b[i:i+len(word)]), word) {
			return true
		}
	}
	return false
}

func metaCharset(s *htmlscan.Scanner) (encoding.Encoding, string) {
	if e, name := charset.Lookup(string(bytes.TrimSpace(htmlscan.Value(attr(s, "charset"))))); e != nil {
		return e, name
	}
	if bytes.EqualFold(bytes.TrimSpace(attr(s, "http-equiv")), []byte("content-type")) {
		return knownCharset(string(htmlscan.Value(attr(s, "content"))))
	}
	return nil, ""
}

// attr is the first value of an attribute, as it stands.
func attr(s *htmlscan.Scanner, name string) []byte {
	for i := range s.Attrs() {
		if n, val := s.Attr(i); string(n) == name {
			return val
		}
	}
	return nil
}

func xmlEncoding(head []byte) string {
	end := bytes.Index(head, []byte("?>"))
	if end < 0 {
		return ""
	}
	_, val, ok := bytes.Cut(head[:end], []byte("encoding"))
	val = bytes.TrimLeft(val, " \t\r\n=")
	if !ok || len(val) < 2 || (val[0] != '"' && val[0] != '\'') {
		return ""
	}
	name, _, ok := bytes.Cut(val[1:], val[:1])
	if !ok {
		return ""
	}
	return string(name)
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// validPrefix reports whether body is valid UTF-8, but for a last character that was cut with the body.
func validPrefix(body []byte) bool {
	if utf8.Valid(body) {
		return true
	}
	for n := 1; n < utf8.UTFMax && n < len(body); n++ {
		if tail := body[len(body)-n:]; utf8.RuneStart(tail[0]) {
			return !utf8.FullRune(tail) && utf8.Valid(body[:len(body)-n])
		}
	}
	return false
}

// isXML reports whether documents of a Content-Type are XML.
func isXML(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "text/xml" || media == "application/xml" || strings.HasSuffix(media, "+xml")
}
