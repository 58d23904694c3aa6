package warc_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var started = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func mustURL(tb testing.TB, s string) weburl.URL {
	tb.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

// page is an ordinary exchange; its body differs with i.
func page(tb testing.TB, i int) *crawl.Exchange {
	body := []byte(fmt.Sprintf("<html><title>Page %d</title>%s", i,
		strings.Repeat("<p>Some text of the page.\r\n\r\n", 40)))
	return &crawl.Exchange{
		URL: mustURL(tb, fmt.Sprintf("https://example.org/page/%d?q=a%%20b", i)), Started: started,
		Duration: 250 * time.Millisecond, Addr: netip.MustParseAddr("192.0.2.7"), Method: "GET",
		RequestHeader: http.Header{"User-Agent": {"Whirlpool/0.1.0"}, "Accept": {"text/html"}},
		Proto:         "HTTP/1.1", Status: "200 OK",
		ResponseHeader: http.Header{"Content-Type": {"text/html"}, "Set-Cookie": {"a=1", "b=2"}},
		Body:           body, Digest: sha256.Sum256(body), Referrer: mustURL(tb, "https://example.org/"), Depth: 2,
	}
}

func open(tb testing.TB, dir string, opt warc.Options) *warc.Writer {
	tb.Helper()
	if opt.Host == "" {
		opt.Host = "crawler1"
	}
	if opt.Now == nil {
		opt.Now = func() time.Time { return started }
	}
	w, err := warc.Open(dir, opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close() })
	return w
}

// write archives the exchanges in a fresh directory and returns it.
func write(tb testing.TB, opt warc.Options, xs ...*crawl.Exchange) string {
	tb.Helper()
	dir := tb.TempDir()
	w := open(tb, dir, opt)
	for _, x := range xs {
		if err := w.Write(tb.Context(), x); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// names lists the directory.
func names(tb testing.TB, dir string) (list []string) {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// only returns the content of the directory's single file.
func only(tb testing.TB, dir string) []byte {
	tb.Helper()
	list := names(tb, dir)
	if len(list) != 1 {
		tb.Fatalf("want one file, have %q", list)
	}
	b, err := os.ReadFile(filepath.Join(dir, list[0]))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// unzip returns the records of a file, a gzip member each.
func unzip(tb testing.TB, file []byte) (records []string) {
	tb.Helper()
	r := bytes.NewReader(file)
	gz, err := gzip.NewReader(r)
	for ; err == nil; err = gz.Reset(r) {
		gz.Multistream(false)
		b, err := io.ReadAll(gz)
		if err != nil {
			tb.Fatal(err)
		}
		records = append(records, string(b))
	}
	if err != io.EOF {
		tb.Fatal(err)
	}
	return records
}

// zip is the inverse of unzip.
func zip(tb testing.TB, records ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	for _, r := range records {
		gz := gzip.NewWriter(&b)
		if _, err := io.WriteString(gz, r); err != nil {
			tb.Fatal(err)
		}
		if err := gz.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Bytes()
}

// faults returns the kinds of faults of a file.
func faults(tb testing.TB, file []byte) (list []string, sum warc.Summary) {
	tb.Helper()
	sum, err := warc.Validate(bytes.NewReader(file), func(f warc.Fault) { list = append(list, f.Kind+": "+f.Detail) })
	if err != nil {
		tb.Fatal(err)
	}
	return list, sum
}

func wantFlawless(tb testing.TB, file []byte) warc.Summary {
	tb.Helper()
	list, sum := faults(tb, file)
	if len(list) > 0 {
		tb.Errorf("faults: %q", list)
	}
	return sum
}
