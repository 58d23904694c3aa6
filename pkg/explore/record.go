package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Bounds of a record in an answer.
const (
	maxText     = 256 << 10
	maxField    = 16 << 10
	maxLinks    = 200
	maxListed   = 200
	maxRecord   = 1 << 20
	maxUnitRead = 64 << 20
)

// recordLine reads the line of a record at a place in the file.
func (x *index) recordLine(off, length int64) (line []byte, err error) {
	name, packed := x.pagesFile()
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if length <= 0 || length > maxUnitRead {
		return nil, fmt.Errorf("a record of %d bytes is not read", length)
	}
	buf := make([]byte, length)
	if _, err := f.ReadAt(buf, off); err != nil {
		return nil, err
	}
	if packed {
		return jsonl.Unpack(nil, buf)
	}
	return buf, nil
}

// errMoved says that a record is not where the index says, because records were taken back.
var errMoved = fmt.Errorf("%w: records were moved, and the index follows: ask again in a second", ErrNotFound)

// found is a record in the index with what the file has of it.
type found struct {
	recordAt
	hash, original int64
	copied         int
	simhash        int64
	line           []byte
	page           *page
}

// find finds a record by its key or URL.
func (x *index) find(ctx context.Context, key string) (*found, error) {
	hash, err := hashOfKey(key)
	if err != nil {
		return nil, err
	}
	r := &found{hash: hash, copied: -1}
	err = each(ctx, x.read, "SELECT "+recordRow+", r.original, r.copy, r.simhash FROM records r WHERE r.hash = ?",
		[]any{hash}, func(scan func(...any) error) (err error) {
			r.recordAt, err = scanRecord(func(into ...any) error {
				return scan(append(into, &r.original, &r.copied,
					&r.simhash)...)
			}, nil)
			return err
		})
	switch {
	case err != nil:
		return nil, err
	case r.copied < 0:
		return nil, fmt.Errorf("record %s: %w", plain(key, 200), ErrNotFound)
	}
	if r.line, err = x.recordLine(r.off, r.len); err != nil {
		return nil, errMoved
	}
	if u, ok := jsonl.URLOf(r.line); !ok || hashOf(u.Key()) != hash {
		return nil, errMoved
	}
	r.page, err = parsePage(r.line)
	return r, err
}

// recordOf finds a record of an execution by its key or URL.
func (x *Explorer) recordOf(ctx context.Context, id crawl.JobID, key string) (*index, *found, error) {
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	r, err := ix.find(ctx, key)
	if err != nil {
		return nil, nil, fmt.Errorf("execution %q: %w", id, err)
	}
	return ix, r, nil
}

// Record implements Reader.
func (x *Explorer) Record(ctx context.Context, id crawl.JobID, key string) (*RecordWhole, error) {
	ix, r, err := x.recordOf(ctx, id, key)
	if err != nil {
		return nil, err
	}
	w := &RecordWhole{Key: r.Key, Index: ix.Index()}
	if w.Record, w.Cut, err = cutRecord(r.line); err != nil {
		return nil, err
	}
	if w.Versions, err = versionsOf(r.line); err != nil {
		return nil, err
	}
	if w.Links, err = ix.links(ctx, r.line); err != nil {
		return nil, err
	}
	cluster := r.hash
	if r.original != 0 {
		cluster = r.original
		if w.Original, err = ix.originalOf(ctx, r); err != nil {
			return nil, err
		}
	}
	if w.Copies, err = ix.copies(ctx, cluster, r.hash); err != nil {
		return nil, err
	}
	_, w.Body, err = ix.body(ctx, r)
	return w, err
}

// cutRecord bounds a record for an answer: strings become plain text, long ones are cut, and links are returned apart.
func cutRecord(line []byte) (json.RawMessage, []string, error) {
	var all map[string]any
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil {
		return nil, nil, fmt.Errorf("read a record: %w", err)
	}
	c := &cutter{}
	if links, _ := all["links"].([]any); len(links) > maxLinks {
		c.note("links")
	}
	delete(all, "links")
	delete(all, "versions") // they have a list of their own
	for name, v := range all {
		most := maxField
		if name == "text" || name == "markdown" || name == "structured" {
			most = maxText
		}
		all[name] = c.value(name, v, most, maxListed)
	}
	out, err := json.Marshal(all)
	return out, c.cut, err
}

type cutter struct{ cut []string }

func (c *cutter) note(name string) {
	for _, n := range c.cut {
		if n == name {
			return
		}
	}
	c.cut = append(c.cut, name)
}

func (c *cutter) value(name string, v any, most, items int) any {
	switch v := v.(type) {
	case string:
		if len(v) > most {
			c.note(name)
		}
		return plain(v, most)
	case []any:
		if len(v) > items {
			c.note(name)
			v = v[:items]
		}
		for i := range v {
			v[i] = c.value(name, v[i], most, items)
		}
		return v
	case map[string]any:
		out, n := map[string]any{}, 0
		for k, item := range v {
			if n++; n > items {
				c.note(name)
				break
			}
			out[plain(k, maxWord)] = c.value(name, item, most/4+1, items)
		}
		return out
	}
	return v
}

// links reads the links of a record and the state of each target.
func (x *index) links(ctx context.Context, line []byte) ([]LinkState, error) {
	var rec struct {
		Links []struct{ URL, Text, Rel string } `json:"links"`
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return nil, fmt.Errorf("read a record: %w", err)
	}
	out := []LinkState{}
	at := map[int64][]int{}
	var args []any
	for _, l := range rec.Links[:min(len(rec.Links), maxLinks)] {
		s := LinkState{URL: plain(l.URL, maxURL), Text: plain(strings.TrimSpace(l.Text), 200), Rel: plain(l.Rel, maxWord)}
		if u, err := weburl.Parse(l.URL); err == nil {
			u = x.canonical(u)
			hash := hashOf(u.Key())
			if at[hash] == nil {
				args = append(args, hash)
			}
			s.Key = u.Key().String()
			at[hash] = append(at[hash], len(out))
		}
		out = append(out, s)
	}
	if len(args) == 0 {
		return out, nil
	}
	err := each(ctx, x.read, "SELECT hash, state, status, (SELECT word FROM words WHERE id = reason) FROM urls WHERE "+
		"hash IN ("+
		marks(len(args))+")", args, func(scan func(...any) error) error {
		var hash int64
		var state, status int
		var reason *string
		if err := scan(&hash, &state, &status, &reason); err != nil {
			return err
		}
		for _, i := range at[hash] {
			out[i].State, out[i].Status, out[i].Reason = stateNames[state], status, textOf(reason)
		}
		return nil
	})
	return out, err
}

// canonical returns the canonical form of a URL by the rules of the job.
func (x *index) canonical(u weburl.URL) weburl.URL {
	if x.source().Job == nil {
		return u
	}
	x.canonicalizer.Do(func() { x.canon = x.source().Job.Canonicalizer() })
	return x.canon.Canonical(u)
}

// body finds the kept body of a record.
func (x *index) body(ctx context.Context, r *found) (body []byte, kept bool, err error) {
	if x.source().Bodies == nil {
		return nil, false, nil
	}
	rec, err := jsonl.ParseRecord(r.line)
	if err != nil {
		return nil, false, fmt.Errorf("read a record: %w", err)
	}
	return x.source().Bodies.Kept(ctx, x.source().ID, rec.Digest)
}
