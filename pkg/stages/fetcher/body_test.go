package fetcher

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// encode applies encodings in order.
func encode(tb testing.TB, data []byte, names ...string) []byte {
	tb.Helper()
	for _, name := range names {
		var buf bytes.Buffer
		var w io.WriteCloser
		switch name {
		case "gzip", "x-gzip":
			w = gzip.NewWriter(&buf)
		case "deflate":
			w = zlib.NewWriter(&buf)
		case "raw-deflate":
			w, _ = flate.NewWriter(&buf, 6)
		case "br":
			w = brotli.NewWriterLevel(&buf, 5)
		case "zstd":
			w, _ = zstd.NewWriter(&buf)
		}
		if _, err := w.Write(data); err != nil {
			tb.Fatal(err)
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		data = bytes.Clone(buf.Bytes())
	}
	return data
}

// answering serves one body with one Content-Encoding.
func answering(tb testing.TB, encoding string, data []byte) string {
	return serve(tb, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if encoding != "" {
			w.Header().Set("Content-Encoding", encoding)
		}
		_, _ = w.Write(data)
	})
}

func text(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, n+10)
	for len(b) < n {
		b = fmt.Appendf(b, "<p>%x</p> ", rng.Uint32())
	}
	return b[:n]
}

func TestEncodingsAreUndone(t *testing.T) {
	b := newBench(t, nil)
	data := text(100_000)
	for _, tc := range []struct {
		header  string
		applied []string
	}{
		{"", nil}, {"identity", nil}, {"gzip", []string{"gzip"}}, {"X-GZIP", []string{"gzip"}}, {"br", []string{"br"}},
		{"zstd", []string{"zstd"}}, {"deflate", []string{"deflate"}}, {"deflate", []string{"raw-deflate"}},
		{"gzip, br", []string{"gzip", "br"}}, {"br , identity, zstd,gzip", []string{"br", "zstd", "gzip"}},
		// what is no encoding is passed over
		{"UTF-8", nil}, {"none", nil}, {"binary", nil}, {"chunked", nil}, {"text/html", nil},
		{"aws-chunked, gzip", []string{"gzip"}},
		{`"gzip"`, []string{"gzip"}}, {"gzip;q=1.0", []string{"gzip"}},
	} {
		t.Run(strings.Join(tc.applied, "+")+" as "+tc.header, func(t *testing.T) {
			for range 2 { // the second one with decoders that were used before
				r := b.get(answering(t, tc.header, encode(t, data, tc.applied...)), nil)
				r.want(t, crawl.VerdictDone, "")
				if !bytes.Equal(r.body, data) || r.Digest != sha256.Sum256(data) || r.Bytes != int64(len(data)) {
					t.Errorf("%d bytes, want %d", len(r.body), len(data))
				}
			}
		})
	}
}

func TestMembersAndPaddingOfGzip(t *testing.T) {
	b := newBench(t, nil)
	one, two := encode(t, []byte("one "), "gzip"), encode(t, []byte("two"), "gzip")
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"members":        {append(bytes.Clone(one), two...), "one two"},
		"zeros after":    {append(bytes.Clone(two), make([]byte, 700)...), "two"},
		"a byte after":   {append(bytes.Clone(two), 'x'), "two"},
		"nothing at all": {nil, ""},
	} {
		r := b.get(answering(t, "gzip", tc.data), nil)
		r.want(t, crawl.VerdictDone, "")
		if string(r.body) != tc.want {
			t.Errorf("%s: %q, want %q", name, r.body, tc.want)
		}
	}
}

func TestBodyThatIsNotInItsEncodingIsRefused(t *testing.T) {
	b := newBench(t, nil)
	good := map[string][]byte{}
	for _, name := range []string{"gzip", "br", "zstd", "deflate"} {
		good[name] = encode(t, text(5000), name)
	}
	for name, tc := range map[string]struct {
		encoding string
		data     []byte
	}{
		"not undone":    {"compress", []byte("x")},
		"not undone, 2": {"utf-8, bzip2", []byte("x")},
		"four of them":  {"gzip, gzip, gzip, gzip", good["gzip"]},
		"image as gzip": {"gzip", []byte("\x89PNG\r\n\x1a\n not gzip")},
		"image as br":   {"br", []byte("\x89PNG\r\n\x1a\n not brotli, surely not")},
		"image as zstd": {"zstd", []byte("\x89PNG\r\n\x1a\n not zstd")},
		"gzip as br":    {"br", good["gzip"]},
		"wrong data":    {"gzip", append(bytes.Clone(good["gzip"][:10]), bytes.Repeat([]byte{0xff}, 900)...)},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.get(answering(t, tc.encoding, tc.data), nil)
			r.want(t, crawl.VerdictRefused, crawl.ReasonEncoding)
			if r.page != nil || b.mem.Len() != 0 {
				t.Errorf("page %v, %d bodies in the spool", r.page, b.mem.Len())
			}
		})
	}
}

