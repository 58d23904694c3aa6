package explore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// most parameters of a statement that are used; SQLite takes 32,766.
const maxParams = 900

// write writes what the batch changes.
func (b *logBatchState) write(ctx context.Context) error {
	for _, step := range []func(context.Context) error{b.find, b.writeURLs, b.writeVisits, b.writeCounts, b.writeHosts} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// find completes the entries that the index has already.
func (b *logBatchState) find(ctx context.Context) error {
	for some := range slices.Chunk(b.order, maxParams) {
		args := make([]any, len(some))
		for i, e := range some {
			args[i] = e.hash
		}
		err := each(ctx, b.tx, "SELECT id, hash, host, kind, depth, state, verdict, reason, status, off FROM urls "+
			"WHERE hash IN ("+marks(len(args))+")", args, func(scan func(...any) error) error {
			var id, hash, off int64
			var old cellKey
			var kind crawl.Kind
			var counted [3]int64
			if err := scan(&id, &hash, &old.host, &kind, &old.depth, &old.state, &counted[0], &counted[1], &counted[2],
				&off); err != nil {
				return err
			}
			e := b.urls[hash]
			e.id, e.old, e.oldCount, e.oldKind = id, old, counted, kind
			b.before = append(b.before, [2]int64{hash, off})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const urlColumns = "hash, url, host, kind, depth, state, verdict, status, reason, attempts, at, us, bytes, epoch, " +
	"priority, referrer, off"

// values are those of urlColumns.
func (e *entry) values(dst []any) []any {
	l := e.line
	referrer := int64(0)
	if !l.Referrer.IsZero() {
		referrer = hashOf(l.Referrer.Key())
	}
	return append(dst, e.hash, l.URL.String(), e.host, int(l.Kind), l.Depth, e.state, int(l.Verdict), l.Status, e.reason,
		l.Attempt, l.At.UnixMilli(), l.Duration.Microseconds(), l.Bytes, int64(l.Epoch), l.Priority, referrer, e.off)
}

func (b *logBatchState) writeURLs(ctx context.Context) error {
	const columns = 17
	var fresh []*entry
	update, err := b.tx.PrepareContext(ctx, "UPDATE urls SET ("+urlColumns+") = ("+marks(columns)+") WHERE id = ?")
	if err != nil {
		return err
	}
	defer update.Close() //nolint:errcheck // the transaction ends next
	for _, e := range b.order {
		if e.id == 0 {
			fresh = append(fresh, e)
			continue
		}
		if _, err := update.ExecContext(ctx, append(e.values(nil), e.id)...); err != nil {
			return err
		}
	}
	var rows [][]any
	for _, e := range fresh {
		rows = append(rows, e.values(make([]any, 0, columns)))
	}
	b.x.mu.Lock()
	b.x.state.URLs += int64(len(fresh))
	b.x.mu.Unlock()
	return b.insert(ctx, "INSERT INTO urls("+urlColumns+") VALUES ", "", rows)
}

func (b *logBatchState) writeVisits(ctx context.Context) error {
	for table, pairs := range map[string][][2]int64{"requests": b.visits, "earlier": b.before} {
		rows := make([][]any, len(pairs))
		for i, v := range pairs {
			rows[i] = []any{v[0], v[1]}
		}
		if err := b.insert(ctx, "INSERT OR IGNORE INTO "+table+" VALUES ", "", rows); err != nil {
			return err
		}
	}
	return nil
}

func (b *logBatchState) insert(ctx context.Context, head, end string, rows [][]any) error {
	return insertRows(ctx, b.tx, head, end, rows)
}

// insertRows inserts rows, many with a statement.
func insertRows(ctx context.Context, tx *sql.Tx, head, end string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	width := len(rows[0])
	one := "(" + marks(width) + ")"
	for some := range slices.Chunk(rows, maxParams/width) {
		query := head + strings.TrimSuffix(strings.Repeat(one+",", len(some)), ",") + end
		if _, err := tx.ExecContext(ctx, query, slices.Concat(some...)...); err != nil {
			return err
		}
	}
	return nil
}

// writeCounts moves each URL from where it was counted to where it counts now.
func (b *logBatchState) writeCounts(ctx context.Context) error {
	cells, counts := map[cellKey]int64{}, map[count]int64{}
	add := func(k cellKey, kind crawl.Kind, n int64) {
		counts[count{"d", k.value()}] += n
		b.hostOf(k.host).states[k.state] += n
		if !aside(kind) {
			cells[k] += n
		}
	}
	names := [3]string{"v", "r", "s"}
	for _, e := range b.order {
		now := cellKey{e.host, e.line.Depth, e.state}
		values := [3]int64{int64(e.line.Verdict), e.reason, int64(e.line.Status)}
		if e.id != 0 {
			add(e.old, e.oldKind, -1)
		}
		add(now, e.line.Kind, 1)
		for i, name := range names {
			if e.id != 0 {
				counts[count{name, e.oldCount[i]}]--
			}
			counts[count{name, values[i]}]++
		}
	}
	var rows [][]any
	for k, n := range cells {
		if n != 0 {
			rows = append(rows, []any{k.host, k.depth, k.state, n})
			counts[count{"p", k.value()}] += n
			if k.state == stateDone || k.state == stateFailed || k.state == stateTimedOut {
				b.hostOf(k.host).done += n
			}
		}
	}
	if err := b.insert(ctx, "INSERT INTO cells VALUES ", " ON CONFLICT DO UPDATE SET n = n + excluded.n",
		rows); err != nil {
		return err
	}
	return writeCounts(ctx, b.tx, counts)
}

// aside reports whether tasks of a kind are asked for beside the pages: they have no place in the shape of a crawl.
func aside(k crawl.Kind) bool { return k == crawl.KindRobots || k == crawl.KindSitemap }

// value is how the table counts has a depth and a state.
func (k cellKey) value() int64 { return int64(k.depth)<<4 | int64(k.state) }

// count is a row of the table counts.
type count struct {
	what  string
	value int64
}

// writeCounts adds numbers to counts.
func writeCounts(ctx context.Context, tx *sql.Tx, counts map[count]int64) error {
	var rows [][]any
	for k, n := range counts {
		if n != 0 {
			rows = append(rows, []any{k.what, k.value, n})
		}
	}
	return insertRows(ctx, tx, "INSERT INTO counts VALUES ", " ON CONFLICT DO UPDATE SET n = n + excluded.n", rows)
}

func (b *logBatchState) hostOf(id int64) *hostDelta {
	h := b.hosts[id]
	if h == nil {
		h = &hostDelta{}
		b.hosts[id] = h
	}
	return h
}
