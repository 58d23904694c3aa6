package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
)

// Records implements Reader: the best first where words are searched for, else the latest first.
func (x *Explorer) Records(ctx context.Context, id crawl.JobID, f RecordFilter, p Page) (*Records, error) {
	if _, err := f.check(); err != nil {
		return nil, err
	}
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	return ix.records(ctx, f, p)
}

func (x *index) records(ctx context.Context, f RecordFilter, p Page) (*Records, error) {
	query, err := f.check()
	if err != nil {
		return nil, err
	}
	if f.Lang, err = query.Language(f.Lang); err != nil {
		return nil, fmt.Errorf("%w: q: %w", ErrInvalid, err)
	}
	id := x.source().ID
	c, err := cursorFrom(p, listOf("records", id, f.Query, f.Sort, f.Lang, f.Type, f.Status, f.Host, f.Duplicates,
		f.Fields, f.Since, f.Until))
	if err != nil {
		return nil, err
	}
	q := &recordQuery{ix: x, f: f, query: query, c: c, limit: limitOf(p)}
	if query != nil {
		q.match = query.FTS5()
	}
	out := &Records{}
	out.Items, out.Index = []Record{}, x.Index()
	w, some, err := q.where(ctx)
	switch {
	case err != nil || !some:
	case q.match != "" && f.Sort != Newest:
		err = q.listRanked(ctx, w, out)
	default:
		err = q.list(ctx, w, out)
	}
	if err == nil && f.Facets && p.Cursor == "" {
		out.Facets, err = q.facetsNow(ctx, w, some)
	}
	if err != nil {
		return nil, fmt.Errorf("records of execution %q: %w", id, err)
	}
	return out, nil
}

// check looks at the filter, and reads its query.
func (f *RecordFilter) check() (*textsearch.Query, error) {
	if !slices.Contains([]string{"", "only", "exact", "near", "none"}, f.Duplicates) {
		return nil, fmt.Errorf("%w: duplicates %q: want only, exact, near or none", ErrInvalid, plain(f.Duplicates, 40))
	}
	if !slices.Contains([]string{"", Newest, Best}, f.Sort) {
		return nil, fmt.Errorf("%w: sort %q: want %s or %s", ErrInvalid, plain(f.Sort, 40), Best, Newest)
	}
	if len(f.Fields) > 10 || len(f.Columns) > 20 {
		return nil, fmt.Errorf("%w: at most 10 fields and 20 columns", ErrInvalid)
	}
	return queryOf(f.Query)
}

type recordQuery struct {
	ix    *index
	f     RecordFilter
	query *textsearch.Query // nil: none
	match string            // the query as FTS5 reads it
	c     cursor
	limit int
}

// where makes a condition of the filter; some is false where nothing can match.
func (q *recordQuery) where(ctx context.Context) (w *where, some bool, err error) {
	w = &where{}
	for _, add := range []func(context.Context, *where) (bool, error){q.whereFields, q.whereWords, q.whereHost} {
		if some, err := add(ctx, w); err != nil || !some {
			return nil, false, err
		}
	}
	if q.f.Status > 0 {
		w.add("r.status = ?", q.f.Status)
	}
	if !q.f.Since.IsZero() {
		w.also("r.at >= ?", q.f.Since.UnixMilli())
	}
	if !q.f.Until.IsZero() {
		w.also("r.at < ?", q.f.Until.UnixMilli())
	}
	switch q.f.Duplicates {
	case "none":
		w.add("r.copy = ?", copyNone)
	case "exact":
		w.add("r.copy = ?", copyExact)
	case "near":
		w.add("r.copy = ?", copyNear)
	case "only":
		w.add("r.copy > ?", copyNone)
	}
	w.narrow, w.rest = cmp.Or(w.narrow, "1"), cmp.Or(w.rest, "1")
	return w, true, nil
}

// whereFields asks for the values of site fields; an empty value asks for the field alone.
func (q *recordQuery) whereFields(ctx context.Context, w *where) (some bool, err error) {
	for name, value := range q.f.Fields {
		id, err := wordID(ctx, q.ix.read, name)
		if err != nil || id == 0 {
			return false, err
		}
		if value == "" {
			w.add("r.id IN (SELECT id FROM vals WHERE name = ?)", id)
			continue
		}
		w.add("r.id IN (SELECT id FROM vals WHERE name = ? AND value = ?)", id, plain(value, maxValueText))
	}
	return true, nil
}

