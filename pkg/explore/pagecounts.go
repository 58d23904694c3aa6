package explore

import "context"

// numbered is a value of a site field, whose name has a number.
type numbered struct {
	name  int64
	value string
}

// count counts a record in, or out.
func (b *pageBatchState) count(n, lang, media, status, copied int64) {
	b.counts[count{"L", lang}] += n
	b.counts[count{"T", media}] += n
	b.counts[count{"S", status}] += n
	b.counts[count{"C", copied}] += n
}

func (b *pageBatchState) countVal(k numbered, n int64) {
	b.vals[k] += n
	b.counts[count{"F", k.name}] += n
}

// uncountVals counts the values of a record out.
func (b *pageBatchState) uncountVals(ctx context.Context, id int64) error {
	return each(ctx, b.tx, "SELECT name, value FROM vals WHERE id = ?", []any{id}, func(scan func(...any) error) error {
		var k numbered
		err := scan(&k.name, &k.value)
		b.countVal(k, -1)
		return err
	})
}

// flush writes what the batch counted, and its sums.
func (b *pageBatchState) flush(ctx context.Context) error {
	if err := writeCounts(ctx, b.tx, b.counts); err != nil {
		return err
	}
	var rows [][]any
	fewer := false
	for k, n := range b.vals {
		if n != 0 {
			rows, fewer = append(rows, []any{k.name, k.value, n}), fewer || n < 0
		}
	}
	err := insertRows(ctx, b.tx, "INSERT INTO valcounts VALUES ", " ON CONFLICT DO UPDATE SET n = n + excluded.n", rows)
	for k, n := range b.vals {
		if err == nil && fewer && n < 0 {
			_, err = b.tx.ExecContext(ctx, "DELETE FROM valcounts WHERE name = ? AND value = ? AND n <= 0", k.name, k.value)
		}
	}
	if err == nil && len(b.sums) > 0 {
		_, err = b.tx.ExecContext(ctx, "INSERT INTO sums(data) VALUES(?)", b.sums)
	}
	return err
}
