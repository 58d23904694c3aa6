package warc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/nlnwa/gowarc"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// reference reads the file with another implementation, in its strictest mode, and counts the records.
func reference(file []byte) (records int, err error) {
	r, err := gowarc.NewWarcFileReaderFromStream(io.NopCloser(bytes.NewReader(file)), 0, gowarc.WithStrictValidation(),
		gowarc.WithBlockErrorPolicy(gowarc.ErrFail), gowarc.WithAddMissingDigest(false), gowarc.WithFixSyntaxErrors(false))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		_, _, validation, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return records, fmt.Errorf("record %d: %w", records+1, err)
		}
		if !validation.Valid() {
			return records, fmt.Errorf("record %d: %w", records+1, validation)
		}
		records++
	}
}

// everyKind is a file with every type of record that the writer makes.
func everyKind(tb testing.TB) []byte {
	notModified, cut, ipv6 := page(tb, 2), page(tb, 3), page(tb, 4)
	notModified.NotModified, notModified.Status, notModified.Body = true, "304 Not Modified", nil
	cut.Truncated = "time"
	ipv6.Proto, ipv6.Body, ipv6.Digest = "HTTP/2.0", nil, crawl.Digest{}
	return only(tb, write(tb, warc.Options{}, page(tb, 1), page(tb, 1), notModified, cut, ipv6))
}

func TestReferenceAcceptsWhatWeWrite(t *testing.T) {
	file := everyKind(t)
	if n, err := reference(file); err != nil || n != 16 {
		t.Errorf("%d records of 16: %v", n, err)
	}
	if sum := wantFlawless(t, file); sum.Records != 16 || sum.Bytes != int64(len(file)) {
		t.Errorf("summary: %+v", sum)
	}
}

// replace returns a change of one record's text; it must find what it replaces.
func replace(record int, old, by string) func(*testing.T, []string) {
	return func(t *testing.T, records []string) {
		t.Helper()
		changed := strings.Replace(records[record], old, by, 1)
		if changed == records[record] {
			t.Fatalf("%q is not in %q", old, records[record])
		}
		records[record] = changed
	}
}

// The records of a file with one page, in order.
const (
	info = iota
	resp
	req
	meta
)

