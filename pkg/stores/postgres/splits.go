package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var _ crawl.Splits = (*Following)(nil)

// splitsSQL selects the places of those splits, in the order of the arrays, that are whole.
const splitsSQL = `
	SELECT a.place FROM unnest($1::integer[], $2::bigint[], $3::uuid[], $4::bigint[], $5::integer[]) WITH ORDINALITY AS a (job, host, hash, epoch, parts, place)
	JOIN following f ON f.job = a.job AND f.host = a.host AND f.hash = a.hash AND f.epoch = a.epoch AND f.parts = a.parts
	WHERE ` + whole

// Whole implements crawl.Splits.
func (f *Following) Whole(ctx context.Context, job crawl.JobID, splits ...crawl.Split) ([]bool, error) {
	key := func(s *crawl.Split) weburl.Key { return s.Page.Key() }
	return onServersAsk(f.s, splits, key, func(at *Store, part []crawl.Split) ([]bool, error) {
		return at.following.whole(ctx, job, part)
	})
}

func (f *Following) whole(ctx context.Context, job crawl.JobID, splits []crawl.Split) ([]bool, error) {
	out := make([]bool, len(splits))
	if len(splits) == 0 {
		return out, nil
	}
	number, err := f.s.jobs.number(ctx, job)
	if errors.Is(err, crawl.ErrDiscarded) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	var keys followKeys
	epochs, parts := make([]int64, len(splits)), make([]int32, len(splits))
	for i, s := range splits {
		keys.add(followKey{number, s.Page.Key()})
		epochs[i], parts[i] = int64(s.Epoch), int32(s.Of)
	}
	what := fmt.Sprintf("ask whether the links of %d pages are claimed, the first of %s", len(splits), splits[0].Page)
	return out, f.s.do(ctx, what, func(ctx context.Context) error {
		rows, err := f.s.pool.Query(ctx, splitsSQL, keys.jobs, keys.hosts, keys.hashes, epochs, parts)
		if err != nil {
			return err
		}
		var place int64
		_, err = pgx.ForEachRow(rows, []any{&place}, func() error {
			out[place-1] = true
			return nil
		})
		return err
	})
}