// What does not come to the end of its encoding may do so next time.
func TestBodyThatIsCutWithinItsEncodingIsAskedForAgain(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{"gzip", "br", "zstd", "deflate"} {
		good := encode(t, text(5000), name)
		for _, n := range []int{1, 3, 900} {
			r := b.get(answering(t, name, good[:n]), nil)
			r.want(t, crawl.VerdictRetry, crawl.ReasonBroken)
			if r.page != nil || b.mem.Len() != 0 {
				t.Errorf("%s, %d: page %v, %d bodies in the spool", name, n, r.page, b.mem.Len())
			}
		}
	}
}

// Whoever writes an encoding by hand gets its end wrong, and whoever undoes one leaves its name.
func TestEncodingsThatBrowsersTake(t *testing.T) {
	b := newBench(t, nil)
	data := text(5000)
	zip, zlib := encode(t, data, "gzip"), encode(t, data, "deflate")
	sum := len(zip) - 8
	named := slices.Concat(zip[:3], []byte{0x1e}, zip[4:10], []byte{2, 0, 'a', 0}, []byte("name\x00remark\x00\x12\x34"),
		zip[10:])
	for name, tc := range map[string]struct {
		encoding string
		data     []byte
	}{
		"no checksum":          {"gzip", zip[:sum]},
		"half a checksum":      {"gzip", zip[:sum+4]},
		"wrong checksum":       {"gzip", append(bytes.Clone(zip[:sum]), "00000000"...)},
		"zlib's within gzip's": {"gzip", append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"), zlib...)},
		"all fields":           {"gzip", named},
		"zlib without":         {"deflate", zlib[:len(zlib)-4]},
		"zlib as gzip":         {"gzip", zlib},
		"gzip as deflate":      {"deflate", zip},
		"plain as gzip":        {"gzip", data},
		"plain as deflate":     {"deflate", data},
		"plain as br":          {"br", data},
		"plain as zstd":        {"zstd", data},
		"gzip once of twice":   {"gzip, gzip", zip},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.get(answering(t, tc.encoding, tc.data), nil)
			r.want(t, crawl.VerdictDone, "")
			if !bytes.Equal(r.body, data) {
				t.Errorf("%d bytes, want %d", len(r.body), len(data))
			}
		})
	}
}

// A bomb must neither fill the memory nor be kept beyond the limit, whatever it is packed in.
func TestBombIsCutAtTheLimit(t *testing.T) {
	const limit = 1 << 20
	zeros := make([]byte, 16<<20)
	b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Limits.MaxBody = limit })
	for _, names := range [][]string{{"gzip"}, {"br"}, {"zstd"}, {"deflate"}, {"gzip", "gzip"}, {"br", "gzip", "zstd"}} {
		t.Run(strings.Join(names, "+"), func(t *testing.T) {
			r := b.get(answering(t, strings.Join(names, ","), encode(t, zeros, names...)), nil)
			r.want(t, crawl.VerdictDone, "")
			if len(r.body) != limit || r.page.Truncated != crawl.ReasonTruncatedMaxBody {
				t.Errorf("%d bytes, truncated %q", len(r.body), r.page.Truncated)
			}
		})
	}
}

// An inner layer may be endless without a single octet coming out at the end: members of gzip that are empty.
func TestLayerThatSwellsWithinIsCut(t *testing.T) {
	empty := encode(t, nil, "gzip")
	many := bytes.Repeat(empty, (8<<20)/len(empty))
	b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Limits.MaxBody = 1 << 20 })
	r := b.get(answering(t, "gzip, gzip", encode(t, many, "gzip")), nil)
	r.want(t, crawl.VerdictDone, "")
	if len(r.body) != 0 || r.page.Truncated == "" {
		t.Errorf("%d bytes, truncated %q", len(r.body), r.page.Truncated)
	}
}

func TestBodyOfExactlyTheLimitIsWhole(t *testing.T) {
	for _, names := range [][]string{nil, {"gzip"}} {
		for extra, truncated := range map[int]string{0: "", 1: crawl.ReasonTruncatedMaxBody} {
			b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Limits.MaxBody = 10_000 })
			r := b.get(answering(t, strings.Join(names, ""), encode(t, text(10_000+extra), names...)), nil)
			r.want(t, crawl.VerdictDone, "")
			if len(r.body) != 10_000 || r.page.Truncated != truncated {
				t.Errorf("%v + %d: %d bytes, truncated %q, want %q", names, extra, len(r.body), r.page.Truncated, truncated)
			}
		}
	}
}

// The same body read in other portions is the same body.
func TestReadsOfAnySizeAgree(t *testing.T) {
	data := text(70_000)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "data with EOF": iotest.DataErrReader,
	} {
		for _, enc := range []string{"", "gzip", "br", "zstd"} {
			var applied []string
			if enc != "" {
				applied = []string{enc}
			}
			b := bodyOver(t, wrap(bytes.NewReader(encode(t, data, applied...))), enc, 1<<20)
			head, err := b.sniff()
			if err != nil || len(head) != sniffLen {
				t.Fatalf("sniff: %d bytes, %v", len(head), err)
			}
			var got bytes.Buffer
			if _, err := io.Copy(&got, b); err != nil || !bytes.Equal(got.Bytes(), data) || b.digest() != sha256.Sum256(data) {
				t.Errorf("%s, %s: %d bytes, %v", name, enc, got.Len(), err)
			}
			b.release()
		}
	}
}

