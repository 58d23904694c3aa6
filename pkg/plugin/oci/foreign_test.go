package oci

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/repotest"
)

const use = "shop/price@1.0.0"

// liar is a registry that answers with what it was given.
type liar struct {
	manifest []byte
	kind     string // its media type; empty: that of a manifest
	blobs    map[digest.Digest][]byte
	instead  http.HandlerFunc // answers all; nil: nothing
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case l.instead != nil:
		l.instead(w, r)
	case strings.Contains(r.URL.Path, "/manifests/"):
		kind := l.kind
		if kind == "" {
			kind = ocispec.MediaTypeImageManifest
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(l.manifest)
	case strings.Contains(r.URL.Path, "/blobs/"):
		data, ok := l.blobs[digest.Digest(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(data)
	}
}

// honest is what a good registry has of a package, to be spoilt.
func honest(t *testing.T, name string) (l *liar, m *ocispec.Manifest) {
	t.Helper()
	p := repotest.Pack(t, name, "one")
	m = &ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, ArtifactType: ArtifactType,
		Config: ocispec.DescriptorEmptyJSON,
		Layers: []ocispec.Descriptor{of(packageType, p.Bytes, "p.tar"), of(signatureType, []byte("signed"), "p.minisig")}}
	return &liar{blobs: map[digest.Digest][]byte{digest.Digest(p.Digest): p.Bytes,
		digest.FromString("signed"): []byte("signed")}}, m
}

func served(t *testing.T, h http.Handler, set Settings) *Registry {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	r, err := Open("oci+http://"+strings.TrimPrefix(s.URL, "http://"), set)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What a registry has that is no plug-in, or not the one that was asked for, is refused and named.
func TestForeignArtifactsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(l *liar, m *ocispec.Manifest)
		says  string
	}{
		"nothing wrong": {func(*liar, *ocispec.Manifest) {}, ""},
		"a list of manifests": {func(l *liar, _ *ocispec.Manifest) { l.kind = ocispec.MediaTypeImageIndex },
			"image.index"},
		"an image":  {func(_ *liar, m *ocispec.Manifest) { m.ArtifactType = "" }, ArtifactType},
		"no layers": {func(_ *liar, m *ocispec.Manifest) { m.Layers = nil }, "no layer"},
		"two packages": {func(_ *liar, m *ocispec.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) },
			"2 layers"},
		"a layer too large":   {func(_ *liar, m *ocispec.Manifest) { m.Layers[0].Size = maxPackage + 1 }, "want at most"},
		"a layer of -1 bytes": {func(_ *liar, m *ocispec.Manifest) { m.Layers[0].Size = -1 }, "want at most"},
		"a digest that is none": {func(_ *liar, m *ocispec.Manifest) { m.Layers[0].Digest = "../../etc" },
			"want one of sha256"},
		"another algorithm": {func(_ *liar, m *ocispec.Manifest) { m.Layers[0].Digest = digest.SHA512.FromString("x") },
			"want one of sha256"},
		"a layer that is longer": {func(_ *liar, m *ocispec.Manifest) { m.Layers[0].Size-- }, "trailing data"},
		"a signature too large": {func(_ *liar, m *ocispec.Manifest) { m.Layers[1].Size = maxSignature + 1 },
			"want at most"},
		"other bytes": {func(l *liar, m *ocispec.Manifest) {
			l.blobs[m.Layers[0].Digest] = []byte(strings.Repeat("x", int(m.Layers[0].Size)))
		}, "digest"},
		"no package": {func(l *liar, m *ocispec.Manifest) {
			m.Layers[0] = of(packageType, []byte("no tar"), "p.tar")
			l.blobs[m.Layers[0].Digest] = []byte("no tar")
		}, "no plug-in"},
		"a layer that is not there": {func(l *liar, _ *ocispec.Manifest) { clear(l.blobs) }, "lost a layer"},
	} {
		t.Run(name, func(t *testing.T) {
			l, m := honest(t, use)
			c.spoil(l, m)
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			l.manifest = text
			p, signature, err := served(t, l, Settings{AllowPrivate: true}).Fetch(t.Context(), use)
			if c.says == "" {
				if err != nil || p.Descriptor.Use() != use || string(signature) != "signed" {
					t.Errorf("%q, %v", signature, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, repo.ErrUnavailable) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}

// A package that says that it is another is not taken.
func TestAPackageOfAnotherName(t *testing.T) {
	l, m := honest(t, "evil/price@1.0.0")
	l.manifest, _ = json.Marshal(m) // it was made just now
	_, err := repo.Fetch(t.Context(), served(t, l, Settings{AllowPrivate: true}), use)
	if err == nil || !strings.Contains(err.Error(), "says that it is evil/price@1.0.0") {
		t.Error(err)
	}
}

// A registry that is in trouble, slow or endless costs no more than the time that it was given, and a bounded memory.
func TestRegistriesThatDoNotAnswerAsTheyShould(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
		later  bool          // it is told as something that passes
		within time.Duration // the time that it is given; 0: enough for an answer
	}{
		"always busy": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
			"503", true, 0},
		"asked too often": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
			"429", true, 0},
		"silent": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "", true,
			300 * time.Millisecond},
		"endless": {endless, "", true, 300 * time.Millisecond},
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
			"docker login", false, 0},
		"a teapot": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, "418", false,
			0},
		"a page for people": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Welcome</html>") }, "",
			false, 0},
		"sends in a circle": {func(w http.ResponseWriter,
			r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "", true, 0},
		"cuts connections": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", true, 0},
		"a realm that is no": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="::"`)
			w.WriteHeader(http.StatusUnauthorized)
		}, "", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			r := served(t, &liar{instead: c.answer}, Settings{AllowPrivate: true, Timeout: c.within})
			_, _, err := r.Fetch(t.Context(), use)
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, repo.ErrUnavailable) != c.later {
				t.Errorf("%v; want %q, passing %v", err, c.says, c.later)
			}
			if _, err := r.Publish(t.Context(), repotest.Pack(t, use, "one"), nil); err == nil {
				t.Error("it is published")
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// A registry may send on to an address that is a secret for a while: no message has it.
func TestAddressesThatAreSecretsAreNotTold(t *testing.T) {
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/blob?signature=very-secret", http.StatusTemporaryRedirect)
	}
	_, _, err := served(t, &liar{instead: away}, Settings{AllowPrivate: true}).Fetch(t.Context(), use)
	if err == nil || strings.Contains(err.Error(), "very-secret") || !errors.Is(err, repo.ErrUnavailable) {
		t.Error(err)
	}
}

// Where a stranger names the registry, neither it nor what it sends on to may be a private address.
func TestAStrangersRegistryIsPublic(t *testing.T) {
	asked := 0
	_, err := repo.Fetch(t.Context(), served(t, &liar{instead: func(http.ResponseWriter, *http.Request) { asked++ }},
		Settings{Timeout: 20 * time.Second}), use)
	if err == nil || !strings.Contains(err.Error(), "loopback") || asked > 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

func TestWithoutTLS(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	r, err := Open("oci://"+strings.TrimPrefix(s.URL, "http://"), Settings{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Fetch(t.Context(), use); err == nil || !strings.Contains(err.Error(), "oci+http://127.0.0.1") {
		t.Error(err)
	}
}

func TestAddresses(t *testing.T) {
	hex := strings.Repeat("a", 64)
	for text, want := range map[string]string{
		"oci://r.example/shop/price:1.0.0":                   "oci://r.example shop/price@1.0.0 ",
		"oci://r.example:5000/a/b/shop/price:1.0.0":          "oci://r.example:5000/a/b shop/price@1.0.0 ",
		"oci+http://127.0.0.1:5000/shop/price:1.0.0":         "oci+http://127.0.0.1:5000 shop/price@1.0.0 ",
		"oci://r.example/shop/price:1.0.0@sha256:" + hex:     "oci://r.example shop/price@1.0.0 sha256:" + hex,
		"oci://r.example/shop/price":                         "",
		"oci://r.example/shop/price:latest":                  "",
		"oci://r.example:5000/shop/price":                    "",
		"oci://r.example/price:1.0.0":                        "",
		"oci://shop/price:1.0.0":                             "",
		"oci://r.example/shop/price:1.0.0@sha256:" + hex[1:]: "",
		"oci://r.example/Shop/price:1.0.0":                   "",
		"oci://r.example/../shop/price:1.0.0":                "",
		"oci://r.example//shop/price:1.0.0":                  "",
		"oci://user:pass@r.example/shop/price:1.0.0":         "",
		"oci://r.example/a?b=c/shop/price:1.0.0":             "",
		"oci:///shop/price:1.0.0":                            "",
		"https://r.example/shop/price:1.0.0":                 "",
		"r.example/shop/price:1.0.0":                         "",
		"":                                                   "",
	} {
		address, use, pin, err := Split(text)
		if err == nil {
			_, err = placeOf(address)
		}
		if got := address + " " + use + " " + pin; err == nil != (want != "") || err == nil && got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"oci://r.example": "oci://r.example/",
		"oci://r.example/a/b/": "oci://r.example/a/b", "oci+http://[::1]:5000/a": "oci+http://[::1]:5000/a"} {
		if p, err := placeOf(text); err != nil || p.String() != want {
			t.Errorf("%s: %s, %v; want %s", text, p, err, want)
		}
	}
}

// No manifest makes the reader fail, or lets more be fetched than is allowed.
func FuzzManifest(f *testing.F) {
	good, _ := json.Marshal(ocispec.Manifest{ArtifactType: ArtifactType,
		Layers: []ocispec.Descriptor{of(packageType, []byte("x"), "x")}}) // it is plain
	f.Add(good)
	f.Add([]byte(`{"layers":[{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := check(ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest}, text)
		if err != nil {
			return
		}
		if m.pack.Size < 0 || m.pack.Size > maxPackage || m.pack.Digest.Algorithm() != digest.SHA256 ||
			m.signature != nil && m.signature.Size > maxSignature {
			t.Errorf("%+v", m)
		}
	})
}

// An address that is taken makes the same registry and plug-in when it is put together again.
func FuzzAddress(f *testing.F) {
	f.Add("oci://r.example/plugins/shop/price:1.0.0")
	f.Fuzz(func(t *testing.T, text string) {
		address, use, pin, err := Split(text)
		if err != nil {
			return
		}
		p, err := placeOf(address)
		if err != nil {
			return
		}
		again := strings.TrimSuffix(p.String(), "/") + "/" + strings.Replace(use, "@", ":", 1)
		if pin != "" {
			again += "@" + pin
		}
		if again != text {
			t.Errorf("%q became %q", text, again)
		}
	})
}
