package mdfiles

import (
	"crypto/sha256"
	"encoding/base32"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of a name. Most file systems take 255 bytes a part; Windows 260 of a whole path by default, and long paths are
// hard to handle everywhere.
const (
	maxPart  = 80 // bytes, before the mark
	maxParts = 12 // folders below that of the host
)

// Name returns the path of a page's file, with slashes, below the directory of all: host, path, ".md". It depends on
// nothing but the URL, so that a crawl that goes on, and an export, find the same names whatever came before.
//
// Two URLs never have the same name, also where a file system does not tell capital letters. A part of a path that is
// plain (a-z, 0-9, ".", "_" and "-", of no special meaning anywhere) stands for itself. Any other is written with what
// of it is readable, "~", and a hash of it; "~" is in no plain part.
func Name(u weburl.URL) string {
	parts := strings.Split(strings.TrimPrefix(u.Path(), "/"), "/")
	last := parts[len(parts)-1]
	folders := make([]string, 0, len(parts)+1)
	folders = append(folders, hostPart(u))
	if len(parts) > maxParts {
		whole := u.Path() + "?" + u.Query()
		for _, p := range parts[:maxParts-1] {
			folders = append(folders, folder(p))
		}
		return strings.Join(append(folders, marked(last, whole)), "/") + ".md"
	}
	for _, p := range parts[:len(parts)-1] {
		folders = append(folders, folder(p))
	}
	return strings.Join(append(folders, file(last, u)), "/") + ".md"
}

// hostPart is the folder of an origin: the host for https at the default port, with scheme or port where they differ.
func hostPart(u weburl.URL) string {
	name := u.Hostname()
	if !plain(name) {
		name = marked(name, name)
	}
	if u.Scheme() != "https" {
		name += "~" + u.Scheme()
	}
	if p := u.Port(); p != "" {
		name += "~" + p
	}
	return name
}

// folder is the name of a folder. One that ends in ".md" would be that of a file.
func folder(part string) string {
	if plain(part) && !strings.HasSuffix(part, ".md") {
		return part
	}
	return marked(part, part)
}

// file is the name of a page's file, without its end. That of a folder's own page is index.
func file(part string, u weburl.URL) string {
	switch q := u.RequestURI(); {
	case strings.Contains(q, "?"):
		return marked(part+"_"+u.Query(), part+"?"+u.Query())
	case part == "":
		return "index"
	case part == "index" || !plain(part):
		return marked(part, part)
	}
	return part
}

// plain reports whether a part of a path may stand for itself.
func plain(part string) bool {
	if part == "" || len(part) > maxPart || part[0] == '.' || part[len(part)-1] == '.' {
		return false
	}
	for i := range len(part) {
		c := part[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return !device(part)
}

// device reports whether Windows takes a name for a device, whatever its end.
func device(part string) bool {
	base, _, _ := strings.Cut(part, ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (base[:3] == "com" || base[:3] == "lpt") && base[3] >= '0' && base[3] <= '9'
}

var hashes = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// marked is what is readable of a part, and a hash of what it is. The hash comes too late for Windows, which takes all
// names for devices that begin so before their first dot.
func marked(readable, whole string) string {
	if s, err := url.PathUnescape(readable); err == nil && utf8.ValidString(s) {
		readable = s
	}
	var b strings.Builder
	for _, r := range readable {
		if b.Len() >= maxPart {
			break
		}
		if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && r != '.' && r != '-' {
			r = '_'
		}
		b.WriteRune(r)
	}
	name := strings.TrimLeft(b.String(), ".")
	if device(strings.ToLower(name)) {
		name = "_" + name
	}
	sum := sha256.Sum256([]byte(whole))
	return name + "~" + hashes.EncodeToString(sum[:10])
}
