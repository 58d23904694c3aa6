package jsonl

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// appendExtracted appends what a job's Extract asked for; nothing where it asked for nothing.
func appendExtracted(dst []byte, x *crawl.Extracted) []byte {
	dst = appendText(dst, `,"markdown":`, x.Markdown)
	dst = appendObject(dst, `,"structured":`, x.Structured)
	dst = appendText(dst, `,"author":`, x.Author)
	dst = appendDate(dst, `,"published":`, x.Published)
	return appendDate(dst, `,"modified":`, x.Modified)
}

// appendObject appends key and a JSON object, or nothing when s is none: what is no JSON, or has line breaks, must not
// make the line none.
func appendObject(dst []byte, key, s string) []byte {
	if s == "" || s[0] != '{' || strings.ContainsAny(s, "\n\r") {
		return dst
	}
	out := append(append(dst, key...), s...)
	if !json.Valid(out[len(out)-len(s):]) {
		return dst
	}
	return out
}

// appendDate appends key and t, or nothing when t is zero.
func appendDate(dst []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return dst
	}
	return appendTime(append(dst, key...), t)
}

// extractedJSON are the keys of what was extracted.
type extractedJSON struct {
	Markdown   string          `json:"markdown"`
	Structured json.RawMessage `json:"structured"`
	Author     string          `json:"author"`
	Published  time.Time       `json:"published"`
	Modified   time.Time       `json:"modified"`
}

func (j *extractedJSON) extracted() crawl.Extracted {
	x := crawl.Extracted{Markdown: j.Markdown, Author: j.Author, Published: j.Published.UTC(), Modified: j.Modified.UTC()}
	if s := string(j.Structured); s != "null" {
		x.Structured = s
	}
	return x
}
