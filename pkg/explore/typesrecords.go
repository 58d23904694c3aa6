package explore

import (
	"encoding/json"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore/worddiff"
)

// The orders of records.
const (
	Best   = "best"   // those in which the words of a search are found best
	Newest = "newest" // those that were stored last
)

// RecordFilter picks records; empty: all, the newest first.
type RecordFilter struct {
	Query      string            // as textsearch reads it
	Sort       string            // Best or Newest; empty: Best where there is a query
	Since      time.Time         // fetched then or later; zero: at any time
	Until      time.Time         // fetched before then
	Lang       string            // with its regions: en is also en-GB
	Type       string            // media type
	Status     int               //
	Host       string            //
	Duplicates string            // only, exact, near, or none: originals alone; empty: all
	Fields     map[string]string // values of site fields; an empty value: the record has the field
	Columns    []string          // site fields whose values are given with each record
	Facets     bool              // count the facets too
}

// Record is a line of a list of records.
type Record struct {
	URL         string                     `json:"url"`
	Key         string                     `json:"key"`
	Title       string                     `json:"title"`
	Lang        string                     `json:"lang,omitempty"`
	Type        string                     `json:"type"`
	Status      int                        `json:"status"`
	Depth       int                        `json:"depth"`
	Bytes       int64                      `json:"bytes"`
	Words       int                        `json:"words"`
	FetchedAt   time.Time                  `json:"fetched_at"`
	DuplicateOf string                     `json:"duplicate_of,omitempty"`
	Similarity  string                     `json:"similarity,omitempty"` // exact or near
	Fields      map[string]json.RawMessage `json:"fields,omitempty"`     // those asked for
	Snippet     []Piece                    `json:"snippet,omitempty"`    // of a search
	Score       float64                    `json:"score,omitempty"`      // of a search by words: BM25, more is better
	GoneAt      time.Time                  `json:"gone_at,omitzero"`     // of a search: the page was missing since
	MovedTo     string                     `json:"moved_to,omitempty"`   // of a search: it leads there for good by now
}

// Piece is a piece of plain text; Hit: it is what was searched for.
type Piece = textsearch.Piece

// Records is a list of records with its facets.
type Records struct {
	List[Record]
	Facets *Facets `json:"facets,omitempty"`
}

// Facets count the records that match by what else could be asked for.
type Facets struct {
	Of       int64        `json:"of"`                // records that were counted
	Partial  bool         `json:"partial,omitempty"` // more than those match
	Langs    []Count      `json:"langs"`
	Types    []Count      `json:"types"`
	Statuses []Count      `json:"statuses"`
	Copies   []Count      `json:"duplicates"` // none, exact, near
	Fields   []FieldFacet `json:"fields"`
}

// FieldFacet counts the values of a site field.
type FieldFacet struct {
	Name   string  `json:"name"`
	Count  int64   `json:"count"`  // of records that have it
	Values []Count `json:"values"` // the twenty most frequent
}

// RecordWhole is everything stored about a page.
type RecordWhole struct {
	Record   json.RawMessage `json:"record"` // as it is in pages.jsonl, but for links, versions, and what Cut names
	Key      string          `json:"key"`
	Cut      []string        `json:"cut,omitempty"`      // parts of it that were too long and are cut here: text, links, …
	Links    []LinkState     `json:"links"`              // the first 200
	Copies   []Member        `json:"copies"`             // of it, the first 200
	Original *Member         `json:"original,omitempty"` // of which it is a copy
	Versions []PageVersion   `json:"versions,omitempty"` // earlier ones that are kept, the newest first
	Body     bool            `json:"body"`               // its body is kept
	Index    *Index          `json:"index"`
}

// LinkState is a link and the state of its target.
type LinkState struct {
	URL    string `json:"url"`
	Key    string `json:"key,omitempty"`
	Text   string `json:"text,omitempty"`
	Rel    string `json:"rel,omitempty"`
	State  string `json:"state,omitempty"` // empty: it waits in a queue, or nothing is known of it
	Reason string `json:"reason,omitempty"`
	Status int    `json:"status,omitempty"`
}

// Cluster is an original with its copies.
type Cluster struct {
	ID    string `json:"id"` // key of the original
	URL   string `json:"url"`
	Title string `json:"title"`
	Size  int64  `json:"size"` // with the original
	Exact int64  `json:"exact"`
	Near  int64  `json:"near"`
	Hosts int64  `json:"hosts"`
}

// ClusterFilter picks clusters, the largest first.
type ClusterFilter struct {
	Similarity string // exact or near; empty: all
	Distance   int    // near ones whose Hamming distance is that at most; 0: all
}

// ClusterWhole is a cluster with its members.
type ClusterWhole struct {
	Cluster
	Members List[Member] `json:"members"`
}

// Member is a page of a cluster.
type Member struct {
	URL        string    `json:"url"`
	Key        string    `json:"key"`
	Title      string    `json:"title"`
	Similarity string    `json:"similarity"` // original, exact or near
	Distance   int       `json:"distance"`   // bits of 64 in which its simhash differs from the original's
	Bytes      int64     `json:"bytes"`
	FetchedAt  time.Time `json:"fetched_at"`
}

// TextDiff is two texts side by side.
type TextDiff struct {
	A      Side             `json:"a"`
	B      Side             `json:"b"`
	Pieces []worddiff.Piece `json:"pieces"`
	Cut    bool             `json:"cut,omitempty"` // the texts were longer than what was compared
}

// Side is one of two texts.
type Side struct {
	Execution string `json:"execution"`
	URL       string `json:"url"`
	Key       string `json:"key"`
	Title     string `json:"title"`
	Words     int    `json:"words"`
	// Source says where the text is from: record, body (read again as the crawl reads it), original (an exact copy has
	// the text of its original), or none: nothing is kept of it, and Note says what to do.
	Source string `json:"source"`
	Note   string `json:"note,omitempty"`
	// Visit and FetchedAt tell the versions of a page apart; zero where the sides are not versions of one page.
	Visit     int       `json:"visit,omitempty"`
	FetchedAt time.Time `json:"fetched_at,omitzero"`
}

// PageVersion is what a page was at an earlier visit.
type PageVersion struct {
	Visit     int       `json:"visit"` // 0 is the first
	FetchedAt time.Time `json:"fetched_at"`
	Title     string    `json:"title"`
	Words     int       `json:"words"`
}

// Chain is how a URL was found, and what it links to.
type Chain struct {
	URL   string      `json:"url"`
	Hops  []Task      `json:"hops"`           // from the URL back to a seed
	Whole bool        `json:"whole"`          // the last hop is a seed
	Note  string      `json:"note,omitempty"` // why not
	Links []LinkState `json:"links"`          // of its page, the first 200
	From  []Task      `json:"found"`          // URLs that were first found on it, the first 200
	Index *Index      `json:"index"`
}
