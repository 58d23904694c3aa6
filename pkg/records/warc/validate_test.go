package warc_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nlnwa/gowarc"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// minimal is a record in the form of the standard's own examples.
const minimal = "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: file://var/www/x.txt\r\n" +
	"WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>\r\n" +
	"Content-Type: text/plain\r\nWARC-Block-Digest: sha1:QH7IX7UHK5WD5SZCIJXY4V4EOOBJC6WP\r\nContent-Length: 4\r\n\r\n" +
	"abcd\r\n\r\n"

func TestFormsTheStandardAllows(t *testing.T) {
	for name, c := range map[string][2]string{
		"as it is":                 {"", ""},
		"version 1.0":              {"WARC/1.1", "WARC/1.0"},
		"date to the day":          {"2026-01-02T03:04:05Z", "2026-01-02"},
		"date to the nanosecond":   {"03:04:05Z", "03:04:05.123456789Z"},
		"names in another case":    {"WARC-Type", "warc-TYPE"},
		"type in another case":     {"resource", "Resource"},
		"value over two lines":     {"text/plain", "text/plain;\r\n\tcharset=utf-8"},
		"no space after the colon": {"Content-Length: 4", "Content-Length:4"},
		"an extension":             {"Content-Type:", "X-Mine: a b c\r\nContent-Type:"},
		"digest in base32":         {"sha1:QH7IX7UHK5WD5SZCIJXY4V4EOOBJC6WP", "sha1:QH7IX7UHK5WD5SZCIJXY4V4EOOBJC6WP"},
		"digest in hexadecimal":    {"sha1:QH7IX7UHK5WD5SZCIJXY4V4EOOBJC6WP", "md5:e2fc714c4727ee9395f324cd2e7f331f"},
		"digest of another case": {"sha1:QH7IX7UHK5WD5SZCIJXY4V4EOOBJC6WP",
			"SHA-1:81FE8BFE87576C3ECB22426F8E57847382917ACF"},
		"digest of 224 bits": {"sha1:QH7IX7UHK5WD5SZCIJXY4V4EOOBJC6WP",
			"sha224:a76654d8e3550e9a2d67a0eeb6c67b220e5885eddd3fde135806e601"},
		"a first segment": {"Content-Type:", "WARC-Segment-Number: 1\r\nContent-Type:"},
		"payload is the block": {"Content-Type:",
			"WARC-Payload-Digest: sha1:81fe8bfe87576c3ecb22426f8e57847382917acf\r\nContent-Type:"},
		"empty block without type": {"Content-Type: text/plain\r\nContent-Length: 4\r\n\r\nabcd",
			"Content-Length: 0\r\n\r\n"},
	} {
		record := strings.Replace(minimal, c[0], c[1], 1)
		for _, file := range [][]byte{[]byte(record), zip(t, record)} {
			list, _ := faults(t, file)
			if len(list) > 0 {
				t.Errorf("%s: %q", name, list)
			}
		}
	}
}

func TestFormsTheStandardForbids(t *testing.T) {
	const segment = "WARC-Segment-Origin-ID: <urn:x:y>\r\nWARC-Segment-Number: "
	for name, c := range map[string]struct{ old, by, fault string }{
		"a name's answer of another type": {"file://var/www/x.txt", "dns:example.org", warc.FaultValue},
		"a continuation as first segment": {"WARC-Type: resource\r\n", "WARC-Type: continuation\r\n" + segment + "1\r\n",
			warc.FaultValue},
	} {
		list, _ := faults(t, []byte(strings.Replace(minimal, c.old, c.by, 1)))
		if len(list) != 1 || !strings.HasPrefix(list[0], c.fault+": ") {
			t.Errorf("%s: %q", name, list)
		}
	}
}

// TestDigestOfChunks: a body that is kept in chunks has the digest of what they hold, as the standard says, or of the
// chunks, as many tools write it.
func TestDigestOfChunks(t *testing.T) {
	const head, body = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n", "3;x=y\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"
	for _, c := range []struct {
		name, payload, body string
		ok                  bool
	}{
		{"of what they hold", "abcd", body, true},
		{"of the chunks", body, body, true},
		{"of something else", "abc", body, false},
		{"no chunks", "abcd", "abcd", true},
		{"a chunk that is none", "abcd", "3\r\nabc\r\nx\r\nd\r\n0\r\n\r\n", false},
		{"a large chunk", strings.Repeat("x", 100_000), "186A0\r\n" + strings.Repeat("x", 100_000) + "\r\n0\r\n\r\n", true},
	} {
		block := head + c.body
		record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nWARC-Date: 2026\r\n"+
			"WARC-Record-ID: <urn:x:y>\r\nContent-Type: application/http\r\nWARC-Payload-Digest: sha1:%x\r\n"+
			"Content-Length: %d\r\n\r\n%s\r\n\r\n", sha1.Sum([]byte(c.payload)), len(block), block)
		if list, _ := faults(t, zip(t, record)); (len(list) == 0) != c.ok {
			t.Errorf("%s: %q", c.name, list)
		}
	}
}

func TestPlainFileIsReadRecordByRecord(t *testing.T) {
	records := unzip(t, everyKind(t))
	if sum := wantFlawless(t, []byte(strings.Join(records, ""))); sum.Records != 16 {
		t.Errorf("summary: %+v", sum)
	}
	records[3] += "garbage\r\nmore garbage\r\n"
	records[5] = strings.Replace(records[5], "Content-Length: ", "Content-Length: x", 1)
	list, sum := faults(t, []byte(strings.Join(records, "")))
	if sum.Records != 17 || len(list) != 2 { // the garbage counts as a record
		t.Errorf("%d records, faults %q", sum.Records, list)
	}
}

