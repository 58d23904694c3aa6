// Package structured reads what an HTML document says to programs: JSON-LD, microdata, RDFa Lite, OpenGraph, Twitter
// cards and the common meta elements; and out of them who wrote the page and when.
//
// Its duties, in order:
//
//  1. One pass over the tokens finds scripts of JSON-LD, meta elements, time elements and authors' links.
//  2. Only a document that has items of microdata or RDFa is made a tree, for those.
//  3. Everything is bounded: depth, number and length of values, bytes in all. Data.Cut says that there was more.
//  4. Author and dates are taken from the most trustworthy place that has them; see [Data.Facts].
//
// What is broken is read as far as it can be: JSON with comments or trailing commas is common. The package must never
// fetch a context or a vocabulary.
package structured

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// Limits of what is taken from a page.
const (
	maxBytes   = 64 << 10 // of the JSON of all of it
	maxString  = 8 << 10  // of one value, in bytes
	maxDepth   = 16       // of values within values
	maxValues  = 4_000    // values in all
	maxScript  = 1 << 20  // of one script of JSON-LD, in bytes
	maxScripts = 2 << 20  // of all of them
	maxMeta    = 200      // meta elements
	maxName    = 200      // of a property, in bytes
	maxTimes   = 50       // time elements
)

// Item is an item of microdata or RDFa, as the HTML Standard writes microdata in JSON (5.5).
type Item struct {
	Type       []string         `json:"type,omitempty"`
	ID         string           `json:"id,omitempty"`
	Properties map[string][]any `json:"properties"` // strings and *Item
	depth      int
}

// Data is what a document says to programs.
type Data struct {
	// the nodes of all scripts; a graph is its nodes
	JSONLD    []any   `json:"jsonld,omitempty"`
	Microdata []*Item `json:"microdata,omitempty"`
	RDFa      []*Item `json:"rdfa,omitempty"`
	// og:, article:, product: and the like; a text, or a list of them
	OpenGraph map[string]any `json:"opengraph,omitempty"`
	// twitter:…, without the prefix
	Twitter map[string]any `json:"twitter,omitempty"`
	// author, description, keywords, dates, citation_…, dc.…
	Meta map[string]any `json:"meta,omitempty"`
	// something was left out
	Cut bool `json:"cut,omitempty"`

	times   []timeElement
	authors []string    // texts of rel=author
	marked  []string    // names in elements that are marked as the author's
	board   bool        // these are of a talk's page
	dated   []time.Time // dates in elements that are marked as such
	budget  budget
}

// Read collects the data of a document in UTF-8. resolve makes absolute URLs of references; "" where they lead nowhere.
func Read(doc []byte, resolve func(ref string) string) *Data {
	d := &Data{budget: budget{values: maxValues, bytes: maxBytes}}
	s := scan{data: d}
	if s.run(doc) {
		d.items(doc, resolve)
	}
	return d
}

// Empty reports whether the document says nothing to programs.
func (d *Data) Empty() bool {
	return len(d.JSONLD)+len(d.Microdata)+len(d.RDFa)+len(d.OpenGraph)+len(d.Twitter)+len(d.Meta) == 0
}

// JSON returns the data as one line of at most 64 KiB; "" where there is none. What was taken last goes first where it
// would be longer.
func (d *Data) JSON() string {
	for !d.Empty() {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(d); err == nil && out.Len() <= maxBytes {
			return strings.TrimSpace(out.String())
		}
		d.shrink()
	}
	return ""
}

// shrink leaves something out: half of what there is most of.
func (d *Data) shrink() {
	d.Cut = true
	switch {
	case len(d.RDFa) > 0:
		d.RDFa = d.RDFa[:len(d.RDFa)/2]
	case len(d.Microdata) > 0:
		d.Microdata = d.Microdata[:len(d.Microdata)/2]
	case len(d.JSONLD) > 0:
		d.JSONLD = d.JSONLD[:len(d.JSONLD)/2]
	case d.Meta != nil:
		d.Meta = nil
	case d.Twitter != nil:
		d.Twitter = nil
	default:
		d.OpenGraph = nil
	}
}

// budget is how much may still be taken.
type budget struct{ values, bytes int }

// take reports whether there is room for a value of n bytes, and takes it.
func (b *budget) take(n int) bool {
	if b.values <= 0 || b.bytes < n+4 {
		b.values = 0
		return false
	}
	b.values--
	b.bytes -= n + 4
	return true
}
