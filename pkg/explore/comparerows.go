package explore

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"time"
)

const sideColumns = "hash, url, title, status, bytes, words, at, digest, simhash"

// side is what a comparison tells of a record.
type side struct {
	hash           int64
	url, title     string
	status, words  int
	bytes, at      int64
	digest, simsum int64
}

// compared reads the records of changes. One that is gone from its index meanwhile is left out.
func compared(ctx context.Context, a, b *index, rows []changed) ([]Compared, error) {
	was, err := a.sides(ctx, rows)
	if err != nil {
		return nil, err
	}
	is, err := b.sides(ctx, rows)
	if err != nil {
		return nil, err
	}
	out := make([]Compared, 0, len(rows))
	for _, r := range rows {
		before, after := was[r.hash], is[r.hash]
		if before == nil && r.change != New || after == nil && r.change != Gone {
			continue
		}
		c := Compared{Change: r.change, Before: before.brief(), After: after.brief()}
		shown := after
		if r.change == Gone {
			shown, c.After = before, nil
		}
		if r.change == New {
			c.Before = nil
		}
		c.Key, c.URL = keyOf(shown.url), plain(shown.url, maxURL)
		if r.change == Changed {
			c.Share = math.Round(100*min(1, float64(bits.OnesCount64(uint64(before.simsum^after.simsum)))/32)) / 100
		}
		out = append(out, c)
	}
	return out, nil
}

// sides reads records by their hashes.
func (x *index) sides(ctx context.Context, rows []changed) (map[int64]*side, error) {
	args := make([]any, len(rows))
	for i := range rows {
		args[i] = rows[i].hash
	}
	list := make(map[int64]*side, len(rows))
	err := each(ctx, x.read, "SELECT "+sideColumns+" FROM records WHERE hash IN ("+marks(len(args))+")", args,
		func(scan func(...any) error) error {
			s := &side{}
			err := scan(&s.hash, &s.url, &s.title, &s.status, &s.bytes, &s.words, &s.at, &s.digest, &s.simsum)
			list[s.hash] = s
			return err
		})
	return list, err
}

func (s *side) brief() *Brief {
	if s == nil {
		return nil
	}
	return &Brief{Title: s.title, Status: s.status, Bytes: s.bytes, Words: s.words, FetchedAt: time.UnixMilli(s.at).UTC(),
		Digest: fmt.Sprintf("%016x", uint64(s.digest))}
}
