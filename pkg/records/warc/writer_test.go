package warc_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

var uuidPattern = regexp.MustCompile(`<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>`)

func TestRecordsOfAnExchange(t *testing.T) {
	x := page(t, 1)
	x.Body, x.Digest = []byte("hello\n"), crawl.Digest{}
	records := unzip(t, only(t, write(t, warc.Options{Info: []warc.Field{{Name: "operator", Value: "A. Nobody"}}}, x)))
	if len(records) != 4 {
		t.Fatalf("want warcinfo, response, request, metadata; have %d records", len(records))
	}
	id := uuidPattern.FindString(records[1])
	for i, want := range []string{
		"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: ID\r\nWARC-Date: 2026-01-02T03:04:05.678Z\r\n" +
			"WARC-Filename: WHIRLPOOL-20260102T030405Z-00001-crawler1.warc.gz\r\nWARC-Block-Digest: DIGEST\r\n" +
			"Content-Type: application/warc-fields\r\nContent-Length: 200\r\n\r\nsoftware: Whirlpool/" + crawl.Version + "\r\n" +
			"format: WARC File Format 1.1\r\n" +
			"conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n" +
			"hostname: crawler1\r\noperator: A. Nobody\r\n\r\n\r\n",
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: ID\r\nWARC-Date: 2026-01-02T03:04:05.678Z\r\n" +
			"WARC-Target-URI: https://example.org/page/1?q=a%20b\r\nWARC-IP-Address: 192.0.2.7\r\n" +
			"WARC-Payload-Digest: sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\r\n" +
			"WARC-Block-Digest: DIGEST\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: 104\r\n\r\n" +
			"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Type: text/html\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n" +
			"hello\n\r\n\r\n",
		"WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: ID\r\nWARC-Date: 2026-01-02T03:04:05.678Z\r\n" +
			"WARC-Target-URI: https://example.org/page/1?q=a%20b\r\nWARC-Concurrent-To: " + id +
			"\r\nWARC-IP-Address: 192.0.2.7\r\n" +
			"WARC-Block-Digest: DIGEST\r\nContent-Type: application/http;msgtype=request\r\nContent-Length: 107\r\n\r\n" +
			"GET /page/1?q=a%20b HTTP/1.1\r\nHost: example.org\r\nAccept: text/html\r\nUser-Agent: " +
			"Whirlpool/0.1.0\r\n\r\n\r\n\r\n",
		"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: ID\r\nWARC-Date: 2026-01-02T03:04:05.678Z\r\n" +
			"WARC-Target-URI: https://example.org/page/1?q=a%20b\r\nWARC-Concurrent-To: " + id + "\r\n" +
			"WARC-Block-Digest: DIGEST\r\nContent-Type: application/warc-fields\r\nContent-Length: 61\r\n\r\n" +
			"via: https://example.org/\r\nhopsFromSeed: 2\r\nfetchTimeMs: 250\r\n\r\n\r\n",
	} {
		got := strings.Replace(records[i], uuidPattern.FindString(records[i]), "ID", 1)
		got = regexp.MustCompile(`Block-Digest: sha256:[0-9a-f]{64}`).ReplaceAllString(got, "Block-Digest: DIGEST")
		length := regexp.MustCompile(`Content-Length: \d+\r\n\r\n`) // what it should be, the validator knows better
		if length.ReplaceAllString(got, "") != length.ReplaceAllString(want, "") {
			t.Errorf("record %d:\n got %q\nwant %q", i, got, want)
		}
	}
}

