package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// How many of the records that have the words of a search, the newest first, are ranked: as many, and where other
// filters are to be met as well, maxScan.
const maxRanked = 5_000

// rankOf is how well a record matches, the least first: BM25 with a title's words five times, those of a URL twice as
// heavy as the text's, and once more for title and URL alone. BM25 takes a word less seriously the longer the whole
// record is, and often written is hardly more than written: the long page that a word names would come behind short
// ones that only mention it.
const rankOf = "bm25(fts, 5.0, 1.0, 2.0) + bm25(fts, 50.0, 0.0, 0.0) + bm25(fts, 0.0, 0.0, 50.0)"

// listRanked lists the records of a search, the best first. A record that is added between two pages of the list is not
// in the later one, but it may move others by a place.
func (q *recordQuery) listRanked(ctx context.Context, w *where, out *Records) error {
	if q.c.ID == 0 {
		if err := q.ix.read.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM records").Scan(&q.c.ID); err != nil {
			return err
		}
	}
	most := maxRanked
	cond, args := w.cond()
	if cond != "1 AND 1" {
		most = maxScan
	}
	offset := int(q.c.Num)
	ids := "SELECT rowid AS id, " + rankOf +
		" AS score FROM fts WHERE fts MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?"
	var rows []recordAt
	err := each(ctx, q.ix.read, "SELECT m.score, "+recordRow+" FROM ("+ids+
		") m CROSS JOIN records r ON r.id = m.id WHERE "+cond+
		" ORDER BY m.score, r.id DESC LIMIT ? OFFSET ?",
		slices.Concat([]any{q.match, q.c.ID, most}, args, []any{q.limit + 1, offset}), func(scan func(...any) error) error {
			var score float64
			r, err := scanRecord(func(into ...any) error { return scan(append([]any{&score}, into...)...) }, q.f.Columns)
			r.Score = -score
			rows = append(rows, r)
			return err
		})
	if err != nil {
		return err
	}
	if len(rows) > q.limit {
		rows = rows[:q.limit]
		out.Next = cursor{Of: q.c.Of, ID: q.c.ID, Num: float64(offset + q.limit)}.encode()
	}
	out.Items = q.shown(rows)
	return nil
}

// shown are records with the parts of their texts in which the words are.
func (q *recordQuery) shown(rows []recordAt) []Record {
	out := make([]Record, 0, len(rows))
	for i := range rows {
		if q.query != nil {
			var current bool
			if rows[i].Snippet, current = q.ix.snippet(&rows[i], q.query); !current {
				continue
			}
		}
		out = append(out, rows[i].Record)
	}
	return out
}

// snippet is the part of a record's text where most of the words are. current is false where the record is not in its
// place any more: another took it, or a later visit.
func (x *index) snippet(r *recordAt, query *textsearch.Query) (pieces []Piece, current bool) {
	line, err := x.recordLine(r.off, r.len)
	if err != nil {
		return nil, true
	}
	if jsonl.IsReplaced(line) {
		return nil, false
	}
	p, err := parsePage(line)
	if err != nil {
		return nil, true
	}
	if r.GoneAt, r.MovedTo = p.GoneAt, plain(p.MovedTo, maxURL); p.Text == "" {
		return nil, true
	}
	return query.Snippet(plain(p.Text, textsearch.MaxText)), true
}

// queryOf reads the words of a search; nil where there are none.
func queryOf(text string) (*textsearch.Query, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	q, err := textsearch.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w: q: %w", ErrInvalid, err)
	}
	return q, nil
}
