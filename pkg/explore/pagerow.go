package explore

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of what the index keeps of a record.
const (
	maxTitle     = 300
	maxValueText = 120 // bytes of a site field's value
	maxFields    = 40  // site fields of a record
	maxVals      = 20  // values of a list
)

// What a record is to others.
const (
	copyNone = iota
	copyExact
	copyNear
)

// page is what the index reads of a record: links are passed over, which are most of it.
type page struct {
	Status      int             `json:"status"`
	FetchedAt   time.Time       `json:"fetched_at"`
	Depth       int             `json:"depth"`
	ContentType string          `json:"content_type"`
	Bytes       int64           `json:"bytes"`
	Digest      string          `json:"digest"`
	Simhash     string          `json:"simhash"`
	Title       string          `json:"title"`
	Lang        string          `json:"lang"`
	Text        string          `json:"text"`
	Fields      json.RawMessage `json:"fields"`
	DuplicateOf string          `json:"duplicate_of"`
	Similarity  string          `json:"similarity"`
	GoneAt      time.Time       `json:"gone_at"`
	WithdrawnAt time.Time       `json:"withdrawn_at"`
	MovedTo     string          `json:"moved_to"`
}

func parsePage(line []byte) (*page, error) {
	p := &page{}
	if err := json.Unmarshal(line, p); err != nil {
		return nil, fmt.Errorf("parse a record: %w", err)
	}
	return p, nil
}

func (p *page) copied() int {
	switch {
	case p.DuplicateOf == "":
		return copyNone
	case p.Similarity == "near":
		return copyNear
	}
	return copyExact
}

// digest is the first half of a quarter of the digest, to tell bodies apart.
func (p *page) digest() int64 {
	_, hex, _ := strings.Cut(p.Digest, ":")
	n, _ := strconv.ParseUint(hex[:min(16, len(hex))], 16, 64)
	return int64(n)
}

func (p *page) simhash() int64 {
	n, _ := strconv.ParseUint(p.Simhash, 16, 64)
	return int64(n)
}

// text sums up title and text, to tell texts apart; 0 where there is none.
func (p *page) text() int64 {
	if p.Text == "" && p.Title == "" {
		return 0
	}
	return int64(xxh3.HashString(p.Title + "\x00" + p.Text))
}

const recordColumns = "hash, url, host, at, status, depth, lang, type, bytes, words, title, digest, text, simhash, " +
	"copy, original, distance, off, len, sum, gen, fields"

func (b *pageBatchState) insert(ctx context.Context, u *unit, url weburl.URL, p *page) error {
	host, err := b.x.hostID(ctx, b.tx, url.HostKey())
	if err != nil {
		return err
	}
	lang, err := b.x.words.id(ctx, b.tx, p.Lang)
	if err != nil {
		return err
	}
	media, err := b.x.words.id(ctx, b.tx, p.ContentType)
	if err != nil {
		return err
	}
	original, distance, err := b.original(ctx, p)
	if err != nil {
		return err
	}
	fields, vals := fieldsOf(p.Fields)
	b.count(1, lang, media, int64(p.Status), int64(p.copied()))
	b.sums = appendSum(b.sums, &sum{hash: hashOf(url.Key()), digest: p.digest(), text: p.text(), simhash: p.simhash(),
		copied: p.copied() != copyNone})
	res, err := b.tx.ExecContext(ctx, "INSERT INTO records("+recordColumns+") VALUES("+marks(22)+")", hashOf(url.Key()),
		url.String(), host, p.FetchedAt.UnixMilli(), p.Status, p.Depth, lang, media, p.Bytes, len(strings.Fields(p.Text)),
		plain(p.Title, maxTitle), p.digest(), p.text(), p.simhash(), p.copied(), original, distance, u.off, u.len, u.sum,
		b.x.pages.gen, fields)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if err := b.nearOf(ctx, hashOf(url.Key()), p); err != nil {
		return err
	}
	if err := b.values(ctx, id, vals); err != nil || p.copied() != copyNone && p.Text == "" || !p.WithdrawnAt.IsZero() {
		return err
	}
	_, err = b.tx.ExecContext(ctx, "INSERT INTO fts(rowid, title, text, url) VALUES(?, ?, ?, ?)", id,
		textsearch.Folded(p.Title), textsearch.Folded(p.Text), textsearch.Folded(url.String()))
	return err
}

