package whirlpool

import "time"

// Request is a request that is to be made.
type Request struct {
	URL     string              `json:"url"`
	Host    string              `json:"host"`
	Path    string              `json:"path"`
	Depth   int                 `json:"depth"`
	Attempt int                 `json:"attempt"`
	Kind    string              `json:"kind"` // page, sitemap or asset
	Seed    bool                `json:"seed"`
	Headers map[string][]string `json:"headers"`
}

// RequestPatch changes a request. A header whose list is nil is removed.
type RequestPatch struct {
	Headers map[string][]string `json:"headers,omitempty"`
}

// Response is an answer whose body is to be parsed.
type Response struct {
	URL         string    `json:"url"`
	Host        string    `json:"host"`
	Path        string    `json:"path"`
	Depth       int       `json:"depth"`
	Status      int       `json:"status"`
	ContentType string    `json:"content_type"`
	Bytes       int64     `json:"bytes"`
	FetchedAt   time.Time `json:"fetched_at"`
	Truncated   string    `json:"truncated,omitempty"`
}

// ResponsePatch changes an answer; nil keeps.
type ResponsePatch struct {
	ContentType *string `json:"content_type,omitempty"`
	Body        []byte  `json:"body,omitempty"`
}

// Document is a parsed page. Its text is there where plugin.toml says needs = ["text"].
type Document struct {
	URL         string         `json:"url"`
	Host        string         `json:"host"`
	Path        string         `json:"path"`
	Depth       int            `json:"depth"`
	Status      int            `json:"status"`
	FetchedAt   time.Time      `json:"fetched_at"`
	ContentType string         `json:"content_type"`
	Title       string         `json:"title"`
	Text        string         `json:"text"`
	Lang        string         `json:"lang"`
	Canonical   string         `json:"canonical,omitempty"`
	NoIndex     bool           `json:"noindex"`
	NoFollow    bool           `json:"nofollow"`
	Fields      map[string]any `json:"fields"`
}

// DocumentPatch changes a document; nil keeps. A field whose value is nil is removed.
type DocumentPatch struct {
	Title    *string        `json:"title,omitempty"`
	Text     *string        `json:"text,omitempty"`
	Lang     *string        `json:"lang,omitempty"`
	NoIndex  *bool          `json:"noindex,omitempty"`
	NoFollow *bool          `json:"nofollow,omitempty"`
	Fields   map[string]any `json:"fields,omitempty"`
}

// Links are the links of a page.
type Links struct {
	URL   string `json:"url"`
	Host  string `json:"host"`
	Path  string `json:"path"`
	Depth int    `json:"depth"`
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

// LinksPatch changes the links of a page.
type LinksPatch struct {
	Change []LinkChange `json:"change,omitempty"`
	Add    []Link       `json:"add,omitempty"`
}

// LinkChange changes the link at an index of Links.Links.
type LinkChange struct {
	Index  int    `json:"index"`
	Drop   string `json:"drop,omitempty"`   // reason; empty: it stays
	Weight int    `json:"weight,omitempty"` // 1 to 9; 0 keeps
}

// Record is what is stored of a page. Its text is there where plugin.toml says needs = ["text"].
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
	Similarity  string         `json:"similarity,omitempty"`
}

// RecordPatch changes a record; nil keeps. A field whose value is nil is removed.
type RecordPatch struct {
	Title  *string        `json:"title,omitempty"`
	Text   *string        `json:"text,omitempty"`
	Lang   *string        `json:"lang,omitempty"`
	Fields map[string]any `json:"fields,omitempty"`
}
