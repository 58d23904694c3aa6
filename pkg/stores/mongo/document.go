package mongo

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxDocument is the largest document that is sent: 16 MiB, which servers take, less a margin.
const maxDocument = 16<<20 - 16<<10

// document makes the document of a record, in at most limit bytes.
func document(r *crawl.Record, now time.Time, limit int) bson.Raw {
	doc := encode(r, now)
	if len(doc) <= limit {
		return doc
	}
	small := *r
	small.Cut = slices.Clone(r.Cut)
	for _, shrink := range []func(r *crawl.Record, over int) (what string){cutExtracted, cutText, cutAssets, cutLinks,
		cutFields} {
		// The name of what was cut takes room, too.
		what := shrink(&small, len(doc)-limit+64)
		if what != "" && !slices.Contains(small.Cut, what) {
			small.Cut = append(small.Cut, what)
		}
		if doc = encode(&small, now); len(doc) <= limit {
			break
		}
	}
	return doc
}

func cutText(r *crawl.Record, over int) string {
	if r.Text == "" {
		return ""
	}
	text := valid(r.Text)
	end := max(len(text)-over, 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	r.Text = text[:end]
	return "text"
}

func cutAssets(r *crawl.Record, over int) (what string) {
	r.Assets, what = cutTail(r.Assets, over, "assets", func(w *builder, a string) { w.text("", a) })
	return what
}

func cutLinks(r *crawl.Record, over int) (what string) {
	r.Links, what = cutTail(r.Links, over, "links", func(w *builder, l crawl.Link) { w.link("", l) })
	return what
}

func cutFields(r *crawl.Record, over int) (what string) {
	r.Fields, what = cutTail(r.Fields, over, "fields", func(w *builder, f crawl.Field) { w.value("", f.Value) })
	return what
}

// cutTail drops items from the end of list until their encoding is at least over bytes.
func cutTail[T any](list []T, over int, what string, encode func(*builder, T)) ([]T, string) {
	var w builder
	n := len(list)
	for n > 0 && over > 0 {
		n--
		w.b = w.b[:0]
		encode(&w, list[n])
		over -= len(w.b)
	}
	if n == len(list) {
		return list, ""
	}
	return list[:n], what
}

// encode makes the document of a record, however large.
func encode(r *crawl.Record, now time.Time) bson.Raw {
	w := &builder{b: make([]byte, 0, roughly(r)), open: make([]int, 0, 4)}
	w.start()
	w.text("_id", idOf(r.URL.Key()))
	w.text("url", r.URL.String())
	w.text("domain", r.URL.RegistrableDomain())
	w.text("final_url", r.FinalURL.String())
	w.integer("status", int64(r.Status))
	w.date("fetched_at", r.FetchedAt)
	w.integer("depth", int64(r.Depth))
	w.text("referrer", r.Referrer.String())
	w.text("content_type", r.ContentType)
	w.text("charset", r.Charset)
	w.integer("bytes", r.Bytes)
	w.text("digest", digestText(r.Digest))
	w.text("simhash", fmt.Sprintf("%016x", r.Simhash))
	w.text("title", r.Title)
	w.text("lang", r.Lang)
	w.text("text", r.Text)
	appendList(w, "links", r.Links, w.link)
	w.texts("assets", r.Assets)
	w.fields(r.Fields)
	w.text("duplicate_of", r.DuplicateOf.String())
	w.optional("similarity", r.Similarity)
	w.optional("canonical", r.Canonical)
	w.optional("truncated", r.Truncated)
	w.texts("cut", r.Cut)
	if r.Epoch > 1 {
		w.integer("epoch", int64(r.Epoch))
	}
	if r.Visit > 0 {
		w.integer(visitKey, int64(r.Visit))
	}
	w.extracted(&r.Extracted)
	if r.Insecure {
		w.boolean("insecure", true)
	}
	w.made(r)
	w.date("created_at", now)
	w.sum()
	w.end()
	return w.b
}

// made appends what plug-ins and a browser had to do with the record.
func (w *builder) made(r *crawl.Record) {
	w.texts("plugins", r.Plugins)
	w.texts("plugin_errors", r.PluginErrors)
	if r.Relevance.Known() {
		w.number("topic", r.Relevance.P())
	}
	w.texts("classes", r.Classes)
	if r.Rendered != nil {
		w.text("rendered", string(jsonl.AppendRendered(nil, r.Rendered)))
	}
	if !r.GoneAt.IsZero() {
		w.date("gone_at", r.GoneAt)
	}
	if !r.WithdrawnAt.IsZero() {
		w.date("withdrawn_at", r.WithdrawnAt)
	}
	if !r.MovedTo.IsZero() {
		w.text("moved_to", r.MovedTo.String())
	}
	if len(r.Versions) > 0 {
		w.text("versions", string(jsonl.AppendVersions(nil, r.Versions)))
	}
}

// texts appends a list, or nothing when it is empty.
func (w *builder) texts(key string, list []string) {
	if len(list) > 0 {
		appendList(w, key, list, w.text)
	}
}

// roughly guesses the size of a record's document, so that its buffer need not grow.
func roughly(r *crawl.Record) int {
	return 1<<10 + len(r.Text) + len(r.Title) + len(r.Markdown) + len(r.Structured) + 160*len(r.Links) +
		100*len(r.Assets) + 200*len(r.Fields)
}

// idOf is the _id of a URL's document.
func idOf(k weburl.Key) string { return hex.EncodeToString(k[:]) }

func digestText(d crawl.Digest) string {
	if d.IsZero() {
		return ""
	}
	return d.String()
}

func (w *builder) link(key string, l crawl.Link) {
	href := l.Raw
	if !l.URL.IsZero() {
		href = l.URL.String()
	}
	w.startIn(bson.TypeEmbeddedDocument, key)
	w.text("url", href)
	w.optional("rel", l.Rel)
	w.optional("text", l.Text)
	if l.Weight != 0 {
		w.integer("weight", int64(l.Weight))
	}
	w.end()
}

// fields appends the site rules' fields. Of several with one name the first stands.
func (w *builder) fields(fields []crawl.Field) {
	w.startIn(bson.TypeEmbeddedDocument, "fields")
	names := make([]string, 0, len(fields))
	for i := range fields {
		if name := escapeName(fields[i].Name); !slices.Contains(names, name) {
			names = append(names, name)
			w.value(name, fields[i].Value)
		}
	}
	w.end()
}

// value appends the value of a field. Values come from site rules, or from the bus as CBOR makes them.
func (w *builder) value(key string, v any) {
	switch v := v.(type) {
	case []any:
		appendList(w, key, v, w.item)
	case []string:
		appendList(w, key, v, w.text)
	case []float64:
		appendList(w, key, v, w.number)
	case map[string]any:
		w.item(key, v)
	default:
		w.scalar(key, v)
	}
}

// item appends an item of a list: what a policy selected, or a plug-in made, is an object. A list in a list is stored
// as JSON text: some servers that speak MongoDB's protocol take no nested arrays.
func (w *builder) item(key string, v any) {
	object, ok := v.(map[string]any)
	if !ok {
		w.scalar(key, v)
		return
	}
	w.startIn(bson.TypeEmbeddedDocument, key)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		w.value(escapeName(name), object[name])
	}
	w.end()
}

func (w *builder) scalar(key string, v any) {
	switch v := v.(type) {
	case nil:
		w.head(bson.TypeNull, key)
	case string:
		w.text(key, v)
	case bool:
		w.boolean(key, v)
	case float64:
		w.number(key, v)
	case int:
		w.integer(key, int64(v))
	case int64:
		w.integer(key, v)
	case uint64:
		w.number(key, float64(v))
	default:
		w.text(key, string(jsonl.AppendValue(nil, v)))
	}
}

// nameEscapes are the characters that must not be in a key; "%" is one, so that names can be told from their
// escapes.
var nameEscapes = strings.NewReplacer("%", "%25", ".", "%2E", "\x00", "%00")

var nameUnescapes = strings.NewReplacer("%25", "%", "%2E", ".", "%00", "\x00", "%24", "$")

// escapeName makes the key of a field's name.
func escapeName(name string) string {
	name = nameEscapes.Replace(valid(name))
	switch {
	case name == "":
		return "%"
	case name[0] == '$':
		return "%24" + name[1:]
	}
	return name
}

// unescapeName undoes escapeName.
func unescapeName(key string) string {
	if key == "%" {
		return ""
	}
	return nameUnescapes.Replace(key)
}
