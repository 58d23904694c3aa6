package fakeweb

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/html"
)

// unpackers undo the encodings of the bombs with decoders that are not ours.
var unpackers = map[string]func(io.Reader) (io.Reader, error){
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
	"br":      func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	"zstd": func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	},
	"gzip, gzip": func(r io.Reader) (io.Reader, error) {
		outer, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		return gzip.NewReader(outer)
	},
}

// Bombs must be valid to the last checksum: a decoder that gives up early would let a client pass that has no limit.
func TestBombsAreValidToTheEnd(t *testing.T) {
	for encoding, pack := range map[string]func(int) []byte{"gzip": gzipBomb, "deflate": zlibBomb, "br": brotliBomb,
		"zstd": zstdBomb} {
		for _, mebis := range []int{2, 5} {
			r, err := unpackers[encoding](bytes.NewReader(pack(mebis)))
			if err != nil {
				t.Fatalf("%s: %v", encoding, err)
			}
			if n, err := io.Copy(zeroes{t}, r); err != nil || n != int64(mebis)<<20 {
				t.Errorf("%s: %d bytes, %v, want %d MiB", encoding, n, err, mebis)
			}
		}
	}
}

type zeroes struct{ t *testing.T }

func (z zeroes) Write(p []byte) (int, error) {
	if len(bytes.Trim(p, "\x00")) > 0 {
		z.t.Error("not all bytes are 0")
	}
	return len(p), nil
}

func TestBombsAreSmallAndUnpackFar(t *testing.T) {
	srv := httptest.NewServer(NewHostile(time.Millisecond))
	defer srv.Close()
	n := 0
	for _, c := range NewHostile(0).Cases() {
		if !strings.HasPrefix(c.Path, "/bomb/") {
			continue
		}
		n++
		resp, body := fetch(t, bare(t), "GET", srv.URL+c.Path)
		encoding := resp.Header.Get("Content-Encoding")
		if encoding == "" {
			encoding = "gzip"
		}
		if len(body) > 3<<20 {
			t.Errorf("%s: %d bytes on the wire", c.Name, len(body))
		}
		r, err := unpackers[encoding](bytes.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if got, err := io.CopyN(io.Discard, r, 50<<20); err != nil {
			t.Errorf("%s: ends after %d bytes: %v", c.Name, got, err)
		}
	}
	if n < 5 {
		t.Errorf("%d bombs", n)
	}
}

// bare is a client that undoes no encoding and follows no redirect.
func bare(t *testing.T) *http.Client {
	tr := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answerOf sends a request and returns up to limit raw bytes of the answer, and whether it ended by itself within a
// moment.
func answerOf(t *testing.T, addr, path string, limit int64, patience time.Duration) (answer []byte, ended bool) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path)
	answer, err = io.ReadAll(io.LimitReader(c, limit))
	var ne net.Error
	late := errors.As(err, &ne) && ne.Timeout()
	return answer, !late && int64(len(answer)) < limit
}

func TestHostileAnswersAreWhatTheyClaim(t *testing.T) {
	h := NewHostile(5 * time.Millisecond)
	srv := httptest.NewServer(h)
	defer srv.Close()
	names, paths := map[string]bool{}, map[string]bool{}
	for _, c := range h.Cases() {
		if names[c.Name] || paths[c.Path] || c.Name == "" {
			t.Errorf("%s: name or path is not its own", c.Name)
		}
		names[c.Name], paths[c.Path] = true, true
		patience := time.Minute // for an answer that ends
		if c.Forever {
			patience = 150 * time.Millisecond
		}
		answer, ended := answerOf(t, srv.Listener.Addr().String(), c.Path, 2<<20, patience)
		if bytes.HasPrefix(answer, []byte("HTTP/1.1 404")) || bytes.HasPrefix(answer, []byte("HTTP/1.1 500")) {
			t.Errorf("%s: %.40q", c.Name, answer)
		}
		if c.Forever && ended {
			t.Errorf("%s: ended after %d bytes", c.Name, len(answer))
		}
		if strings.HasPrefix(c.Path, "/redirect/") && !bytes.Contains(answer, []byte("\r\nLocation:")) {
			t.Errorf("%s: %.80q", c.Name, answer)
		}
	}
	for _, want := range []string{"silence", "trickle", "endless headers", "endless body", "redirect to metadata",
		"redirect to a file", "reset midway", "HTTP/0.9", "huge cookies", "nested elements", "malformed HTML", "NUL bytes",
		"wrong charset", "length too long"} {
		if !names[want] {
			t.Errorf("no case %q", want)
		}
	}
}

// net/http must fail where the framing is broken; a case it reads in full attacks nothing.
func TestBrokenFramingIsBroken(t *testing.T) {
	h := NewHostile(time.Millisecond)
	srv := httptest.NewServer(h)
	defer srv.Close()
	lenient := map[string]bool{"length too short": true, "status 999": true, "status 000": true, "length and chunks": true,
		"huge cookies": true}
	for _, c := range h.brokenFraming() {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+c.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := bare(t).Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if (err == nil) != lenient[c.Name] {
			t.Errorf("%s: %v", c.Name, err)
		}
		cancel()
	}
}

func TestHostileContentIsComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	srv := httptest.NewServer(NewHostile(time.Millisecond))
	defer srv.Close()
	for _, c := range []struct {
		path  string
		least int
		holds string
	}{
		{"/content/malformed", 100<<20 - 1<<20, "<svg><math>"},
		{"/content/nested", 11_000_000, "<a href=\"/innermost\">"},
		{"/content/attributes", 1_000_000, " a99999=99999>"},
		{"/content/links", 20_000_000, "/l/9999\""},
		{"/content/long-link", 10 << 20, "xx\">x</a>"},
		{"/content/nul", 10_000, "\x00"},
	} {
		_, body := fetch(t, bare(t), "GET", srv.URL+c.path)
		if len(body) < c.least || !bytes.Contains(body, []byte(c.holds)) {
			t.Errorf("%s: %d bytes, want %d with %q", c.path, len(body), c.least, c.holds)
		}
	}
	_, body := fetch(t, bare(t), "GET", srv.URL+"/content/nested")
	if _, err := html.Parse(bytes.NewReader(body)); err == nil {
		t.Log("x/net/html parses a million nested elements by now")
	}
}
