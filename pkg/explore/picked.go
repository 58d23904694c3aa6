package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Picked implements Reader: the filter is asked once, of the whole index, so that what is picked does not change while
// records are read.
func (x *Explorer) Picked(ctx context.Context, id crawl.JobID, f RecordFilter) (func(*crawl.Record) bool, error) {
	query, err := f.check()
	if err != nil {
		return nil, err
	}
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	if f.Lang, err = query.Language(f.Lang); err != nil {
		return nil, fmt.Errorf("%w: q: %w", ErrInvalid, err)
	}
	q := &recordQuery{ix: ix, f: f, query: query}
	if query != nil {
		q.match = query.FTS5()
	}
	in, err := q.hashes(ctx)
	if err != nil {
		return nil, fmt.Errorf("records of execution %q: %w", id, err)
	}
	return func(r *crawl.Record) bool { return in[hashOf(r.URL.Key())] }, nil
}

// hashes are the URLs of all records that the filter picks.
func (q *recordQuery) hashes(ctx context.Context) (map[int64]bool, error) {
	in := map[int64]bool{}
	w, some, err := q.where(ctx)
	if err != nil || !some {
		return in, err
	}
	cond, args := w.cond()
	from := "records r"
	if q.match != "" {
		from = "(SELECT rowid AS id FROM fts WHERE fts MATCH ?) m CROSS JOIN records r ON r.id = m.id"
		args = slices.Concat([]any{q.match}, args)
	}
	return in, each(ctx, q.ix.read, "SELECT r.hash FROM "+from+" WHERE "+cond, args, func(scan func(...any) error) error {
		var hash int64
		err := scan(&hash)
		in[hash] = true
		return err
	})
}
