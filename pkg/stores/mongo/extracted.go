package mongo

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// extracted appends what a job's Extract asked for. Structured data is stored as JSON text, because foreign documents
// have keys and depths that servers refuse.
func (w *builder) extracted(x *crawl.Extracted) {
	w.optional("markdown", x.Markdown)
	w.optional("structured", x.Structured)
	w.optional("author", x.Author)
	if !x.Published.IsZero() {
		w.date("published", x.Published)
	}
	if !x.Modified.IsZero() {
		w.date("modified", x.Modified)
	}
}

// assignExtracted sets what the document has under key; false where the key is none of those.
func assignExtracted(x *crawl.Extracted, key string, v bson.RawValue) (known bool, err error) {
	switch key {
	case "markdown":
		x.Markdown, err = textOf(v)
	case "structured":
		x.Structured, err = textOf(v)
	case "author":
		x.Author, err = textOf(v)
	case "published":
		x.Published, err = timeOf(v)
	case "modified":
		x.Modified, err = timeOf(v)
	default:
		return false, nil
	}
	return true, err
}

// cutExtracted takes out Markdown and structured data, which say in other words what the text says.
func cutExtracted(r *crawl.Record, _ int) (what string) {
	if r.Markdown == "" && r.Structured == "" {
		return ""
	}
	r.Markdown, r.Structured = "", ""
	return "markdown"
}
