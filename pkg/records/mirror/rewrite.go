package mirror

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/charsets"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/refs"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// rewriter writes the references of one file.
type rewriter struct {
	find func(weburl.URL) *entry
	self *entry
	base weburl.URL
	// enc and charset are the encoding of the queries of its links, where that is not UTF-8.
	enc     encoding.Encoding
	charset string
	// missing counts the assets that are not in the archive.
	missing int
}

// rewrites reports whether files of a media type are changed: for their references, or to be in UTF-8.
func rewrites(media string) bool {
	return isPage(media) || isScript(media) || media == "text/css" || media == "image/svg+xml"
}

func isPage(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

func isScript(media string) bool { return slices.Contains(endings[media], ".js") }

// file returns the content of the entry's file.
func (r *rewriter) file(body []byte) []byte {
	media := mediaType(r.self.ctype)
	if isScript(media) {
		return r.self.script(body)
	}
	text, charset, enc := charsets.Decode(body, r.self.ctype)
	if r.enc = enc; enc != nil {
		r.charset = charset
	}
	var out []byte
	if media == "text/css" {
		out = refs.CSS(text, r.each)
	} else {
		out = refs.HTML(text, refs.Options{XHTML: media != "text/html", Copy: true}, r.each)
	}
	if bytes.Equal(text, body) && (isASCII(out) || declaresUTF8(out, media)) {
		return out
	}
	return marked(out)
}

// each returns what is to be in the place of a reference.
func (r *rewriter) each(ref refs.Ref) string {
	raw := strings.TrimSpace(ref.URL)
	if ref.Kind == refs.Base {
		if u, err := r.self.url.Resolve(raw); err == nil {
			r.base = u
		}
		return "" // that of the file itself
	}
	if raw == "" || raw[0] == '#' && r.base == r.self.url {
		return ref.URL
	}
	u, err := r.base.Resolve(charsets.EncodeQuery(raw, r.enc)) // as it was fetched
	if err != nil {
		return ref.URL // javascript:, mailto:, data: …
	}
	if e := r.find(u); e != nil {
		if ref.Kind == refs.Asset && e.charset == "" {
			e.charset = r.charset
		}
		return r.relative(e, u.Fragment())
	}
	if ref.Kind == refs.Asset || ref.Kind == refs.Style {
		r.missing++
	}
	return u.String()
}

// relative is the way from the file to another.
func (r *rewriter) relative(e *entry, fragment string) string {
	if fragment != "" {
		fragment = "#" + fragment
	}
	if e == r.self && fragment != "" {
		return fragment
	}
	return escapePath(relativePath(path.Dir(r.self.name), e.name)) + fragment
}

// relativePath is the way from a directory to a file, both with slashes.
func relativePath(dir, file string) string {
	from, to := strings.Split(dir, "/"), strings.Split(file, "/")
	if dir == "." {
		from = nil
	}
	common := 0
	for common < len(from) && common < len(to)-1 && from[common] == to[common] {
		common++
	}
	return strings.Repeat("../", len(from)-common) + strings.Join(to[common:], "/")
}

// escapePath makes a path of a file system a relative reference: whatever has a meaning in URLs is encoded, and a colon
// cannot be in the first name, as names have none.
func escapePath(p string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/+,=@"
	var b strings.Builder
	for i := range len(p) {
		if strings.IndexByte(plain, p[i]) >= 0 {
			b.WriteByte(p[i])
			continue
		}
		b.WriteByte('%')
		b.WriteByte("0123456789ABCDEF"[p[i]>>4])
		b.WriteByte("0123456789ABCDEF"[p[i]&15])
	}
	return b.String()
}

// script returns a script in UTF-8, as its pages are now: a browser reads scripts that tell no encoding in that of the
// page. One that is in another than its pages stays as it is, as an attribute of the script element may tell it.
func (e *entry) script(body []byte) []byte {
	contentType := e.ctype
	if !strings.Contains(strings.ToLower(contentType), "charset") {
		switch {
		case utf8.Valid(body):
			contentType += "; charset=utf-8"
		case e.charset != "":
			contentType += "; charset=" + e.charset
		default:
			return body
		}
	}
	text, _, _ := charsets.Decode(body, contentType)
	if bytes.Equal(text, body) && isASCII(body) {
		return body
	}
	return marked(text)
}

// marked puts a byte order mark before a text. It wins over all that the text says of its encoding, and without the
// header a browser that opens the file has no other source.
func marked(text []byte) []byte { return append([]byte("\xEF\xBB\xBF"), text...) }

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf || c == 0x1b { // ISO-2022-JP is ASCII but for its escapes
			return false
		}
	}
	return true
}

// declaresUTF8 reports whether a browser that opens the file is told by the text itself that it is in UTF-8.
func declaresUTF8(text []byte, media string) bool {
	if media == "text/css" {
		const rule = `@charset "utf-8"`
		return len(text) > len(rule) && strings.EqualFold(string(text[:len(rule)]), rule)
	}
	return charsets.Declared(text, media) == "utf-8"
}
