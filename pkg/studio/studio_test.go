package studio

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sources is the digest of what the studio is built of; studio/pack.mjs writes the same.
func sources(t *testing.T) string {
	t.Helper()
	const root = "../../studio"
	names := []string{"index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"}
	for _, dir := range []string{"src", "public"} {
		err := fs.WalkDir(os.DirFS(root), dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(n)))
		if err != nil {
			t.Fatal(err)
		}
		sum.Write([]byte(n + "\x00"))
		sum.Write(data)
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// The committed files are those of the committed source.
func TestStudioIsFresh(t *testing.T) {
	have, err := files.ReadFile("dist/SOURCES")
	if err != nil {
		t.Fatal(err)
	}
	if want := sources(t); strings.TrimSpace(string(have)) != want {
		t.Errorf("pkg/studio/dist was built of another source: run `make studio`, and commit what it changes")
	}
}

func get(h http.Handler, path, encoding, etag string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	r.Header.Set("If-None-Match", etag)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHandler(t *testing.T) {
	h := Handler()
	index := get(h, "/", "", "")
	if index.Code != http.StatusOK || !strings.Contains(index.Body.String(), `<div id="root">`) {
		t.Fatalf("/: %d %q", index.Code, index.Body.String())
	}
	if c := index.Header().Get("Cache-Control"); c != "no-cache" {
		t.Errorf("/ may be kept: %q", c)
	}
	if again := get(h, "/", "", index.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("/ again: %d with %d bytes, want 304 with none", again.Code, again.Body.Len())
	}
	all := load(files)
	if len(all) < 5 {
		t.Fatalf("%d files", len(all))
	}
	for name, f := range all {
		plain, packed := get(h, "/"+name, "", ""), get(h, "/"+name, "gzip", "")
		if !bytes.Equal(plain.Body.Bytes(), f.plain) || packed.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %d, and packed: %q", name, plain.Code, packed.Header().Get("Content-Encoding"))
			continue
		}
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if un, err := io.ReadAll(z); err != nil || !bytes.Equal(un, f.plain) {
			t.Errorf("%s.gz is not %s: run `make studio` (%v)", name, name, err)
		}
		for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(plain.Header().Get("Content-Security-Policy"), want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
		if fixed := strings.HasPrefix(name, "assets/"); fixed != strings.Contains(plain.Header().Get("Cache-Control"),
			"immutable") {
			t.Errorf("%s: Cache-Control %q", name, plain.Header().Get("Cache-Control"))
		}
	}
	for _, path := range []string{"/none", "/SOURCES", "/assets/", "/../studio.go", "/index.html.gz",
		"/%2e%2e/studio.go"} {
		if w := get(h, path, "", ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