func TestBlockFitsTheDecodedBody(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(x *crawl.Exchange)
		want   string
	}{
		{"gzip on the wire", func(x *crawl.Exchange) {
			x.ResponseHeader = http.Header{"Content-Encoding": {"gzip"}, "Content-Length": {"3"},
				"Transfer-Encoding": {"chunked"}}
		}, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Orig-Content-Encoding: gzip\r\nX-Orig-Content-Length: 3\r\n" +
			"X-Orig-Transfer-Encoding: chunked\r\n\r\nhello"},
		{"no headers at all", func(x *crawl.Exchange) { x.ResponseHeader = nil },
			"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		{"right length", func(x *crawl.Exchange) { x.ResponseHeader = http.Header{"Content-Length": {"5"}} },
			"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		{"answer to HEAD", func(x *crawl.Exchange) {
			x.Method, x.Body, x.ResponseHeader = "HEAD", nil, http.Header{"Content-Length": {"99"}}
		}, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"},
		{"HTTP/2", func(x *crawl.Exchange) { x.Proto, x.ResponseHeader = "HTTP/2.0", nil },
			"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		{"HTTP/1.0", func(x *crawl.Exchange) { x.Proto, x.ResponseHeader = "HTTP/1.0", nil },
			"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
		{"line breaks smuggled in", func(x *crawl.Exchange) {
			x.Status = "200 OK\r\nX: y"
			x.ResponseHeader = http.Header{"A": {"b\r\nContent-Length: 0"}, "bad name": {"x"}, "": {"x"}}
		}, "HTTP/1.1 200 OK  X: y\r\nA: b  Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := page(t, 1)
			x.Body, x.Digest = []byte("hello"), crawl.Digest{}
			c.change(x)
			file := only(t, write(t, warc.Options{}, x))
			wantFlawless(t, file)
			if response := unzip(t, file)[1]; !strings.HasSuffix(response, "\r\n\r\n"+c.want+"\r\n\r\n") {
				t.Errorf("want %q\n in %q", c.want, response)
			}
		})
	}
}

func TestFieldsOfSpecialResponses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(x *crawl.Exchange)
		want   string
	}{
		{"cut by size", func(x *crawl.Exchange) { x.Truncated = "max-body" }, "WARC-Truncated: length\r\n"},
		{"cut by time", func(x *crawl.Exchange) { x.Truncated = "time" }, "WARC-Truncated: time\r\n"},
		{"cut by something", func(x *crawl.Exchange) { x.Truncated = "mice" }, "WARC-Truncated: unspecified\r\n"},
		{"HTTP/2", func(x *crawl.Exchange) { x.Proto = "HTTP/2.0" }, "WARC-Protocol: h2\r\n"},
		{"not modified", func(x *crawl.Exchange) { x.NotModified, x.Status, x.Body = true, "304 Not Modified", nil },
			"WARC-Type: revisit\r\n"},
		{"not modified", func(x *crawl.Exchange) { x.NotModified, x.Status, x.Body = true, "304 Not Modified", nil },
			"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n"},
	} {
		x := page(t, 1)
		c.change(x)
		file := only(t, write(t, warc.Options{}, x))
		wantFlawless(t, file)
		if response := unzip(t, file)[1]; !strings.Contains(response, c.want) {
			t.Errorf("%s: want %q in %q", c.name, c.want, response)
		}
	}
}

func TestPayloadSeenBeforeBecomesARevisit(t *testing.T) {
	first, copied, cut, small, smallAgain := page(t, 1), page(t, 1), page(t, 1), page(t, 2), page(t, 3)
	copied.URL, cut.URL = mustURL(t, "https://example.org/copy"), mustURL(t, "https://example.org/cut")
	cut.Truncated = "length"
	for _, x := range []*crawl.Exchange{small, smallAgain} {
		x.Body, x.Digest = []byte("tiny"), crawl.Digest{}
	}
	file := only(t, write(t, warc.Options{}, first, copied, cut, small, smallAgain))
	sum := wantFlawless(t, file)
	if sum.ByType["revisit"] != 1 || sum.ByType["response"] != 4 {
		t.Errorf("records: %v", sum.ByType)
	}
	records := unzip(t, file)
	for _, want := range []string{
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n",
		"WARC-Refers-To: " + uuidPattern.FindString(records[1]) + "\r\n",
		"WARC-Refers-To-Target-URI: " + first.URL.String() + "\r\nWARC-Refers-To-Date: 2026-01-02T03:04:05.678Z\r\n",
		"WARC-Truncated: length\r\n", "WARC-Payload-Digest: " + first.Digest.String() + "\r\n",
	} {
		if !strings.Contains(records[4], want) {
			t.Errorf("want %q in %q", want, records[4])
		}
	}
	if strings.Contains(records[4], "<html>") {
		t.Error("the body was stored again")
	}
}

