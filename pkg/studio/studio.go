// Package studio serves the browser's part of Whirlpool: the files that `make studio` builds of studio/ and puts into
// dist. They are committed, so that `go run` needs no Node.js; a test says when they are older than their source.
package studio

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed dist
var files embed.FS

// Policy is the Content-Security-Policy of the studio: a page may load what this server has, and nothing else. No page
// may frame it. React sets style attributes. The API sends the policy too.
const Policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// file is one file of the studio in both its forms.
type file struct {
	plain, packed []byte // packed: gzip; nil: there is none
	kind, etag    string
	fixed         bool // its name changes with its content
}

// Handler serves the studio at /. Whatever is no file of it is not found: its pages have their addresses behind the #.
func Handler() http.Handler {
	all := load(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		f, ok := all[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r)
	})
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	if f.fixed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("ETag", f.etag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if f.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	_, _ = w.Write(body) // whoever asked has gone
}

// kinds are the media types of files; those of the system are not relied on.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// load reads the files once. Those whose kind is not known are not served.
func load(from fs.FS) map[string]*file {
	all := map[string]*file{}
	_ = fs.WalkDir(from, "dist", func(name string, d fs.DirEntry, err error) error { // an embedded tree can be read
		kind := ""
		if err == nil && !d.IsDir() {
			kind = kinds[path.Ext(name)]
		}
		if kind == "" {
			return err
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		f := &file{plain: data, kind: kind, etag: `"` + hex.EncodeToString(sum[:8]) + `"`,
			fixed: strings.Contains(name, "/assets/")}
		f.packed, _ = fs.ReadFile(from, name+".gz")
		all[strings.TrimPrefix(name, "dist/")] = f
		return nil
	})
	return all
}
