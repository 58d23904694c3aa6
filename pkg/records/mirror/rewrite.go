package mirror

import (
	"bytes"
	"path"
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
	enc  encoding.Encoding // of the queries of its links; nil: UTF-8
	// missing counts the assets that are not in the archive.
	missing int
}

// rewrites reports whether files of a media type have references that are rewritten.
func rewrites(media string) bool {
	return media == "text/html" || media == "application/xhtml+xml" || media == "text/css"
}

// file returns the content of the entry's file.
func (r *rewriter) file(body []byte) []byte {
	media := mediaType(r.self.ctype)
	text, enc := inUTF8(body, r.self.ctype)
	r.enc = enc
	if media == "text/css" {
		return refs.CSS(text, r.each)
	}
	return refs.HTML(text, refs.Options{XHTML: media == "application/xhtml+xml", Copy: true}, r.each)
}

// each returns what is to stand in the place of a reference.
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
// cannot stand in the first name, as names have none.
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

const byteOrderMark = "\xEF\xBB\xBF"

// inUTF8 returns a text in UTF-8, and the encoding that the queries of its links are in. Where the header alone told its
// encoding, or that was another, it begins with a byte order mark, which wins over all that the text says of itself: a
// browser that opens the file has no other source.
func inUTF8(body []byte, contentType string) ([]byte, encoding.Encoding) {
	text, _, enc := charsets.Decode(body, contentType)
	if bytes.Equal(text, body) && (isASCII(body) || declared(body)) {
		return body, enc
	}
	return append([]byte(byteOrderMark), text...), enc
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf || c == 0x1b { // ISO-2022-JP is ASCII but for its escapes
			return false
		}
	}
	return true
}

// declared reports whether a text seems to name its encoding, UTF-8, in itself.
func declared(body []byte) bool {
	head := bytes.ToLower(body[:min(len(body), 1024)])
	return bytes.Contains(head, []byte("charset")) && bytes.Contains(head, []byte("utf-8"))
}