// bodyOver is a body that comes from r.
func bodyOver(tb testing.TB, r io.Reader, encoding string, limit int64) *body {
	tb.Helper()
	b, err := newBody(&source{from: r}, http.Header{"Content-Encoding": {encoding}}, limit)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestContentTypeDecidesWhatIsKept(t *testing.T) {
	html, png := "<!doctype html><p>x", "\x89PNG\x0d\x0a\x1a\x0a0000"
	for _, tc := range []struct {
		header, body string
		kind         crawl.Kind
		media        string
		ok           bool
	}{
		{"text/html", html, 0, "text/html", true},
		{"TEXT/HTML;charset=x", html, 0, "text/html", true},
		{"application/xhtml+xml", html, 0, "application/xhtml+xml", true},
		{"text/plain", png, 0, "text/plain", true}, // the header is believed
		{"", html, 0, "text/html", true},
		{"", png, 0, "image/png", false},
		{"", "", 0, "text/plain", true},
		{"", "<!doctype html><meta charset=windows-1251>\xcf", 0, "text/html", true},
		{"application/octet-stream", html, 0, "application/octet-stream", false}, // to be saved, not read
		{"unknown/unknown", html, 0, "text/html", true},
		{"nonsense", html, 0, "text/html", true},
		{"image/png", html, 0, "image/png", false},
		{"application/pdf", "%PDF-", 0, "application/pdf", false},
		{"application/rss+xml", "<rss>", 0, "application/rss+xml", false},
		{"application/rss+xml", "<rss>", crawl.KindSitemap, "application/rss+xml", true},
		{"application/x-gzip", "\x1f\x8b\x08", crawl.KindSitemap, "application/x-gzip", true},
		{"application/octet-stream", "\x1f\x8b\x08", crawl.KindSitemap, "application/octet-stream", true},
		{"text/plain", "http://a", crawl.KindSitemap, "text/plain", true},
		{"image/png", png, crawl.KindSitemap, "image/png", false},
	} {
		t.Run(fmt.Sprintf("%s %.5q %v", tc.header, tc.body, tc.kind), func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil
				if tc.header != "" {
					w.Header().Set("Content-Type", tc.header)
				}
				fmt.Fprint(w, tc.body)
			})
			r := newBench(t, nil).get(url, func(f *crawl.Fetch) { f.Task.Kind = tc.kind })
			if tc.ok {
				r.want(t, crawl.VerdictDone, "")
			} else {
				r.want(t, crawl.VerdictRefused, crawl.ReasonMediaType)
			}
			if r.ContentType != tc.media || (r.page != nil) != tc.ok || string(r.body) != tc.body && tc.ok {
				t.Errorf("media type %q, page %v, body %q", r.ContentType, r.page, r.body)
			}
			if tc.header == "" && r.page != nil && r.page.ContentType != tc.media {
				t.Errorf("%q: what was found by the bytes says nothing of the encoding", r.page.ContentType)
			}
		})
	}
}

func TestPatternsOfMediaTypes(t *testing.T) {
	for _, tc := range []struct {
		patterns []string
		media    string
		want     bool
	}{
		{nil, "image/png", true}, {[]string{"text/*"}, "text/css", true}, {[]string{"Text/*"}, "text/css", true},
		{[]string{"text/*"}, "textual/x", false}, {[]string{"*/*"}, "a/b", true},
		{[]string{"text/html"}, "text/htmlx", false}, {[]string{"a/b", "TEXT/HTML"}, "text/html", true},
	} {
		if got := accepts(tc.patterns, tc.media); got != tc.want {
			t.Errorf("accepts(%q, %q) = %v", tc.patterns, tc.media, got)
		}
	}
}

// FuzzBody feeds foreign bytes to every decoder. Whatever they are, a body ends, within its limit, with the digest of
// what was read.
func FuzzBody(f *testing.F) {
	for _, name := range []string{"gzip", "br", "zstd", "deflate", "raw-deflate"} {
		data := encode(f, text(2000), name)
		f.Add(strings.TrimPrefix(name, "raw-"), data)
		f.Add(strings.TrimPrefix(name, "raw-"), data[:len(data)/2])
	}
	f.Add("br, gzip", encode(f, text(2000), "br", "gzip"))
	f.Fuzz(func(t *testing.T, encoding string, data []byte) {
		const limit = 1 << 16
		b, err := newBody(&source{from: bytes.NewReader(data)}, http.Header{"Content-Encoding": {encoding}}, limit)
		if err != nil {
			return
		}
		defer b.release()
		var got bytes.Buffer
		_, err = io.Copy(&got, b)
		if err != nil && !errors.Is(err, errEncoding) && !errors.Is(err, errCutShort) {
			t.Errorf("error %v is neither the network's nor a decoder's", err)
		}
		if got.Len() > limit || b.digest() != sha256.Sum256(got.Bytes()) || int64(got.Len()) != b.n {
			t.Errorf("%d bytes, counted %d", got.Len(), b.n)
		}
	})
}
