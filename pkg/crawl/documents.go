package crawl

import (
	"context"
	"time"
)

// The defaults and the bound of Documents.
const (
	DefaultDocumentPages = 1_000
	DefaultDocumentTime  = 30 * time.Second
	MaxDocumentTime      = 2 * time.Minute
)

// PageLimit is how many pages are read of one; 0: all.
func (d *Documents) PageLimit() int {
	if d.Pages == 0 {
		return DefaultDocumentPages
	}
	return max(d.Pages, 0)
}

// Limit is how long it may take to open one.
func (d *Documents) Limit() time.Duration {
	if d.Time <= 0 {
		return DefaultDocumentTime
	}
	return min(d.Time.D(), MaxDocumentTime)
}

// OpenRequest is a document to be opened.
type OpenRequest struct {
	MediaType string
	Body      []byte
	Pages     int // pages that are read; 0: all
	Text      int // bytes of text that are wanted; 0: all
	Links     int // links that are wanted; 0: all
	Time      time.Duration
}

// Opened is what a document says.
type Opened struct {
	Title    string    `json:"title,omitempty"`
	Author   string    `json:"author,omitempty"`
	Lang     string    `json:"lang,omitempty"`
	Created  time.Time `json:"created,omitzero"`
	Modified time.Time `json:"modified,omitzero"`
	Pages    int       `json:"pages,omitempty"` // pages, slides or sheets that it has
	Text     string    `json:"text,omitempty"`  // UTF-8, a paragraph or line a line
	Links    []string  `json:"links,omitempty"` // as they are in the document
	Cut      []string  `json:"cut,omitempty"`   // bounds that were met: "pages", "text", "links"
	// Reason says why it could not be opened, one of the ReasonDocument constants; empty: it was.
	Reason string `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"` // for people
}

// Opener opens documents. Whatever is in one, the program that asks is not harmed.
type Opener interface {
	// Opens reports whether documents of a media type are opened.
	Opens(mediaType string) bool
	// Open opens one. An error is a fault of ours, or ctx is done; a document that cannot be read is told in
	// Opened.Reason.
	Open(ctx context.Context, r *OpenRequest) (*Opened, error)
}

// Reasons for a document that was fetched and has no record.
const (
	ReasonDocumentBroken    = "document-broken"    // it is not what its media type says, or is damaged
	ReasonDocumentEncrypted = "document-encrypted" // it wants a password
	ReasonDocumentTime      = "document-time"      // to read it takes longer than documents.time
	ReasonDocumentMemory    = "document-memory"    // to read it takes more memory than there is for one
	ReasonDocumentCrash     = "document-crash"     // what reads it gave up, or died of it
)
