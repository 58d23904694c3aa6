package plugin

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Message is what passes a point: one of *Seeds, *Request, *Response, *Document, *Links, *Record and *Delivery. Its
// JSON is what WASM modules and processes read; expressions see it under the name Word gives.
type Message interface {
	// Point is where it passes.
	Point() crawl.Point
	// Word is its name in expressions: seeds, req, resp, doc, links, record or delivery.
	Word() string
}

// Seeds are the seeds of a job that starts.
type Seeds struct {
	Job   string `json:"job"`
	Seeds []Seed `json:"seeds"`
}

// Seed is one of them.
type Seed struct {
	URL string `json:"url"`
}

// Request is a request that is to be made.
type Request struct {
	URL     string              `json:"url"`
	Host    string              `json:"host"` // with the port where it is not the scheme's own
	Path    string              `json:"path"` // escaped, without the query
	Depth   int                 `json:"depth"`
	Attempt int                 `json:"attempt"` // from 1
	Kind    string              `json:"kind"`    // page, sitemap or asset
	Seed    bool                `json:"seed"`
	Headers map[string][]string `json:"headers"`
}

// Response is an answer whose body is to be parsed.
type Response struct {
	URL         string    `json:"url"`
	Host        string    `json:"host"`
	Path        string    `json:"path"`
	Depth       int       `json:"depth"`
	Status      int       `json:"status"`
	ContentType string    `json:"content_type"` // the header's value, or what was sniffed
	Bytes       int64     `json:"bytes"`        // of the decoded body
	FetchedAt   time.Time `json:"fetched_at"`
	Truncated   string    `json:"truncated,omitempty"`
}

// Document is a parsed page.
type Document struct {
	URL         string         `json:"url"`
	Host        string         `json:"host"`
	Path        string         `json:"path"`
	Depth       int            `json:"depth"`
	Status      int            `json:"status"`
	FetchedAt   time.Time      `json:"fetched_at"`
	ContentType string         `json:"content_type"` // media type
	Title       string         `json:"title"`
	Text        string         `json:"text"`
	Lang        string         `json:"lang"`
	Canonical   string         `json:"canonical,omitempty"`
	NoIndex     bool           `json:"noindex"`
	NoFollow    bool           `json:"nofollow"`
	Fields      map[string]any `json:"fields"`
}

// Links are the links of a page.
type Links struct {
	URL   string `json:"url"` // of the page
	Host  string `json:"host"`
	Path  string `json:"path"`
	Depth int    `json:"depth"` // of the page
	Links []Link `json:"links"`
}

// Link is one of them.
type Link struct {
	URL    string `json:"url"`
	Rel    string `json:"rel,omitempty"`
	Text   string `json:"text,omitempty"`
	Tag    string `json:"tag"`
	Weight int    `json:"weight"` // 1 to 9; 0: none
	// Dropped is the earlier node that dropped it and, after a blank, its reason; empty: none did.
	Dropped string `json:"dropped,omitempty"`
}

// Record is what is stored of a page.
type Record struct {
	URL         string         `json:"url"`
	Host        string         `json:"host"`
	Path        string         `json:"path"`
	Depth       int            `json:"depth"`
	Status      int            `json:"status"`
	FetchedAt   time.Time      `json:"fetched_at"`
	ContentType string         `json:"content_type"`
	Bytes       int64          `json:"bytes"`
	Title       string         `json:"title"`
	Text        string         `json:"text"`
	Lang        string         `json:"lang"`
	Fields      map[string]any `json:"fields"`
	DuplicateOf string         `json:"duplicate_of,omitempty"`
	Similarity  string         `json:"similarity,omitempty"` // exact or near, of a copy
}

// Delivery is a stored record on its way out.
type Delivery struct {
	Job    string         `json:"job"`
	Record map[string]any `json:"record"` // as a line of pages.jsonl
}
