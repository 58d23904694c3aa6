package plugin

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Message is what passes a point: one of *Seeds, *Request, *Response, *Document, *Links, *Record and *Delivery. Its
// JSON is what WASM modules and processes read; expressions see it under the name Word gives, and its fields by the
// names of their JSON, which the expr tags repeat.
type Message interface {
	// Point is where it passes.
	Point() crawl.Point
	// Word is its name in expressions: seeds, req, resp, doc, links, record or delivery.
	Word() string
}

// Seeds are the seeds of a job that starts.
type Seeds struct {
	Job   string `json:"job" expr:"job"`
	Seeds []Seed `json:"seeds" expr:"seeds"`
}

// Seed is one of them.
type Seed struct {
	URL string `json:"url" expr:"url"`
}

// Request is a request that is to be made.
type Request struct {
	URL     string              `json:"url" expr:"url"`
	Host    string              `json:"host" expr:"host"` // with the port where it is not the scheme's own
	Path    string              `json:"path" expr:"path"` // escaped, without the query
	Depth   int                 `json:"depth" expr:"depth"`
	Attempt int                 `json:"attempt" expr:"attempt"` // from 1
	Kind    string              `json:"kind" expr:"kind"`       // page, sitemap or asset
	Seed    bool                `json:"seed" expr:"seed"`
	Headers map[string][]string `json:"headers" expr:"headers"`
}

// Response is an answer whose body is to be parsed.
type Response struct {
	URL         string    `json:"url" expr:"url"`
	Host        string    `json:"host" expr:"host"`
	Path        string    `json:"path" expr:"path"`
	Depth       int       `json:"depth" expr:"depth"`
	Status      int       `json:"status" expr:"status"`
	ContentType string    `json:"content_type" expr:"content_type"` // the header's value, or what was sniffed
	Bytes       int64     `json:"bytes" expr:"bytes"`               // of the decoded body
	FetchedAt   time.Time `json:"fetched_at" expr:"fetched_at"`
	Truncated   string    `json:"truncated,omitempty" expr:"truncated"`
}

// Document is a parsed page.
type Document struct {
	URL         string         `json:"url" expr:"url"`
	Host        string         `json:"host" expr:"host"`
	Path        string         `json:"path" expr:"path"`
	Depth       int            `json:"depth" expr:"depth"`
	Status      int            `json:"status" expr:"status"`
	FetchedAt   time.Time      `json:"fetched_at" expr:"fetched_at"`
	ContentType string         `json:"content_type" expr:"content_type"` // media type
	Title       string         `json:"title" expr:"title"`
	Text        string         `json:"text" expr:"text"`
	Lang        string         `json:"lang" expr:"lang"`
	Canonical   string         `json:"canonical,omitempty" expr:"canonical"`
	NoIndex     bool           `json:"noindex" expr:"noindex"`
	NoFollow    bool           `json:"nofollow" expr:"nofollow"`
	Fields      map[string]any `json:"fields" expr:"fields"`
}

// Links are the links of a page.
type Links struct {
	URL   string `json:"url" expr:"url"` // of the page
	Host  string `json:"host" expr:"host"`
	Path  string `json:"path" expr:"path"`
	Depth int    `json:"depth" expr:"depth"` // of the page
	Links []Link `json:"links" expr:"links"`
}

// Link is one of them.
type Link struct {
	URL    string `json:"url" expr:"url"`
	Rel    string `json:"rel,omitempty" expr:"rel"`
	Text   string `json:"text,omitempty" expr:"text"`
	Tag    string `json:"tag" expr:"tag"`
	Weight int    `json:"weight" expr:"weight"` // 1 to 9; 0: none
	// Dropped is the earlier node that dropped it and, after a blank, its reason; empty: none did.
	Dropped string `json:"dropped,omitempty" expr:"dropped"`
}

// Record is what is stored of a page.
type Record struct {
	URL         string         `json:"url" expr:"url"`
	Host        string         `json:"host" expr:"host"`
	Path        string         `json:"path" expr:"path"`
	Depth       int            `json:"depth" expr:"depth"`
	Status      int            `json:"status" expr:"status"`
	FetchedAt   time.Time      `json:"fetched_at" expr:"fetched_at"`
	ContentType string         `json:"content_type" expr:"content_type"`
	Bytes       int64          `json:"bytes" expr:"bytes"`
	Title       string         `json:"title" expr:"title"`
	Text        string         `json:"text" expr:"text"`
	Lang        string         `json:"lang" expr:"lang"`
	Fields      map[string]any `json:"fields" expr:"fields"`
	DuplicateOf string         `json:"duplicate_of,omitempty" expr:"duplicate_of"`
	Similarity  string         `json:"similarity,omitempty" expr:"similarity"` // exact or near, of a copy
}

// Delivery is a stored record on its way out.
type Delivery struct {
	Job    string  `json:"job" expr:"job"`
	Record *Record `json:"record" expr:"record"`
}