func TestFaultSaysWhere(t *testing.T) {
	records := unzip(t, only(t, write(t, warc.Options{}, page(t, 1))))
	records[2] = strings.Replace(records[2], "text/html", "text/wire", 1)
	var got []warc.Fault
	if _, err := warc.Validate(bytes.NewReader(zip(t, records...)),
		func(f warc.Fault) { got = append(got, f) }); err != nil {
		t.Fatal(err)
	}
	want := warc.Fault{Kind: warc.FaultDigest, Offset: int64(len(zip(t, records[:2]...))), Record: 3, Type: "request",
		ID: uuidPattern.FindString(records[2])}
	if len(got) != 1 {
		t.Fatalf("faults: %+v", got)
	}
	got[0].Detail = ""
	if got[0] != want {
		t.Errorf("got %+v, want %+v", got[0], want)
	}
}

func TestFileWithoutRecordsIsNone(t *testing.T) {
	if list, _ := faults(t, nil); len(list) != 1 || !strings.HasPrefix(list[0], warc.FaultEmpty) {
		t.Errorf("faults: %q", list)
	}
}

func TestReadingErrorIsNoFault(t *testing.T) {
	file := everyKind(t)
	plain := []byte(strings.Join(unzip(t, file), ""))
	disk := errors.New("the disk is broken")
	for _, content := range [][]byte{file, plain} {
		r := io.MultiReader(bytes.NewReader(content[:len(content)/2]), iotest.ErrReader(disk))
		_, err := warc.Validate(r, func(f warc.Fault) {
			if f.Kind != warc.FaultReference { // what it would have referred to was not read
				t.Errorf("fault %+v", f)
			}
		})
		if !errors.Is(err, disk) {
			t.Errorf("error %v", err)
		}
	}
}

func TestWeAcceptWhatTheReferenceWrites(t *testing.T) {
	dir := t.TempDir()
	w := gowarc.NewWarcFileWriter(gowarc.WithFileNameGenerator(&gowarc.PatternNameGenerator{Directory: dir}),
		gowarc.WithAddWarcConcurrentToHeader(true),
		gowarc.WithWarcInfoFunc(func(b gowarc.WarcRecordBuilder) error {
			_,
				err := b.WriteString("software: x\r\n")
			return err
		}))
	record := func(rt gowarc.RecordType, contentType, block string) gowarc.WarcRecord {
		b := gowarc.NewRecordBuilder(rt)
		b.AddWarcHeader(gowarc.WarcTargetURI, "http://example.org/")
		b.AddWarcHeader(gowarc.WarcDate, "2026-01-02T03:04:05Z")
		b.AddWarcHeader(gowarc.ContentType, contentType)
		if _, err := b.WriteString(block); err != nil {
			t.Fatal(err)
		}
		r, _, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, res := range w.Write(
		record(gowarc.Response, "application/http;msgtype=response", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
		record(gowarc.Request, "application/http;msgtype=request", "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
		record(gowarc.Resource, "text/plain", "hi"),
	) {
		if res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if sum := wantFlawless(t, only(t, dir)); sum.Records != 4 {
		t.Errorf("summary: %+v", sum)
	}
}

// FuzzValidate: no input panics, hangs or is half counted, and the count of faults is that of the reports.
func FuzzValidate(f *testing.F) {
	file := everyKind(f)
	f.Add(file)
	f.Add([]byte(strings.Join(unzip(f, file), "")))
	f.Add([]byte(minimal))
	f.Add(zip(f, minimal, minimal+minimal, ""))
	f.Fuzz(func(t *testing.T, file []byte) {
		list, sum := faults(t, file)
		total := int64(0)
		for _, n := range sum.ByType {
			total += n
		}
		if int64(len(list)) != sum.Faults || total > sum.Records || sum.Bytes > int64(len(file)) {
			t.Errorf("summary %+v of %d bytes with %d faults", sum, len(file), len(list))
		}
	})
}

// FuzzExchange: whatever a server sent, the reference and we accept the file.
func FuzzExchange(f *testing.F) {
	f.Add("200 OK", "Content-Type", "text/html", []byte("hi"), "GET", "")
	f.Add("200\r\n", "a:b", "\r\n\r\n", []byte("\r\n\r\n"), "A B", "x\r\ny")
	f.Fuzz(func(t *testing.T, status, name, value string, body []byte, method, truncated string) {
		x := page(t, 1)
		x.Status, x.Method, x.Truncated, x.Body, x.Digest = status, method, truncated, body, crawl.Digest{}
		x.ResponseHeader[name] = []string{value}
		x.RequestHeader[name] = []string{value}
		if !startsWithCode(status) {
			t.Skip("net/http lets no other status pass")
		}
		file := only(t, write(t, warc.Options{}, x))
		wantFlawless(t, file)
		if n, err := reference(file); err != nil || n != 4 {
			t.Errorf("the reference reads %d records of 4: %v", n, err)
		}
	})
}

func startsWithCode(status string) bool {
	if len(status) < 3 || len(status) > 3 && status[3] != ' ' {
		return false
	}
	return strings.Trim(status[:3], "0123456789") == ""
}
