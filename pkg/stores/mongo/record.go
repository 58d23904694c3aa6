package mongo

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// record decodes a document. It skips unknown keys, so that it reads documents of a newer version and documents to
// which people added keys. Numbers in fields become float64, as from pages.jsonl.
func record(doc bson.Raw) (*crawl.Record, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, fmt.Errorf("a document is no BSON: %w", err)
	}
	r := &crawl.Record{}
	for _, e := range elements {
		key, err := e.KeyErr()
		if err == nil {
			err = assign(r, key, e.Value())
		}
		if err != nil {
			return nil, fmt.Errorf("a document's %q: %w", key, err)
		}
	}
	if r.URL.IsZero() {
		return nil, fmt.Errorf("a document has no url")
	}
	return r, nil
}

// assign sets what the document has under key.
func assign(r *crawl.Record, key string, v bson.RawValue) (err error) {
	switch key {
	case "url":
		r.URL, err = urlOf(v)
	case "final_url":
		r.FinalURL, err = urlOf(v)
	case "referrer":
		r.Referrer, err = urlOf(v)
	case "duplicate_of":
		r.DuplicateOf, err = urlOf(v)
	case "status":
		r.Status, err = intOf(v)
	case "depth":
		r.Depth, err = intOf(v)
	case "bytes":
		r.Bytes, err = int64Of(v)
	case "fetched_at":
		r.FetchedAt, err = timeOf(v)
	case "digest":
		r.Digest, err = digestOf(v)
	case "simhash":
		r.Simhash, err = simhashOf(v)
	case "links":
		r.Links, err = listOf(v, linkOf)
	case "assets":
		r.Assets, err = listOf(v, textOf)
	case "cut":
		r.Cut, err = listOf(v, textOf)
	case "epoch":
		r.Epoch, err = epochOf(v)
	case visitKey:
		r.Visit, err = intOf(v)
	case "insecure":
		r.Insecure, err = boolOf(v)
	case "fields":
		r.Fields, err = fieldsOf(v)
	default:
		return assignMade(r, key, v)
	}
	return err
}

// assignMade is assign for what builder.made appends, and texts.
func assignMade(r *crawl.Record, key string, v bson.RawValue) (err error) {
	switch key {
	case "rendered":
		r.Rendered, err = renderedOf(v)
	case "topic":
		r.Relevance, err = relevanceOf(v)
	case "classes":
		r.Classes, err = listOf(v, textOf)
	case "gone_at":
		r.GoneAt, err = timeOf(v)
	case "withdrawn_at":
		r.WithdrawnAt, err = timeOf(v)
	case "moved_to":
		r.MovedTo, err = urlOf(v)
	case "versions":
		var s string
		if s, err = textOf(v); err == nil && s != "" {
			r.Versions, err = jsonl.ParseVersions([]byte(s))
		}
	case "plugins":
		r.Plugins, err = listOf(v, textOf)
	case "plugin_errors":
		r.PluginErrors, err = listOf(v, textOf)
	default:
		return assignText(r, key, v)
	}
	return err
}

func assignText(r *crawl.Record, key string, v bson.RawValue) error {
	known, err := assignExtracted(&r.Extracted, key, v)
	if to := textField(r, key); !known && to != nil {
		*to, err = textOf(v)
	}
	return err
}

// renderedOf reads what is stored of a render: JSON text, which readers of other programs understand as well.
func renderedOf(v bson.RawValue) (*crawl.RenderedPart, error) {
	s, err := textOf(v)
	if err != nil || s == "" {
		return nil, err
	}
	return jsonl.ParseRendered([]byte(s))
}

func relevanceOf(v bson.RawValue) (crawl.Relevance, error) {
	p, ok := v.AsFloat64OK()
	return crawl.RelevanceOf(p), damaged(ok)
}

func epochOf(v bson.RawValue) (uint32, error) {
	n, err := intOf(v)
	return uint32(max(n, 0)), err
}

// textField returns where a text of the record goes.
func textField(r *crawl.Record, key string) *string {
	switch key {
	case "content_type":
		return &r.ContentType
	case "charset":
		return &r.Charset
	case "title":
		return &r.Title
	case "lang":
		return &r.Lang
	case "text":
		return &r.Text
	case "similarity":
		return &r.Similarity
	case "canonical":
		return &r.Canonical
	case "truncated":
		return &r.Truncated
	}
	return nil
}

func boolOf(v bson.RawValue) (bool, error) {
	b, ok := v.BooleanOK()
	if !ok {
		return false, fmt.Errorf("it is a %s, want true or false", v.Type)
	}
	return b, nil
}