// original finds what a copy is a copy of, and counts it there.
func (b *pageBatchState) original(ctx context.Context, p *page) (hash int64, distance int, err error) {
	if p.copied() == copyNone {
		return 0, 0, nil
	}
	u, err := weburl.Parse(p.DuplicateOf)
	if err != nil {
		return 0, 0, nil //nolint:nilerr // a record of somebody else's: it stands alone
	}
	hash = hashOf(u.Key())
	if p.copied() == copyNear {
		err = each(ctx, b.tx, "SELECT simhash FROM records WHERE hash = ?", []any{hash}, func(scan func(...any) error) error {
			var sim int64
			err := scan(&sim)
			distance = bits.OnesCount64(uint64(sim ^ p.simhash()))
			return err
		})
	}
	if err != nil {
		return 0, 0, err
	}
	return hash, distance, b.cluster(ctx, hash, int64(p.copied()), 1)
}

// nearOf measures the near copies of an original that came before it.
func (b *pageBatchState) nearOf(ctx context.Context, hash int64, p *page) error {
	if p.copied() != copyNone {
		return nil
	}
	type near struct {
		id  int64
		sim int64
	}
	var list []near
	err := each(ctx, b.tx, "SELECT id, simhash FROM records WHERE original = ? AND original <> 0 AND copy = ?",
		[]any{hash, copyNear}, func(scan func(...any) error) error {
			var n near
			err := scan(&n.id, &n.sim)
			list = append(list, n)
			return err
		})
	for _, n := range list {
		if err == nil {
			_, err = b.tx.ExecContext(ctx, "UPDATE records SET distance = ? WHERE id = ?",
				bits.OnesCount64(uint64(n.sim^p.simhash())), n.id)
		}
	}
	return err
}

// val is a value of a site field.
type val struct{ name, value string }

// fieldsOf cuts the fields of a record to what lists show, and takes their values for the facets.
func fieldsOf(raw json.RawMessage) (string, []val) {
	if len(raw) <= 2 {
		return "", nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", nil
	}
	out, vals := map[string]any{}, []val(nil)
	for dec.More() && len(out) < maxFields {
		name, err := dec.Token()
		var v any
		if err != nil || dec.Decode(&v) != nil {
			break
		}
		key := plain(name.(string), maxWord) // keys of a JSON object are strings
		short := shorten(v)
		out[key] = short
		vals = appendVals(vals, key, short)
	}
	text, _ := json.Marshal(out) // of what was JSON
	return string(text), vals
}

func shorten(v any) any {
	switch v := v.(type) {
	case string:
		return plain(v, maxValueText)
	case []any:
		out := make([]any, 0, min(len(v), maxVals))
		for _, item := range v[:min(len(v), maxVals)] {
			out = append(out, shorten(item))
		}
		return out
	case map[string]any: // an object of a selection policy
		out := map[string]any{}
		for name, item := range v {
			if len(out) < maxVals {
				out[plain(name, maxWord)] = shorten(item)
			}
		}
		return out
	}
	return v
}

func appendVals(vals []val, name string, v any) []val {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			vals = appendVals(vals, name, item)
		}
		return vals
	case nil:
		return vals
	case map[string]any: // the record has the field; its objects are no values to choose from
		return append(vals, val{name, ""})
	case float64:
		return append(vals, val{name, strconv.FormatFloat(v, 'f', -1, 64)})
	default:
		return append(vals, val{name, fmt.Sprint(v)})
	}
}

func (b *pageBatchState) values(ctx context.Context, id int64, vals []val) error {
	seen := map[numbered]bool{}
	for _, v := range vals {
		name, err := b.x.words.id(ctx, b.tx, v.name)
		if err != nil {
			return err
		}
		if k := (numbered{name, v.value}); !seen[k] {
			seen[k] = true
			b.countVal(k, 1)
		}
		if _, err := b.tx.ExecContext(ctx, "INSERT OR IGNORE INTO vals VALUES(?, ?, ?)", name, v.value, id); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the key of a URL by its text, as answers give it.
func keyOf(url string) string {
	u, err := weburl.ParseStored([]byte(url))
	if err != nil {
		return ""
	}
	return u.Key().String()
}

// hashOfKey reads a key, or a URL.
func hashOfKey(text string) (int64, error) {
	var k weburl.Key
	if err := k.UnmarshalText([]byte(text)); err == nil {
		return int64(binary.BigEndian.Uint64(k[8:16])), nil
	}
	u, err := weburl.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is neither a key nor a URL", ErrInvalid, plain(text, 100))
	}
	return hashOf(u.Key()), nil
}
