package jsonl_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// FuzzStringsEqualEncodingJSON holds the escaper against the standard library, byte for byte.
func FuzzStringsEqualEncodingJSON(f *testing.F) {
	for _, s := range []string{
		"", "plain text of more than eight bytes", "\x00\x1f\x20\x7f\x80\"\\/<>&", "\b\f\n\r\t", "Grüße Привет 世界 🌀",
		"\u2027\u2028\u2029\u202a", "\xe2\x80", "\xe2\x80\xa8\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf",
		"\xe1\x80", "\xc2", "\xe3\x81x", "aaaaaaa\"", "aaaaaaaa\\bbbbbbbb\x1fcccccccc\xffdddddddd", "\xef\xbf\xbd",
		"\xe0\x9f\xbf", "\xec\xbf\xbf\xed\x9f\xbf",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]string{"v": s}); err != nil {
			t.Fatal(err)
		}
		line := jsonl.AppendRecord(nil, &crawl.Record{Fields: []crawl.Field{{Name: "v", Value: s}}})
		if w := bytes.TrimSpace(want.Bytes()); !bytes.Contains(line, append([]byte(`"fields":`), w...)) {
			t.Errorf("want %s in %s", w, line)
		}
	})
}

// FuzzParseRecord: what was read and written is read as the same again, and no input panics.
func FuzzParseRecord(f *testing.F) {
	f.Add(jsonl.AppendRecord(nil, fullRecord(f)))
	f.Add([]byte(`{"url":"http://a.test/","fields":{"a":[1,{"b":null}]},"links":[{"url":"javascript:x"}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			return
		}
		if y := r.FetchedAt.Year(); y < 0 || y > 9999 {
			t.Skip("RFC 3339 has no such year")
		}
		once := jsonl.AppendRecord(nil, r)
		again, err := jsonl.ParseRecord(once)
		if err != nil {
			t.Fatalf("own output refused: %v\n%s", err, once)
		}
		if twice := jsonl.AppendRecord(nil, again); !bytes.Equal(once, twice) {
			t.Errorf("once  %s\ntwice %s", once, twice)
		}
	})
}

// FuzzParseLogLine is FuzzParseRecord for crawl.log.
func FuzzParseLogLine(f *testing.F) {
	f.Add(jsonl.AppendLogLine(nil, fullLogLine(f)))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := jsonl.ParseLogLine(line)
		if err != nil {
			return
		}
		if y := l.At.Year(); y < 0 || y > 9999 {
			t.Skip("RFC 3339 has no such year")
		}
		once := jsonl.AppendLogLine(nil, l)
		again, err := jsonl.ParseLogLine(once)
		if err != nil {
			t.Fatalf("own output refused: %v\n%s", err, once)
		}
		if twice := jsonl.AppendLogLine(nil, again); !bytes.Equal(once, twice) {
			t.Errorf("once  %s\ntwice %s", once, twice)
		}
	})
}

// FuzzURLOf finds lines that it and ParseRecord take for records of different URLs.
func FuzzURLOf(f *testing.F) {
	f.Add([]byte(`{"url":"http://a.test/","status":200}`))
	f.Add([]byte(`{"url":"http://a.test/\u0041"}`))
	f.Add([]byte(`{"url":""}`))
	f.Add([]byte(`{"time":"2026-01-01T00:00:00.000Z","url":"http://a.test/","kind":"page","verdict":"done"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		u, ok := jsonl.URLOf(line)
		// of two the last counts
		once := bytes.Count(bytes.ToLower(line), []byte("url")) == 1 && bytes.IndexByte(line, '\\') < 0
		if r, err := jsonl.ParseRecord(line); ok && once && err == nil && r.URL != u {
			t.Errorf("%q: %v, ParseRecord says %v", line, u, r.URL)
		}
		if u, ok := jsonl.LogURLOf(line); ok && u.IsZero() {
			t.Errorf("%q: a line of nothing", line)
		}
	})
}
