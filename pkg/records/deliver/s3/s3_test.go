package s3_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver/s3"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/delivertest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

func bucket(t testing.TB, s *servicetest.S3, change func(*s3.Options)) *s3.Bucket {
	t.Helper()
	opt := s3.Options{Endpoint: "http://" + s.Address, Bucket: "pages", AccessKey: "whirlpool", SecretKey: "whirlpool",
		AllowPrivate: true, PartSize: 5 << 20}
	if change != nil {
		change(&opt)
	}
	b, err := s3.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// place is a prefix of a store.
type place struct {
	s      *servicetest.S3
	prefix string
}

func (p place) Remote(t testing.TB) *deliver.Remote {
	return &deliver.Remote{Bucket: bucket(t, p.s, nil), Prefix: p.prefix, Where: "s3://pages/" + p.prefix}
}
func (p place) Rows(t testing.TB) []string { return delivertest.Rows(t, bucket(t, p.s, nil), p.prefix) }
func (p place) Wipe(t testing.TB) bool {
	b := bucket(t, p.s, nil)
	keys, err := b.Keys(t.Context(), p.prefix, 0)
	if err == nil {
		err = b.Delete(t.Context(), keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

func TestSuite(t *testing.T) {
	s := servicetest.StartS3(t, "pages")
	delivertest.Suite(t, delivertest.Options{Seeds: 1},
		func(t *testing.T) delivertest.Place { return place{s, t.Name() + "/"} })
}

// A store that is killed while parts are sent: when it runs again, the manifest lists the objects that are there, and
// their bytes are those of the rows.
func TestAStoreThatIsKilled(t *testing.T) {
	s := servicetest.StartS3(t, "pages")
	l, notes := &delivertest.Lines{}, &deliver.Forgetful{}
	text := make([]byte, 8<<10)
	_, _ = rand.Read(text)
	for i := range 1500 { // 20 MB of text that does not shrink: a part of an upload has 5 MiB
		l.Add(t, i, strings.ToValidUTF8(string(text), "?")+string(rune('a'+i%26)))
	}
	o := deliver.Output{Note: "output x", Dir: t.TempDir(), File: "a.jsonl", Settings: "1", PartBytes: 12 << 20,
		Options: export.Options{Format: export.JSONL, Columns: []string{"url", "title"}}}
	open := func() (deliver.File, error) {
		o := o
		o.To = place{s, "killed/"}.Remote(t)
		o.To.Owner, o.To.Job, o.To.Node = "me", "job", "node"
		return deliver.Open(t.Context(), notes, l, o, slog.New(slog.DiscardHandler))
	}
	kills := 0
	for done := false; !done; {
		w, err := open()
		if err != nil {
			t.Fatal(err)
		}
		var killer chan struct{}
		if kills < 4 {
			killer = make(chan struct{})
			go killWhileSent(t, s, time.Duration(kills)*15*time.Millisecond, killer)
		}
		for err == nil && w.Behind() {
			err = w.Step(t.Context())
		}
		if err == nil {
			err = w.Complete(t.Context(), true)
		}
		if killer != nil {
			<-killer
			s.Start(t)
			kills++
		}
		done = err == nil && w.Place().Whole && kills >= 4
		_ = w.Close()
	}
	if rows := delivertest.Rows(t, bucket(t, s, nil), "killed/"); len(rows) != 1500 {
		t.Errorf("%d rows", len(rows))
	}
	left, err := uploads(t, s)
	if err != nil || left != 0 {
		t.Errorf("%d uploads are left that nobody finishes: %v", left, err)
	}
}

// killWhileSent kills a store some time after an upload has begun in it, or after a second without one.
func killWhileSent(t testing.TB, s *servicetest.S3, later time.Duration, done chan<- struct{}) {
	defer close(done)
	for range 200 {
		if n, err := uploads(t, s); err == nil && n > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond) // there is nothing to wait on in a store
	}
	time.Sleep(later)
	s.Kill(t)
}

// uploads counts the uploads that are not finished.
func uploads(t testing.TB, s *servicetest.S3) (int, error) {
	b := bucket(t, s, nil)
	defer b.Close() //nolint:errcheck // it was only asked
	return b.Unfinished(t.Context(), "killed/")
}

func TestLargeObjectsAndFaults(t *testing.T) {
	s := servicetest.StartS3(t, "pages")
	b := bucket(t, s, nil)
	large := bytes.Repeat([]byte("0123456789abcdef"), 700<<10) // 11 MiB: three parts
	etag, err := b.Put(t.Context(), "large", bytes.NewReader(large), int64(len(large)), "text/plain")
	if err != nil || !strings.Contains(etag, "-") {
		t.Fatalf("%q, %v: want the ETag of an upload in parts", etag, err)
	}
	if got, err := b.Get(t.Context(), "large"); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := b.Get(t.Context(), "nothing"); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, change := range map[string]func(*s3.Options){
		"SignatureDoesNotMatch": func(o *s3.Options) { o.SecretKey = "geheim" },
		"access key ID":         func(o *s3.Options) { o.AccessKey = "nobody" },
		"NoSuchBucket":          func(o *s3.Options) { o.Bucket = "elsewhere" },
		"is loopback":           func(o *s3.Options) { o.AllowPrivate = false },
	} {
		b := bucket(t, s, change)
		_, err := b.Put(t.Context(), "x", strings.NewReader("x"), 1, "text/plain")
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("want %s: %v", name, err)
		}
	}
}

func newServer(t *testing.T, h http.HandlerFunc) string {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// An answer that is none of S3 is an error, not a panic.
func TestAServerThatIsNoStore(t *testing.T) {
	for _, answer := range []string{"", "<html>", "{}", "<Error><Code>", strings.Repeat("x", 1<<20)} {
		for _, status := range []int{200, 301, 403} {
			srv := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer)
			})
			b, err := s3.Open(s3.Options{Endpoint: srv, Bucket: "pages", AccessKey: "a", SecretKey: "b", AllowPrivate: true})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if data, err := b.Get(ctx, "x/manifest.json"); err == nil && json.Valid(data) && len(data) > 0 && answer != "{}" {
				t.Errorf("%d %.20q: %.20q", status, answer, data)
			}
			if keys, err := b.Keys(ctx, "x/", 0); err == nil && len(keys) > 0 {
				t.Errorf("%d %.20q: keys %q", status, answer, keys)
			}
			cancel()
		}
	}
	if _, err := s3.Open(s3.Options{Endpoint: "ftp://x"}); err == nil || errors.Is(err, io.EOF) {
		t.Error("an endpoint that is none")
	}
}
