package jsonl

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

type recordJSON struct {
	URL         href       `json:"url"`
	FinalURL    href       `json:"final_url"`
	Status      int        `json:"status"`
	FetchedAt   time.Time  `json:"fetched_at"`
	Depth       int        `json:"depth"`
	Referrer    href       `json:"referrer"`
	ContentType string     `json:"content_type"`
	Charset     string     `json:"charset"`
	Bytes       int64      `json:"bytes"`
	Digest      digest     `json:"digest"`
	Simhash     hex64      `json:"simhash"`
	Title       string     `json:"title"`
	Lang        string     `json:"lang"`
	Text        string     `json:"text"`
	Links       []linkJSON `json:"links"`
	Assets      []string   `json:"assets"`
	Fields      fieldList  `json:"fields"`
	DuplicateOf href       `json:"duplicate_of"`
	Similarity  string     `json:"similarity"`
	Canonical   string     `json:"canonical"`
	Truncated   string     `json:"truncated"`
	Cut         []string   `json:"cut"`
	Epoch       uint32     `json:"epoch"`
	Visit       int        `json:"visit"`
	Insecure    bool       `json:"insecure"`
	extractedJSON
	Plugins      []string      `json:"plugins"`
	PluginErrors []string      `json:"plugin_errors"`
	Topic        *float64      `json:"topic"`
	Classes      []string      `json:"classes"`
	Rendered     *renderedJSON `json:"rendered"`
	agedJSON
}

type linkJSON struct {
	URL    string `json:"url"`
	Rel    string `json:"rel"`
	Text   string `json:"text"`
	Weight int    `json:"weight"`
}

// ParseRecord reads one line of pages.jsonl; the newline may be missing. Keys that it does not know are passed over, so
// that files of a newer version can be read. Numbers among the fields come back as float64.
func ParseRecord(line []byte) (*crawl.Record, error) {
	var j recordJSON
	if err := json.Unmarshal(line, &j); err != nil {
		return nil, fmt.Errorf("parse a record: %w", err)
	}
	if weburl.URL(j.URL).IsZero() {
		return nil, fmt.Errorf("parse a record: it has no url")
	}
	return &crawl.Record{
		URL: weburl.URL(j.URL), FinalURL: weburl.URL(j.FinalURL), Canonical: j.Canonical, Status: j.Status,
		FetchedAt: j.FetchedAt.UTC(), Depth: j.Depth, Referrer: weburl.URL(j.Referrer), ContentType: j.ContentType,
		Charset: j.Charset, Bytes: j.Bytes, Digest: crawl.Digest(j.Digest), Simhash: uint64(j.Simhash), Title: j.Title,
		Lang: j.Lang, Text: j.Text, Links: links(j.Links), Assets: j.Assets, Fields: j.Fields,
		DuplicateOf: weburl.URL(j.DuplicateOf), Similarity: j.Similarity, Truncated: j.Truncated, Cut: j.Cut,
		Epoch: j.Epoch, Visit: j.Visit, Insecure: j.Insecure, Extracted: j.extracted(),
		Plugged: crawl.Plugged{Plugins: j.Plugins, PluginErrors: j.PluginErrors}, Rendered: j.Rendered.part(), Aged: j.aged(),
		Judged: crawl.Judged{Relevance: relevance(j.Topic), Classes: j.Classes},
	}, nil
}

func links(in []linkJSON) []crawl.Link {
	if len(in) == 0 {
		return nil
	}
	out := make([]crawl.Link, len(in))
	for i, l := range in {
		out[i] = crawl.Link{Rel: l.Rel, Text: l.Text, Weight: l.Weight}
		u, err := weburl.Parse(l.URL)
		if err != nil {
			out[i].Raw = l.URL
		}
		out[i].URL = u
	}
	return out
}

// href is a URL or "".
type href weburl.URL

func (h *href) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*h = href{}
		return nil
	}
	u, err := weburl.Parse(string(text))
	*h = href(u)
	return err
}

// anyHref is a URL of any scheme, or "".
type anyHref weburl.URL

func (n *anyHref) UnmarshalText(text []byte) (err error) {
	var u weburl.URL
	if len(text) > 0 {
		u, err = weburl.ParseStored(text)
	}
	*n = anyHref(u)
	return err
}

// digest is "sha256:" and 64 digits, or "".
type digest crawl.Digest

func (d *digest) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = digest{}
		return nil
	}
	digits, ok := strings.CutPrefix(string(text), "sha256:")
	if !ok || len(digits) != 2*len(d) {
		return fmt.Errorf("digest %q: want sha256: and %d hexadecimal digits", text, 2*len(d))
	}
	if _, err := hex.Decode(d[:], []byte(digits)); err != nil {
		return fmt.Errorf("digest %q: %w", text, err)
	}
	return nil
}

type hex64 uint64

func (h *hex64) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("simhash %q: want 16 hexadecimal digits", text)
	}
	*h = hex64(v)
	return nil
}

// fieldList is an object whose order counts.
type fieldList []crawl.Field

func (f *fieldList) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("fields: want an object, not %.20q", data)
	}
	*f = nil
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var v any
		if err := dec.Decode(&v); err != nil {
			return err
		}
		*f = append(*f, crawl.Field{Name: name.(string), Value: v}) // the keys of a JSON object are strings
	}
	return nil
}
