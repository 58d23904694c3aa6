package warc_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A Writer archives exchanges in a directory; Validate checks a file.
func Example() {
	dir, err := os.MkdirTemp("", "warc")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	w, err := warc.Open(dir, warc.Options{Prefix: "EXAMPLE", Host: "crawler1"})
	if err != nil {
		log.Fatal(err)
	}
	page, err := weburl.Parse("https://example.org/")
	if err != nil {
		log.Fatal(err)
	}
	err = w.Write(context.Background(), &crawl.Exchange{
		URL: page, Started: time.Now(), Duration: time.Second, Addr: netip.MustParseAddr("192.0.2.7"),
		Method: http.MethodGet, RequestHeader: http.Header{"User-Agent": {"ExampleBot/1.0"}},
		Proto: "HTTP/1.1", Status: "200 OK", ResponseHeader: http.Header{"Content-Type": {"text/html"}},
		Body: []byte("<h1>Hello</h1>"),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "EXAMPLE-*.warc.gz"))
	if err != nil || len(files) != 1 {
		log.Fatal(files, err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	summary, err := warc.Validate(f, func(fault warc.Fault) { fmt.Println(fault) })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Records, "records,", summary.Faults, "faults:", summary.ByType)
	// Output:
	// 4 records, 0 faults: map[metadata:1 request:1 response:1 warcinfo:1]
}

// Validate reports each fault with its place in the file.
func ExampleValidate() {
	summary, err := warc.Validate(strings.NewReader("WARC/1.1\r\nWARC-Type: response\r\n"), func(f warc.Fault) {
		fmt.Println("record", f.Record, "at byte", f.Offset, "has a fault")
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Faults > 0)
	// Output:
	// record 1 at byte 0 has a fault
	// true
}