func TestRememberedPayloadsAreBounded(t *testing.T) {
	var xs []*crawl.Exchange
	for i := range 20 {
		xs = append(xs, page(t, i))
	}
	xs = append(xs, page(t, 19), page(t, 0)) // 19 is remembered, 0 is long forgotten
	if sum := wantFlawless(t, only(t, write(t, warc.Options{Remember: 4}, xs...))); sum.ByType["revisit"] != 1 {
		t.Errorf("with 4: %v", sum.ByType)
	}
	if sum := wantFlawless(t, only(t, write(t, warc.Options{Remember: -1}, xs...))); sum.ByType["revisit"] != 0 {
		t.Errorf("with none: %v", sum.ByType)
	}
}

func TestFilesStayBelowTheirLimit(t *testing.T) {
	const limit = 4_000
	var xs []*crawl.Exchange
	for i := range 20 {
		xs = append(xs, page(t, i))
	}
	dir := write(t, warc.Options{MaxSize: limit}, xs...)
	list, responses := names(t, dir), int64(0)
	if len(list) < 3 || list[1] != "WHIRLPOOL-20260102T030405Z-00002-crawler1.warc.gz" {
		t.Fatalf("files: %q", list)
	}
	for _, name := range list {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > limit {
			t.Errorf("%s has %d bytes", name, len(b))
		}
		sum := wantFlawless(t, b)
		responses += sum.ByType["response"]
		if sum.ByType["warcinfo"] != 1 {
			t.Errorf("%s: %v", name, sum.ByType)
		}
	}
	if responses != 20 {
		t.Errorf("%d responses of 20", responses)
	}
}

func TestExchangeBeyondTheLimitHasAFileOfItsOwn(t *testing.T) {
	dir := write(t, warc.Options{MaxSize: 100}, page(t, 1), page(t, 2))
	if list := names(t, dir); len(list) != 2 {
		t.Errorf("files: %q", list)
	}
}

func TestOpenFileHasTheSuffix(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, warc.Options{})
	if list := names(t, dir); len(list) != 0 {
		t.Errorf("files before the first exchange: %q", list)
	}
	if err := w.Write(t.Context(), page(t, 1)); err != nil {
		t.Fatal(err)
	}
	if list := names(t, dir); len(list) != 1 || !strings.HasSuffix(list[0], ".warc.gz.open") {
		t.Errorf("files: %q", list)
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, warc.Options{MaxSize: 20_000})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 25 {
				if err := w.Write(t.Context(), page(t, g*100+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	responses := int64(0)
	for _, name := range names(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		responses += wantFlawless(t, b).ByType["response"]
	}
	if responses != 200 {
		t.Errorf("%d responses of 200", responses)
	}
}

func TestWriteRefuses(t *testing.T) {
	w := open(t, t.TempDir(), warc.Options{})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Write(cancelled, page(t, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := w.Write(t.Context(), &crawl.Exchange{}); !crawl.IsPermanent(err) {
		t.Errorf("empty exchange: %v", err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := w.Write(t.Context(), page(t, 1)); !errors.Is(err, warc.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, opt := range []warc.Options{
		{Prefix: "../x"}, {Prefix: "a-b"}, {MaxSize: -1}, {Level: 10}, {Level: -2}, {SyncEvery: -1},
		{Info: []warc.Field{{Name: "a: b\r\nc", Value: "x"}}},
	} {
		if _, err := warc.Open(t.TempDir(), opt); err == nil {
			t.Errorf("accepted %+v", opt)
		}
	}
	if err := (warc.Options{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}