// mutations break a good file; each must be found, as the fault named.
var mutations = []struct {
	name, fault string
	change      func(t *testing.T, records []string)
	oursOnly    string // why the reference does not mind
}{
	{"another version", warc.FaultVersion, replace(resp, "WARC/1.1", "WARC/2.0"), ""},
	{"no version", warc.FaultVersion, replace(resp, "WARC/1.1\r\n", ""), ""},
	{"no type", warc.FaultMissing, replace(resp, "WARC-Type: response\r\n", ""), ""},
	{"no id", warc.FaultMissing, func(t *testing.T, r []string) { replace(resp, idLine(r[resp]), "")(t, r) }, ""},
	{"no date", warc.FaultMissing, replace(resp, "WARC-Date: 2026-01-02T03:04:05.678Z\r\n", ""), ""},
	{"no length", warc.FaultMissing, func(t *testing.T, r []string) { replace(meta, lengthLine(r[meta]), "\r\n")(t, r) },
		""},
	{"no content type", warc.FaultMissing, replace(meta, "Content-Type: application/warc-fields\r\n", ""), ""},
	{"no target", warc.FaultMissing, replace(resp, "WARC-Target-URI: https://example.org/page/1?q=a%20b\r\n", ""),
		"checks no field that only some types must have"},
	{"unknown type", warc.FaultType, replace(resp, "WARC-Type: response", "WARC-Type: answer"), ""},
	{"date without time zone", warc.FaultDate, replace(resp, ".678Z", ".678"), ""},
	{"date that is none", warc.FaultDate, replace(resp, "2026-01-02", "2026-13-02"), ""},
	{"date of another zone", warc.FaultDate, replace(resp, ".678Z", ".678+02:00"), "takes any RFC 3339"},
	{"id without brackets", warc.FaultValue, func(t *testing.T, r []string) {
		id := uuidPattern.FindString(r[meta])
		replace(meta, id, strings.Trim(id, "<>"))(t, r)
	}, ""},
	{"length that is no number", warc.FaultValue, replace(meta, "Content-Length: ", "Content-Length: x"), ""},
	{"address that is none", warc.FaultValue, replace(resp, "192.0.2.7", "192.0.2.777"), ""},
	{"target that is no URI", warc.FaultValue, replace(resp, "URI: https://example.org", "URI: //example.org"), ""},
	{"field that stands twice", warc.FaultRepeated,
		replace(resp, "WARC-Date:", "WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Date:"), ""},
	{"filename in a response", warc.FaultForbidden, replace(resp, "WARC-Date:", "WARC-Filename: x\r\nWARC-Date:"), ""},
	{"profile in a response", warc.FaultForbidden,
		replace(resp, "WARC-Date:", "WARC-Profile: http://x.test/\r\nWARC-Date:"), ""},
	{"concurrent warcinfo", warc.FaultForbidden,
		replace(info, "WARC-Date:", "WARC-Concurrent-To: <urn:x:y>\r\nWARC-Date:"), ""},
	{"target of a warcinfo", warc.FaultForbidden,
		replace(info, "WARC-Date:", "WARC-Target-URI: http://x.test/\r\nWARC-Date:"), "allows it"},
	{"revisit without profile", warc.FaultMissing, replace(resp, "WARC-Type: response", "WARC-Type: revisit"),
		"checks no field that only some types must have"},
	{"identical payload without its digest", warc.FaultMissing, func(t *testing.T, r []string) {
		replace(resp, "WARC-Type: response\r\n", "WARC-Type: revisit\r\nWARC-Profile: "+
			"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n")(t, r)
		replace(resp, "WARC-Payload-Digest", "X-Payload-Digest")(t, r)
	}, "checks no field that only some types must have"},
	{"date of short numbers", warc.FaultDate, replace(resp, "T03:04:05.678Z", "T3:04:05.678Z"),
		"takes hours of one digit"},
	{"content type without a subtype", warc.FaultValue, replace(meta, "application/warc-fields", "warc-fields"),
		"takes any text"},
	{"content type with a space", warc.FaultValue, replace(meta, "application/warc-fields", "application/warc fields"),
		"takes any text"},
	{"payload type that is none", warc.FaultValue,
		replace(resp, "WARC-Date:", "WARC-Identified-Payload-Type: html\r\nWARC-Date:"), "takes any text"},
	{"first segment of number 2", warc.FaultValue, replace(meta, "WARC-Date:", "WARC-Segment-Number: 2\r\nWARC-Date:"),
		"checks no segments"},
	{"segment of number 0", warc.FaultValue, replace(meta, "WARC-Date:", "WARC-Segment-Number: 0\r\nWARC-Date:"),
		"checks no segments"},
	{"length too long", warc.FaultLength, replace(resp, "Content-Length: 1", "Content-Length: 91"), ""},
	{"length too short", warc.FaultEnd,
		func(t *testing.T, r []string) { replace(meta, lengthLine(r[meta]), "Content-Length: 5\r\n\r\n")(t, r) }, ""},
	{"body changed", warc.FaultDigest, replace(resp, "Some text", "Some next"), ""},
	{"request changed", warc.FaultDigest, replace(req, "text/html", "text/wire"), ""},
	{"metadata changed", warc.FaultDigest, replace(meta, "hopsFromSeed: 2", "hopsFromSeed: 3"), ""},
	{"block digest changed", warc.FaultDigest, replace(resp, "Block-Digest: sha256:", "Block-Digest: sha256:00000000"),
		""},
	{"payload digest of another algorithm", warc.FaultDigest,
		replace(resp, "Payload-Digest: sha256:", "Payload-Digest: sha999:"), ""},
	{"line without CR", warc.FaultSyntax, replace(resp, "response\r\n", "response\n"), ""},
	{"line without colon", warc.FaultSyntax, replace(resp, "WARC-Date: ", "WARC-Date "), ""},
	{"header without end", warc.FaultSyntax, func(_ *testing.T, r []string) { r[meta] = r[meta][:40] }, ""},
	{"no line ends after the block", warc.FaultEnd,
		func(_ *testing.T, r []string) { r[meta] = strings.TrimSuffix(r[meta], "\r\n\r\n") }, ""},
	{"one line end after the block", warc.FaultEnd,
		func(_ *testing.T, r []string) { r[meta] = strings.TrimSuffix(r[meta], "\r\n") }, ""},
	{"line ends without CR after the block", warc.FaultEnd, func(_ *testing.T, r []string) {
		r[meta] = strings.TrimSuffix(r[meta], "\r\n\r\n") + "\n\n\n\n"
	}, "looks at the number of bytes only"},
	{"garbage in the member", warc.FaultMember, func(_ *testing.T, r []string) { r[meta] += "x" },
		"skips the rest of a member"},
	{"two records in a member", warc.FaultMember, func(_ *testing.T, r []string) { r[req], r[meta] = "", r[req]+r[meta] },
		"skips the rest of a member"},
	{"id that stands twice", warc.FaultDuplicate, func(_ *testing.T, r []string) { r[meta] = r[req] }, "keeps no ids"},
	{"reference to nothing", warc.FaultReference, func(t *testing.T, r []string) {
		replace(meta, "WARC-Concurrent-To: <urn:uuid:", "WARC-Concurrent-To: <urn:uuid:f")(t, r)
	}, "keeps no ids"},
}

