package warc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestResponsesComeBack(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"http://a.test/1": []byte("<p>one"), "http://a.test/2": []byte("two\r\n\r\nparts"),
		"http://a.test/3": {}}
	for raw, body := range want {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		x := &crawl.Exchange{URL: u, Started: time.Now(), Method: "GET", Proto: "HTTP/1.1", Status: "200 OK",
			ResponseHeader: http.Header{"Content-Type": {"text/html"}}, Body: body, Digest: sha256.Sum256(body)}
		if err := w.Write(context.Background(), x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	err = EachResponse(bytes.NewReader(data), 1<<20, func(r *Response) error {
		body, ok := want[r.URI]
		if got++; !ok || !bytes.Equal(body, r.Body) || r.Digest != sha256.Sum256(body) {
			t.Errorf("response %q with the body %q", r.URI, r.Body)
		}
		return nil
	})
	if err != nil || got != len(want) {
		t.Errorf("%d responses, %v; want %d", got, err, len(want))
	}
	if err := EachResponse(bytes.NewReader(data[:len(data)-20]), 1<<20, func(*Response) error { return nil }); err == nil {
		t.Error("half an archive is read without an error")
	}
}

func FuzzEachResponse(f *testing.F) {
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = EachResponse(bytes.NewReader(data), 1<<16, func(r *Response) error {
			if len(r.Body) > 1<<16 {
				t.Errorf("a body of %d bytes", len(r.Body))
			}
			return nil
		})
	})
}
