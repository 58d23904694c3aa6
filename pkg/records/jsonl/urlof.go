package jsonl

import (
	"bytes"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var recordHead = []byte(`{"url":"`)

// URLOf returns the URL of a record's line without reading the rest of the line, which may be damaged; ok is false
// where the line does not begin as a record does.
func URLOf(line []byte) (u weburl.URL, ok bool) {
	rest, ok := bytes.CutPrefix(line, recordHead)
	if !ok {
		return u, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 { // a URL has no character that JSON escapes
		return u, false
	}
	u, err := weburl.Parse(string(rest[:end]))
	return u, err == nil && !u.IsZero()
}

var logHead, logURL = []byte(`{"time":"`), []byte(`","url":"`)

// LogURLOf is URLOf for a line of crawl.log.
func LogURLOf(line []byte) (u weburl.URL, ok bool) {
	if !bytes.HasPrefix(line, logHead) {
		return u, false
	}
	at := bytes.Index(line[:min(len(line), 64)], logURL)
	if at < 0 {
		return u, false
	}
	rest := line[at+len(logURL):]
	end := bytes.IndexByte(rest, '"')
	if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return u, false
	}
	u, err := weburl.Parse(string(rest[:end]))
	return u, err == nil && !u.IsZero()
}
