package export

import (
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// kind is the type of a column's values.
type kind uint8

const (
	text         kind = iota // string; "" is an empty cell
	integer                  // int64
	truth                    // bool
	timestamp                // int64, milliseconds since 1970
	date                     // the same, or nil
	number                   // float64, or nil
	textList                 // []string
	linkList                 // []crawl.Link
	jsonText                 // string that holds JSON
	optionalJSON             // the same, or ""
	field                    // any: the value of a site rule's field, nil when there is none
)

// column is one column: value returns what the comment at its kind says.
type column struct {
	name  string
	kind  kind
	value func(r *crawl.Record) any
}

// columns are the keys of a record, in their order there.
var columns = []column{
	{name: "url", kind: text, value: func(r *crawl.Record) any { return r.URL.String() }},
	{name: "final_url", kind: text, value: func(r *crawl.Record) any { return r.FinalURL.String() }},
	{name: "status", kind: integer, value: func(r *crawl.Record) any { return int64(r.Status) }},
	{name: "fetched_at", kind: timestamp, value: func(r *crawl.Record) any { return r.FetchedAt.UnixMilli() }},
	{name: "depth", kind: integer, value: func(r *crawl.Record) any { return int64(r.Depth) }},
	{name: "referrer", kind: text, value: func(r *crawl.Record) any { return r.Referrer.String() }},
	{name: "content_type", kind: text, value: func(r *crawl.Record) any { return r.ContentType }},
	{name: "charset", kind: text, value: func(r *crawl.Record) any { return r.Charset }},
	{name: "bytes", kind: integer, value: func(r *crawl.Record) any { return r.Bytes }},
	{name: "digest", kind: text, value: func(r *crawl.Record) any { return digest(r.Digest) }},
	{name: "simhash", kind: text, value: func(r *crawl.Record) any { return hex64(r.Simhash) }},
	{name: "title", kind: text, value: func(r *crawl.Record) any { return r.Title }},
	{name: "lang", kind: text, value: func(r *crawl.Record) any { return r.Lang }},
	{name: "text", kind: text, value: func(r *crawl.Record) any { return r.Text }},
	{name: "links", kind: linkList, value: func(r *crawl.Record) any { return r.Links }},
	{name: "assets", kind: textList, value: func(r *crawl.Record) any { return r.Assets }},
	{name: "fields", kind: jsonText,
		value: func(r *crawl.Record) any { return string(jsonl.AppendFields(nil, r.Fields)) }},
	{name: "duplicate_of", kind: text, value: func(r *crawl.Record) any { return r.DuplicateOf.String() }},
	{name: "similarity", kind: text, value: func(r *crawl.Record) any { return r.Similarity }},
	{name: "canonical", kind: text, value: func(r *crawl.Record) any { return r.Canonical }},
	{name: "truncated", kind: text, value: func(r *crawl.Record) any { return r.Truncated }},
	{name: "cut", kind: textList, value: func(r *crawl.Record) any { return r.Cut }},
	{name: "markdown", kind: text, value: func(r *crawl.Record) any { return r.Markdown }},
	{name: "structured", kind: optionalJSON, value: func(r *crawl.Record) any { return r.Structured }},
	{name: "author", kind: text, value: func(r *crawl.Record) any { return r.Author }},
	{name: "published", kind: date, value: func(r *crawl.Record) any { return dateOf(r.Published) }},
	{name: "modified", kind: date, value: func(r *crawl.Record) any { return dateOf(r.Modified) }},
	{name: "insecure", kind: truth, value: func(r *crawl.Record) any { return r.Insecure }},
	{name: "plugins", kind: textList, value: func(r *crawl.Record) any { return r.Plugins }},
	{name: "plugin_errors", kind: textList, value: func(r *crawl.Record) any { return r.PluginErrors }},
	{name: "topic", kind: number, value: topicOf},
	{name: "classes", kind: textList, value: func(r *crawl.Record) any { return r.Classes }},
	{name: "rendered", kind: optionalJSON, value: renderedText},
	{name: "gone_at", kind: date, value: func(r *crawl.Record) any { return dateOf(r.GoneAt) }},
	{name: "withdrawn_at", kind: date, value: func(r *crawl.Record) any { return dateOf(r.WithdrawnAt) }},
	{name: "moved_to", kind: text, value: func(r *crawl.Record) any { return r.MovedTo.String() }},
	{name: "versions", kind: optionalJSON, value: versionsText},
}

// renderedText is what a record says of a render, as JSON; empty: the page was not rendered.
func renderedText(r *crawl.Record) any {
	if r.Rendered == nil {
		return ""
	}
	return string(jsonl.AppendRendered(nil, r.Rendered))
}

// topicOf is how relevant a page is to the job's topic.
func topicOf(r *crawl.Record) any {
	if !r.Relevance.Known() {
		return nil
	}
	return r.Relevance.P()
}

// versionsText are the earlier versions of a record, as JSON; empty: none are kept.
func versionsText(r *crawl.Record) any {
	if len(r.Versions) == 0 {
		return ""
	}
	return string(jsonl.AppendVersions(nil, r.Versions))
}

// dateOf is the value of a date.
func dateOf(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// Columns returns the names of the columns every record has, in their order.
func Columns() []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return names
}

// fieldColumn is the column of a site rule's field.
func fieldColumn(title, name string) column {
	return column{title, field, func(r *crawl.Record) any {
		for i := range r.Fields {
			if r.Fields[i].Name == name {
				return r.Fields[i].Value
			}
		}
		return nil
	}}
}

// fieldName is the name of the site rule's field of a column that is named field.NAME or fields.NAME.
func (c *column) fieldName() string {
	if c.kind != field {
		return ""
	}
	_, name, _ := strings.Cut(c.name, ".")
	return name
}
