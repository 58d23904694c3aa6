package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of names, in bytes: 255 and 4,096 are those of most file systems, and the copy may lie deep itself.
const (
	maxName = 180
	maxPath = 1000
	maxDirs = 64
)

// endings are the ends of names by which a browser knows the type of a file, the usual one first. Other types are
// copied under the names they have.
var endings = map[string][]string{
	"text/html":                {".html", ".htm"},
	"application/xhtml+xml":    {".xhtml", ".xht"},
	"text/css":                 {".css"},
	"text/javascript":          {".js", ".mjs"},
	"application/javascript":   {".js", ".mjs"},
	"application/x-javascript": {".js", ".mjs"},
	"image/svg+xml":            {".svg"},
	"image/png":                {".png"},
	"image/jpeg":               {".jpg", ".jpeg", ".jpe", ".jfif"},
	"image/gif":                {".gif"},
	"image/webp":               {".webp"},
	"image/avif":               {".avif"},
	"font/woff":                {".woff"},
	"font/woff2":               {".woff2"},
	"application/pdf":          {".pdf"},
	"video/mp4":                {".mp4", ".m4v"},
	"video/webm":               {".webm"},
}

// withEnding gives a name the end that its type needs.
func withEnding(name, media string) string {
	ends := endings[media]
	if len(ends) == 0 || slices.Contains(ends, strings.ToLower(path.Ext(name))) {
		return name
	}
	return name + ends[0]
}

// plainName is the name that a URL's file has if no other wants it: host and port, the path, and behind an @ the query,
// as wget has it where ? cannot be in names.
func plainName(u weburl.URL, media string) string {
	segments := strings.Split(strings.TrimPrefix(u.Path(), "/"), "/")
	last := len(segments) - 1
	file := segments[last]
	if file == "" {
		file = "index"
	}
	if q := u.Query(); q != "" {
		file += "@" + q
	}
	parts := append(make([]string, 0, last+2), hostName(u))
	for _, s := range segments[:last] {
		parts = append(parts, shorten(safe(s), u, ""))
	}
	full := withEnding(safe(file), media)
	parts = append(parts, shorten(full, u, path.Ext(full)))
	name := strings.Join(parts, "/")
	if len(name) > maxPath || len(parts) > maxDirs {
		return parts[0] + "/~long/" + hash(u, 16) + shortExt(path.Ext(full))
	}
	return name
}

// hostName is the directory of a host.
func hostName(u weburl.URL) string {
	host := safe(strings.NewReplacer("[", "", "]", "", ":", "_").Replace(u.Hostname()))
	if u.Port() != "" {
		host += "+" + u.Port()
	}
	return host
}

// hash is what tells the files of URLs apart whose names do not.
func hash(u weburl.URL, digits int) string {
	sum := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(sum[:])[:digits]
}

// shorten cuts a name that is too long for file systems, and tells it from others by a hash. It keeps the end ext.
func shorten(name string, u weburl.URL, ext string) string {
	if len(name) <= maxName {
		return name
	}
	ext = shortExt(ext)
	if ext == "" { // of a directory: the same for all that lies in it
		sum := sha256.Sum256([]byte(name))
		return cut(name, maxName-20) + "~" + hex.EncodeToString(sum[:])[:8]
	}
	return cut(name, maxName-20-len(ext)) + "~" + hash(u, 8) + ext
}

// shortExt is an end of a name, if it is one that tells a type.
func shortExt(ext string) string {
	if len(ext) > 12 {
		return ""
	}
	return ext
}

// cut cuts a text at the start of a character.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// safe makes a part of a URL the name of a file or directory that every usual file system takes: what it may not hold
// stays percent-encoded. Names stay different where the parts are, but for their case.
func safe(part string) string {
	var b strings.Builder
	text := decoded(part)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n <= 1 || !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|%`, r) {
			for _, c := range []byte(text[i : i+n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteRune(r)
		}
		i += n
	}
	name := b.String()
	if end := len(name) - 1; end >= 0 && (name[end] == '.' || name[end] == ' ') { // . and .. among them
		name = name[:end] + fmt.Sprintf("%%%02X", name[end])
	}
	if name == "" {
		return "_"
	}
	if isDevice(name) {
		return "_" + name
	}
	return name
}

// decoded undoes percent-encoding; a stray % stays.
func decoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				out = append(out, b[0])
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// isDevice reports whether Windows takes a name for a device, whatever its end.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch base = strings.TrimRight(base, " "); base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	port, is := strings.CutPrefix(base, "com")
	if !is {
		port, is = strings.CutPrefix(base, "lpt")
	}
	return is && utf8.RuneCountInString(port) == 1 && strings.ContainsAny(port, "123456789¹²³")
}

// folded is what names have in common that are one on some file system: case and Unicode form do not count.
func folded(name string) string { return strings.ToLower(norm.NFC.String(name)) }

// names gives every URL a file of its own.
type names struct {
	dirs  map[string]bool
	taken map[string]bool
}

// newNames notes the directories of all plain names, as a file must not be where one is to be.
func newNames(plain []string) *names {
	n := &names{dirs: map[string]bool{}, taken: map[string]bool{folded(partName): true}}
	for _, p := range plain {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			f := folded(dir)
			if n.dirs[f] {
				break
			}
			n.dirs[f] = true
		}
	}
	return n
}

// of returns the name of a URL's file: the plain one, or with a hash where that is another's.
func (n *names) of(u weburl.URL, plain string) string {
	name, ext := plain, path.Ext(plain)
	for digits := 8; n.dirs[folded(name)] || n.taken[folded(name)]; digits += 8 {
		name = strings.TrimSuffix(plain, ext) + "~" + hash(u, min(digits, 64)) + ext
	}
	n.taken[folded(name)] = true
	return name
}
