package export

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// kind is the type of a column's values.
type kind uint8

const (
	text      kind = iota // string; "" is an empty cell
	integer               // int64
	timestamp             // int64, milliseconds since 1970
	textList              // []string
	linkList              // []crawl.Link
	jsonText              // string that holds JSON
	field                 // any: the value of a site rule's field, nil when there is none
)

// column is one column: value returns what the comment at its kind says.
type column struct {
	name  string
	kind  kind
	value func(r *crawl.Record) any
}

// columns are the keys of a record, in their order there.
var columns = []column{
	{"url", text, func(r *crawl.Record) any { return r.URL.String() }},
	{"final_url", text, func(r *crawl.Record) any { return r.FinalURL.String() }},
	{"status", integer, func(r *crawl.Record) any { return int64(r.Status) }},
	{"fetched_at", timestamp, func(r *crawl.Record) any { return r.FetchedAt.UnixMilli() }},
	{"depth", integer, func(r *crawl.Record) any { return int64(r.Depth) }},
	{"referrer", text, func(r *crawl.Record) any { return r.Referrer.String() }},
	{"content_type", text, func(r *crawl.Record) any { return r.ContentType }},
	{"charset", text, func(r *crawl.Record) any { return r.Charset }},
	{"bytes", integer, func(r *crawl.Record) any { return r.Bytes }},
	{"digest", text, func(r *crawl.Record) any { return digest(r.Digest) }},
	{"simhash", text, func(r *crawl.Record) any { return hex64(r.Simhash) }},
	{"title", text, func(r *crawl.Record) any { return r.Title }},
	{"lang", text, func(r *crawl.Record) any { return r.Lang }},
	{"text", text, func(r *crawl.Record) any { return r.Text }},
	{"links", linkList, func(r *crawl.Record) any { return r.Links }},
	{"assets", textList, func(r *crawl.Record) any { return r.Assets }},
	{"fields", jsonText, func(r *crawl.Record) any { return string(jsonl.AppendFields(nil, r.Fields)) }},
	{"duplicate_of", text, func(r *crawl.Record) any { return r.DuplicateOf.String() }},
	{"similarity", text, func(r *crawl.Record) any { return r.Similarity }},
	{"canonical", text, func(r *crawl.Record) any { return r.Canonical }},
	{"truncated", text, func(r *crawl.Record) any { return r.Truncated }},
	{"cut", textList, func(r *crawl.Record) any { return r.Cut }},
	{"insecure", text, func(r *crawl.Record) any { return insecure(r.Insecure) }},
}

// Columns returns the names of the columns every record has, in their order.
func Columns() []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return names
}

// insecure is "true" where the server's certificate was not valid, and empty otherwise.
func insecure(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// fieldColumn is the column of a site rule's field.
func fieldColumn(name string) column {
	return column{fieldPrefix + name, field, func(r *crawl.Record) any {
		for i := range r.Fields {
			if r.Fields[i].Name == name {
				return r.Fields[i].Value
			}
		}
		return nil
	}}
}