func textOf(v bson.RawValue) (string, error) {
	s, ok := v.StringValueOK()
	if !ok {
		return "", fmt.Errorf("it is a %s, want a string", v.Type)
	}
	return s, nil
}

func urlOf(v bson.RawValue) (weburl.URL, error) {
	s, err := textOf(v)
	if err != nil || s == "" {
		return weburl.URL{}, err
	}
	return weburl.Parse(s)
}

func int64Of(v bson.RawValue) (int64, error) {
	i, ok := v.AsInt64OK()
	if !ok {
		return 0, fmt.Errorf("it is a %s, want a number", v.Type)
	}
	return i, nil
}

func intOf(v bson.RawValue) (int, error) {
	i, err := int64Of(v)
	return int(i), err
}

func timeOf(v bson.RawValue) (time.Time, error) {
	t, ok := v.TimeOK()
	if !ok {
		return t, fmt.Errorf("it is a %s, want a date", v.Type)
	}
	return t.UTC(), nil
}

func digestOf(v bson.RawValue) (d crawl.Digest, err error) {
	s, err := textOf(v)
	if err != nil || s == "" {
		return d, err
	}
	digits, ok := strings.CutPrefix(s, "sha256:")
	if !ok || len(digits) != 2*len(d) {
		return d, fmt.Errorf("%q: want sha256: and %d hexadecimal digits", s, 2*len(d))
	}
	_, err = hex.Decode(d[:], []byte(digits))
	return d, err
}

func simhashOf(v bson.RawValue) (uint64, error) {
	s, err := textOf(v)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(s, 16, 64)
}

func listOf[T any](v bson.RawValue, item func(bson.RawValue) (T, error)) ([]T, error) {
	array, ok := v.ArrayOK()
	if !ok {
		return nil, fmt.Errorf("it is a %s, want a list", v.Type)
	}
	values, err := array.Values()
	if err != nil || len(values) == 0 {
		return nil, err
	}
	out := make([]T, len(values))
	for i := range values {
		if out[i], err = item(values[i]); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return out, nil
}

func linkOf(v bson.RawValue) (l crawl.Link, err error) {
	doc, ok := v.DocumentOK()
	if !ok {
		return l, fmt.Errorf("it is a %s, want a document", v.Type)
	}
	elements, err := doc.Elements()
	for i := 0; err == nil && i < len(elements); i++ {
		v := elements[i].Value()
		switch elements[i].Key() {
		case "url":
			if l.Raw, err = textOf(v); err == nil {
				if u, bad := weburl.Parse(l.Raw); bad == nil {
					l.URL, l.Raw = u, ""
				}
			}
		case "rel":
			l.Rel, err = textOf(v)
		case "text":
			l.Text, err = textOf(v)
		case "weight":
			l.Weight, err = intOf(v)
		}
	}
	return l, err
}

func fieldsOf(v bson.RawValue) (fields []crawl.Field, err error) {
	doc, ok := v.DocumentOK()
	if !ok {
		return nil, fmt.Errorf("it is a %s, want a document", v.Type)
	}
	elements, err := doc.Elements()
	for i := 0; err == nil && i < len(elements); i++ {
		f := crawl.Field{Name: unescapeName(elements[i].Key())}
		f.Value, err = itemOf(elements[i].Value())
		fields = append(fields, f)
	}
	return fields, err
}

// itemOf is a value of a field, or an item of one: an object where a policy selected it or a plug-in made it.
func itemOf(v bson.RawValue) (any, error) {
	switch v.Type {
	case bson.TypeArray:
		return listOf(v, itemOf)
	case bson.TypeEmbeddedDocument:
	default:
		return scalarOf(v)
	}
	members, err := fieldsOf(v)
	object := make(map[string]any, len(members))
	for _, m := range members {
		object[m.Name] = m.Value
	}
	return object, err
}

func scalarOf(v bson.RawValue) (any, error) {
	switch v.Type {
	case bson.TypeNull:
		return nil, nil
	case bson.TypeBoolean:
		b, ok := v.BooleanOK()
		return b, damaged(ok)
	case bson.TypeDouble, bson.TypeInt32, bson.TypeInt64:
		f, ok := v.AsFloat64OK()
		return f, damaged(ok)
	}
	return textOf(v)
}

func damaged(ok bool) error {
	if !ok {
		return fmt.Errorf("its value is damaged")
	}
	return nil
}
