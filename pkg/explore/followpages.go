package explore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// followPages indexes the next records.
func (x *index) followPages(ctx context.Context) (more bool, err error) {
	name, packed := x.pagesFile()
	units, err := x.pages.next(name, packed, pageBytes, pageBatch)
	if errors.Is(err, errRewritten) { // records were taken back, or made anew
		x.pages.restart()
		return true, x.inTx(ctx, func(tx *sql.Tx) error { return x.pages.save(ctx, tx) })
	}
	switch {
	case err != nil:
		return false, err
	case len(units) == 0 && x.pages.behind:
		return true, x.inTx(ctx, func(tx *sql.Tx) error { return x.sweep(ctx, tx) })
	case len(units) == 0:
		return false, nil
	}
	b := pageBatchOf(x)
	err = x.inTx(ctx, func(tx *sql.Tx) error {
		b.tx = tx
		for i := range units {
			if err := b.unit(ctx, &units[i]); err != nil {
				return err
			}
		}
		if err := b.flush(ctx); err != nil {
			return err
		}
		return x.pages.save(ctx, tx)
	})
	x.grow(b.added, err)
	return true, err
}

func (x *index) grow(n int64, err error) {
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.state.Records += n
}

// pageBatchState is a batch of records on its way into the index.
type pageBatchState struct {
	x      *index
	tx     *sql.Tx
	added  int64
	counts map[count]int64
	vals   map[numbered]int64
	sums   []byte
}

func pageBatchOf(x *index) *pageBatchState {
	return &pageBatchState{x: x, counts: map[count]int64{}, vals: map[numbered]int64{}}
}

// unit indexes a unit of the file, unless the index has it already.
func (b *pageBatchState) unit(ctx context.Context, u *unit) error {
	if u.line == nil || jsonl.IsReplaced(u.line) {
		return nil
	}
	url, ok := jsonl.URLOf(u.line)
	if !ok {
		return nil // an audit tells of damaged lines
	}
	hash := hashOf(url.Key())
	var id, sum int64
	err := b.tx.QueryRowContext(ctx, "SELECT id, sum FROM records WHERE hash = ?", hash).Scan(&id, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case sum == u.sum:
		_, err = b.tx.ExecContext(ctx, "UPDATE records SET off = ?, len = ?, gen = ? WHERE id = ?", u.off, u.len,
			b.x.pages.gen, id)
		return err
	default: // a later visit
		if err := b.remove(ctx, id); err != nil {
			return err
		}
	}
	p, err := parsePage(u.line)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	b.added++
	return b.insert(ctx, u, url, p)
}

// remove takes a record out of the index.
func (b *pageBatchState) remove(ctx context.Context, id int64) error {
	var original, copied, hash, lang, media, status int64
	err := b.tx.QueryRowContext(ctx, "SELECT original, copy, hash, lang, type, status FROM records WHERE id = ?", id).
		Scan(&original, &copied, &hash, &lang, &media, &status)
	if err != nil {
		return err
	}
	b.count(-1, lang, media, status, copied)
	if err := b.uncountVals(ctx, id); err != nil {
		return err
	}
	b.sums = appendSum(b.sums, &sum{hash: hash, gone: true})
	if copied != copyNone {
		if err := b.cluster(ctx, original, copied, -1); err != nil {
			return err
		}
	}
	b.added--
	for _, q := range []string{"DELETE FROM records WHERE id = ?", "DELETE FROM vals WHERE id = ?",
		"DELETE FROM fts WHERE rowid = ?"} {
		if _, err := b.tx.ExecContext(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}

// cluster counts a copy of an original.
func (b *pageBatchState) cluster(ctx context.Context, original, copied, n int64) error {
	exact, near := n, int64(0)
	if copied == copyNear {
		exact, near = 0, n
	}
	_, err := b.tx.ExecContext(ctx,
		"INSERT INTO clusters VALUES(?1, ?2, ?3, 1 + ?4) ON CONFLICT DO UPDATE SET exact = exact + ?2, "+
			"near = near + ?3, size = size + ?4", original, exact, near, n)
	if err == nil && n < 0 {
		_, err = b.tx.ExecContext(ctx, "DELETE FROM clusters WHERE original = ? AND size <= 1", original)
	}
	return err
}

// sweep deletes records of former generations of the file, a batch at a time.
func (x *index) sweep(ctx context.Context, tx *sql.Tx) error {
	var ids []int64
	err := each(ctx, tx, "SELECT id FROM records WHERE gen < ? LIMIT ?", []any{x.pages.gen, sweepBatch},
		func(scan func(...any) error) error {
			var id int64
			ids = append(ids, 0)
			err := scan(&id)
			ids[len(ids)-1] = id
			return err
		})
	if err != nil {
		return err
	}
	b := pageBatchOf(x)
	b.tx = tx
	for _, id := range ids {
		if err := b.remove(ctx, id); err != nil {
			return err
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	x.grow(b.added, nil)
	x.pages.behind = len(ids) == sweepBatch
	return x.pages.save(ctx, tx)
}
