package jsonl

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// AppendRendered appends what a record says of its page's render as a JSON object.
func AppendRendered(dst []byte, r *crawl.RenderedPart) []byte {
	dst = appendDigest(append(dst, `{"digest":`...), r.Digest)
	dst = appendTime(append(dst, `,"at":`...), r.At)
	dst = appendInt(append(dst, `,"wall_ms":`...), r.Wall.Milliseconds())
	dst = appendInt(append(dst, `,"cpu_ms":`...), r.CPU.Milliseconds())
	dst = appendText(dst, `,"settled":`, r.Settled)
	if !r.Final.IsZero() {
		dst = appendURL(append(dst, `,"final_url":`...), r.Final)
	}
	dst = appendInt(append(dst, `,"links_gained":`...), int64(r.Links))
	dst = appendInt(append(dst, `,"text_gained":`...), int64(r.Text))
	if r.Screenshot != "" {
		dst = appendText(dst, `,"screenshot":`, r.Screenshot)
	}
	return append(dst, '}')
}

// renderedJSON is the form of AppendRendered.
type renderedJSON struct {
	Digest  digest    `json:"digest"`
	At      time.Time `json:"at"`
	Wall    int64     `json:"wall_ms"`
	CPU     int64     `json:"cpu_ms"`
	Settled string    `json:"settled"`
	Final   href      `json:"final_url"`
	Links   int       `json:"links_gained"`
	Text    int       `json:"text_gained"`
	Picture string    `json:"screenshot"`
}

// ParseRendered reads what AppendRendered appended.
func ParseRendered(text []byte) (*crawl.RenderedPart, error) {
	var j renderedJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("parse what a record says of a render: %w", err)
	}
	return j.part(), nil
}

func (j *renderedJSON) part() *crawl.RenderedPart {
	if j == nil {
		return nil
	}
	return &crawl.RenderedPart{Digest: crawl.Digest(j.Digest), At: j.At.UTC(),
		Wall: time.Duration(j.Wall) * time.Millisecond, CPU: time.Duration(j.CPU) * time.Millisecond, Settled: j.Settled,
		Final: weburl.URL(j.Final), Links: j.Links, Text: j.Text, Screenshot: j.Picture}
}
