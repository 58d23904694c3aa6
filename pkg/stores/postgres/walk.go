package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const printsSQL = `
	SELECT f.page_id, f.url, f.page_type, coalesce(o.url, ''), f.distance, f.page_fp, f.simhash, f.domain, f.claimed
	FROM fingerprints f LEFT JOIN fingerprints o ON o.job = f.job AND o.page_id = f.content_id AND f.page_type <> 0
	WHERE f.job = $1 ORDER BY f.page_id`

// Each calls each with every fingerprint of a job and its key, in the order of the keys, from one snapshot. It holds
// one at a time. The original of a copy is zero if it has no fingerprint. An error of each stops it.
func (c *ContentSet) Each(ctx context.Context, job crawl.JobID,
	each func(weburl.Key, crawl.StoredFingerprint) error) error {
	number, known, err := c.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	return c.s.report(ctx, fmt.Sprintf("fingerprints of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, printsSQL, number)
		if err != nil {
			return err
		}
		var f crawl.StoredFingerprint
		var id, digest []byte
		var url, of string
		var pageType, distance int16
		var simhash int64
		_, err = pgx.ForEachRow(rows, []any{&id, &url, &pageType, &of, &distance, &digest, &simhash, &f.Domain, &f.At},
			func() error {
				var k weburl.Key
				if len(id) != len(k) {
					return fmt.Errorf("fingerprint of %s: its page_id is no key of a URL", url)
				}
				copy(k[:], id)
				f.Sameness, f.Distance, f.Simhash = crawl.Sameness(pageType), int(distance), uint64(simhash)
				copy(f.Digest[:], digest)
				if err := errors.Join(f.URL.UnmarshalText([]byte(url)), f.Of.UnmarshalText([]byte(of))); err != nil {
					return err
				}
				return each(k, f)
			})
		return err
	})
}

// Count returns how many hosts have a record. It reads an index of all of them.
func (h *Hosts) Count(ctx context.Context) (n int64, err error) {
	err = h.s.report(ctx, "count the hosts", func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM hosts`).Scan(&n)
	})
	return n, err
}