func idLine(record string) string {
	return "WARC-Record-ID: " + uuidPattern.FindString(record) + "\r\n"
}

func lengthLine(record string) string {
	from := strings.Index(record, "Content-Length: ")
	return record[from : from+strings.Index(record[from:], "\r\n")+4]
}

func TestMutationsAreFound(t *testing.T) {
	original := unzip(t, only(t, write(t, warc.Options{}, page(t, 1))))
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			records := append([]string(nil), original...)
			m.change(t, records)
			var file []byte
			for _, r := range records {
				if r != "" {
					file = append(file, zip(t, r)...)
				}
			}
			list, _ := faults(t, file)
			if !strings.Contains("\n"+strings.Join(list, "\n"), "\n"+m.fault+": ") {
				t.Errorf("no fault %q among %q", m.fault, list)
			}
			if _, err := reference(file); (err == nil) != (m.oursOnly != "") {
				t.Errorf("the reference says %v; ours only: %q", err, m.oursOnly)
			}
		})
	}
}

func TestBrokenCompressionIsFound(t *testing.T) {
	file := only(t, write(t, warc.Options{}, page(t, 1)))
	first := ends(t, file)[0]
	for name, broken := range map[string][]byte{
		"cut":               file[:len(file)-3],
		"cut in the header": file[:first+5],
		"checksum":          flip(file, len(file)-6),
		"length":            flip(file, len(file)-1),
		"deflate data":      flip(file, first+20),
		"garbage at end":    append(bytes.Clone(file), "garbage, 32 bytes of it and more"...),
	} {
		if list, _ := faults(t, broken); len(list) == 0 || !strings.HasPrefix(list[len(list)-1], warc.FaultGzip) &&
			!strings.Contains(strings.Join(list, "\n"), "gzip: ") {
			t.Errorf("%s: faults %q", name, list)
		}
		if _, err := reference(broken); err == nil {
			t.Errorf("%s: the reference accepts it", name)
		}
	}
}

func flip(file []byte, at int) []byte {
	b := bytes.Clone(file)
	b[at] ^= 0x55
	return b
}