// whereWords asks for a language with its regions and a media type, which the index keeps as numbers.
func (q *recordQuery) whereWords(ctx context.Context, w *where) (some bool, err error) {
	if q.f.Type != "" {
		id, err := wordID(ctx, q.ix.read, q.f.Type)
		if err != nil || id == 0 {
			return false, err
		}
		w.add("r.type = ?", id)
	}
	if q.f.Lang == "" {
		return true, nil
	}
	var ids []any // en is also en-GB
	err = each(ctx, q.ix.read, "SELECT id FROM words WHERE lower(word) = ?1 OR lower(substr(word, 1, length(?1) + 1)) = "+
		"?1 || '-'",
		[]any{strings.ToLower(plain(q.f.Lang, maxWord))}, func(scan func(...any) error) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	switch {
	case err != nil || len(ids) == 0:
		return false, err
	case len(ids) == 1:
		w.add("r.lang = ?", ids...)
	default:
		w.also("r.lang IN ("+marks(len(ids))+")", ids...)
	}
	return true, nil
}

func (q *recordQuery) whereHost(ctx context.Context, w *where) (some bool, err error) {
	if q.f.Host == "" {
		return true, nil
	}
	var id int64
	if err := q.ix.lookUp(ctx, "SELECT id FROM hosts WHERE key = ?", q.f.Host, &id); err != nil || id == 0 {
		return false, err
	}
	w.add("r.host = ?", id)
	return true, nil
}

// cond is all of a condition.
func (w *where) cond() (string, []any) {
	return w.narrow + " AND " + w.rest, slices.Concat(w.narrowArgs, w.restArgs)
}

const recordRow = "r.id, r.url, r.title, (SELECT word FROM words WHERE id = r.lang), (SELECT word FROM words WHERE " +
	"id = r.type), r.status, r.depth, r.bytes, r.words, r.at, r.copy, (SELECT url FROM records o WHERE o.hash = " +
	"r.original), r.fields, r.off, r.len"

func (q *recordQuery) list(ctx context.Context, w *where, out *Records) error {
	if q.c.ID == 0 {
		q.c.ID = math.MaxInt64
	}
	ids, rest, args := "SELECT r.id FROM records r WHERE "+w.narrow+" AND r.id < ? ORDER BY r.id DESC LIMIT ?", w.rest,
		w.restArgs
	head := append(slices.Clone(w.narrowArgs), q.c.ID, maxScan)
	if q.match != "" {
		ids = "SELECT rowid AS id FROM fts WHERE fts MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
		head = []any{q.match, q.c.ID, maxScan}
		rest, args = w.cond()
	}
	var rows []recordAt
	err := each(ctx, q.ix.read, "SELECT "+recordRow+" FROM ("+ids+") m CROSS JOIN records r ON r.id = m.id WHERE "+rest+
		" ORDER BY r.id DESC LIMIT ?", slices.Concat(head, args, []any{q.limit}), func(scan func(...any) error) error {
		r, err := scanRecord(scan, q.f.Columns)
		rows = append(rows, r)
		return err
	})
	if err == nil {
		err = q.goOn(ctx, ids, head, rows, out)
	}
	if err != nil {
		return err
	}
	out.Items = q.shown(rows)
	return nil
}

// goOn notes where the list goes on: behind a page that is full, or where the scan met its bound.
func (q *recordQuery) goOn(ctx context.Context, ids string, head []any, rows []recordAt, out *Records) error {
	var n, last int64
	err := q.ix.read.QueryRowContext(ctx, "SELECT count(*), coalesce(min(id), 0) FROM ("+ids+")", head...).Scan(&n, &last)
	switch {
	case len(rows) == q.limit && rows[q.limit-1].id > last:
		out.Next = cursor{Of: q.c.Of, ID: rows[q.limit-1].id}.encode()
	case n == maxScan:
		out.Scanned = n
		out.Next = cursor{Of: q.c.Of, ID: last}.encode()
	}
	return err
}

// recordAt is a record with its number, and its place in the file.
type recordAt struct {
	Record
	id, off, len int64
}

func scanRecord(scan func(...any) error, columns []string) (r recordAt, err error) {
	var lang, media, original *string
	var at int64
	var copied int
	var fields string
	err = scan(&r.id, &r.URL, &r.Title, &lang, &media, &r.Status, &r.Depth, &r.Bytes, &r.Words, &at, &copied, &original,
		&fields, &r.off, &r.len)
	if err != nil {
		return r, err
	}
	r.Key, r.URL = keyOf(r.URL), plain(r.URL, maxURL)
	r.FetchedAt = time.UnixMilli(at).UTC()
	r.Lang, r.Type, r.DuplicateOf, r.Similarity = textOf(lang), textOf(media), plain(textOf(original), maxURL),
		similarityOf(copied)
	if len(columns) > 0 && fields != "" {
		r.Fields = pick(fields, columns)
	}
	return r, nil
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func similarityOf(copied int) string {
	switch copied {
	case copyExact:
		return "exact"
	case copyNear:
		return "near"
	}
	return ""
}

// pick takes some fields out of a JSON object.
func pick(fields string, columns []string) map[string]json.RawMessage {
	all, out := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if json.Unmarshal([]byte(fields), &all) != nil {
		return nil
	}
	for _, name := range columns {
		if v, ok := all[name]; ok {
			out[name] = v
		}
	}
	return out
}
