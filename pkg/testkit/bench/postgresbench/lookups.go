package postgresbench

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Lookups looks up near-duplicates among so many originals, by each distance that a job may ask for, and claims the
// content of new pages, one after the other.
func Lookups(ctx context.Context, server string, sizes []int64, w io.Writer) error {
	return withScratch(ctx, server, w, func(s *scratch) error {
		if _, err := fmt.Fprintf(w, "near-duplicates, simhashes at random\n%12s %24s %12s %12s %12s %14s %14s\n", "originals",
			"", "median ms", "p99 ms", "worst ms", "our us/call", "its us/call"); err != nil {
			return err
		}
		var rows int64
		for _, size := range sizes {
			if err := s.fillFingerprints(ctx, rows, size); err != nil {
				return err
			}
			rows = size
			if err := s.measureLookups(ctx, size); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintln(w, "reproduce: whirlpool bench postgres-near")
		return err
	})
}

// fillFingerprints adds originals without their indexes, which are built when they are there. Sketches are short here:
// a look-up reads only those of its candidates.
func (s *scratch) fillFingerprints(ctx context.Context, from, to int64) error {
	return s.run(ctx,
		`CREATE TEMP TABLE IF NOT EXISTS made AS SELECT indexdef FROM pg_indexes WHERE tablename = 'fingerprints' AND indexname <> 'fingerprints_pkey'`,
		`DROP INDEX fingerprints_original, fingerprints_upper, fingerprints_lower; ALTER TABLE fingerprints DROP CONSTRAINT fingerprints_pkey`,
		fmt.Sprintf(`INSERT INTO fingerprints (job, page_type, distance, same_links, simhash, link_sum, page_id, content_id, page_fp, fp_alg,
				domain, url, sketch)
			SELECT %d, 0, 0, false, ('x' || substr(md5(n::text), 1, 16))::bit(64)::bigint, 0, k, k, k, 'sha256+simhash64', 'host.example',
				'http://host.example/' || n, 'x'
			FROM generate_series(%d, %d) n, LATERAL (SELECT decode(md5('p' || n) || '0123456789abcdef', 'hex')) AS t (k)`, s.number, from, to-1),
		`SET maintenance_work_mem = '512MB'`,
		`ALTER TABLE fingerprints ADD PRIMARY KEY (job, page_id)`,
		`DO $$ DECLARE d text; BEGIN FOR d IN SELECT indexdef FROM made LOOP EXECUTE d; END LOOP; END $$`,
		`VACUUM ANALYZE fingerprints`, `CHECKPOINT`)
}

func (s *scratch) measureLookups(ctx context.Context, rows int64) error {
	rnd := rand.New(rand.NewPCG(1, uint64(rows)))
	for _, near := range []int{3, 5, 7} {
		calls := int(min(rows/2, map[int]int64{3: 3000, 5: 300, 7: 60}[near]))
		err := s.measure(ctx, rows, fmt.Sprintf("look-up, distance %d", near), calls, func(int) error {
			_, err := s.ContentSet().Near(ctx, job, rnd.Uint64(), near)
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.measure(ctx, rows, "claim, distance 3", int(min(rows/2, 2000)), func(i int) error {
		u, err := weburl.Parse(fmt.Sprintf("http://site.example/%d/%d", rows, i))
		if err != nil {
			return err
		}
		fp := crawl.Fingerprint{Job: job, URL: u, Digest: sha256.Sum256([]byte(u.String())), Simhash: rnd.Uint64(),
			Sketch: make([]byte, 128)}
		_, err = s.ContentSet().Claim(ctx, fp, 3, nil)
		return err
	})
}

// measure makes calls one after the other, a tenth of them before it looks at the clock, and prints a row.
func (s *scratch) measure(ctx context.Context, rows int64, what string, calls int, call func(i int) error) error {
	took := make([]time.Duration, calls)
	var before cpuTimes
	for i := range calls + calls/10 {
		if i == calls/10 {
			before = s.cpu(ctx)
		}
		start := time.Now()
		if err := call(i); err != nil {
			return err
		}
		took[i%calls] = time.Since(start)
	}
	used := s.cpu(ctx).since(before)
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(calls) }
	_, err := fmt.Fprintf(s.out, "%12d %24s %12.3f %12.3f %12.3f %14.1f %14.1f\n", rows, what, ms(took[calls/2]),
		ms(took[calls*99/100]), ms(took[calls-1]), each(used.ours), each(used.server))
	return err
}
