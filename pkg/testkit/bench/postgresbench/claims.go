package postgresbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const (
	batchSize = 500 // links that one message claims
	claimants = 4   // messages at once
	knownPart = 10  // one in so many URLs was claimed before
)

// Claims claims URLs while the table holds so many rows: batches of 500 from four claimants at once, one in ten URLs
// known, first with a batch's URLs on one host, as links mostly are, then each on a host of its own. Then it finishes
// them in batches of 50, and says how many rows changed in place (HOT), without touching the index.
func Claims(ctx context.Context, server string, sizes []int64, w io.Writer) error {
	return withScratch(ctx, server, w, func(s *scratch) error {
		if _, err := fmt.Fprintf(w, "URL claims, batches of %d by %d claimants\n%12s %14s %12s %14s %14s %10s\n", batchSize,
			claimants, "rows", "URLs of batch", "URLs/s", "our us/URL", "its us/URL", "worst ms"); err != nil {
			return err
		}
		var rows int64
		for _, size := range sizes {
			if err := s.fillURLs(ctx, rows, size); err != nil {
				return err
			}
			rows = size
			for _, random := range []bool{false, true} {
				if err := s.measureClaims(ctx, size, random); err != nil {
					return err
				}
			}
		}
		_, err := fmt.Fprintln(w, "reproduce: whirlpool bench postgres-claims")
		return err
	})
}

// fillURLs adds rows as claims would, only faster: without their texts, which no claim reads, and without the key's
// index, which is built when they are there.
func (s *scratch) fillURLs(ctx context.Context, from, to int64) error {
	return s.run(ctx,
		`SET maintenance_work_mem = '512MB'`,
		`ALTER TABLE urls DROP CONSTRAINT urls_pkey`,
		fmt.Sprintf(`INSERT INTO urls (job, host, hash, state, claimant, changed)
			SELECT %d, hashint8extended(n %% %d, 0), md5(n::text)::uuid, 1, n, now() FROM generate_series(%d, %d) n`,
			s.number, max(1, to/100), from, to-1),
		`ALTER TABLE urls ADD PRIMARY KEY (job, host, hash)`,
		`VACUUM ANALYZE urls`, `CHECKPOINT`)
}

// measureClaims claims for some seconds, fewer in small tables, and prints a row.
func (s *scratch) measureClaims(ctx context.Context, rows int64, random bool) error {
	batches := int(max(2, min(60, rows/1000))) // a claimant
	work := make([][][]crawl.Task, claimants)
	for c := range work {
		var err error
		if work[c], err = makeBatches(rand.New(rand.NewPCG(uint64(rows), uint64(c))), batches+5, random); err != nil {
			return err
		}
	}
	if _, _, err := s.claimAll(ctx, work, 0, 5); err != nil { // warms connections, plans and the cache
		return err
	}
	kind := "one host"
	if random {
		kind = "any host"
	}
	err := s.timed(ctx, rows, kind, func() (int, time.Duration, error) { return s.claimAll(ctx, work, 5, batches+5) })
	if err != nil || !random {
		return err
	}
	if err := s.timed(ctx, rows, "finish",
		func() (int, time.Duration, error) { return s.finishAll(ctx, work) }); err != nil {
		return err
	}
	return s.printHOT(ctx)
}

// timed prints a row about what do does to some URLs.
func (s *scratch) timed(ctx context.Context, rows int64, kind string,
	do func() (urls int, worst time.Duration, err error)) error {
	cpu, start := s.cpu(ctx), time.Now()
	urls, worst, err := do()
	if err != nil {
		return err
	}
	took, used := time.Since(start), s.cpu(ctx).since(cpu)
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(urls) }
	_, err = fmt.Fprintf(s.out, "%12d %14s %12.0f %14.2f %14.2f %10.1f\n", rows, kind, float64(urls)/took.Seconds(),
		each(used.ours), each(used.server), worst.Seconds()*1e3)
	return err
}

// finishAll gives all URLs of the work their outcome.
func (s *scratch) finishAll(ctx context.Context, work [][][]crawl.Task) (urls int, worst time.Duration, err error) {
	const part = 50
	return eachClaimant(work, func(c int) (n int, worst time.Duration, err error) {
		for _, batch := range work[c] {
			for some := range slices.Chunk(batch, part) {
				entries := make([]crawl.Entry, len(some))
				for i := range some {
					entries[i] = crawl.Entry{Key: some[i].URL.Key(), Verdict: crawl.VerdictDone, Status: 200, At: time.Now(),
						Attempts: 1}
				}
				start := time.Now()
				if err := s.URLs().Finish(ctx, job, entries...); err != nil {
					return n, worst, err
				}
				n, worst = n+len(some), max(worst, time.Since(start))
			}
		}
		return n, worst, nil
	})
}

// printHOT prints the share of row changes that left the index alone, as the server counted them.
func (s *scratch) printHOT(ctx context.Context) error {
	const sql = `SELECT coalesce(sum(n_tup_upd), 0)::bigint, coalesce(sum(n_tup_hot_upd), 0)::bigint
		FROM pg_stat_user_tables WHERE relname LIKE 'urls%'`
	var changes, hot int64
	if err := s.conn.QueryRow(ctx, sql).Scan(&changes, &hot); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.out, "%12s %d of %d changes in place (the server counts with a delay)\n", "", hot, changes)
	return err
}

// makeBatches makes batches of tasks, one in ten from the batch before.
func makeBatches(rnd *rand.Rand, n int, random bool) ([][]crawl.Task, error) {
	out := make([][]crawl.Task, n)
	for b := range out {
		host := rnd.Uint32()
		for i := range batchSize {
			if b > 0 && i%knownPart == 0 {
				out[b] = append(out[b], out[b-1][i+1])
				continue
			}
			if random {
				host = rnd.Uint32()
			}
			u, err := weburl.Parse(fmt.Sprintf("http://site%d.example/some/path/of/usual/length/%d", host, rnd.Uint64()))
			if err != nil {
				return nil, err
			}
			page, err := weburl.Parse(fmt.Sprintf("http://site%d.example/some/path/of/usual/length/page-of-links", host))
			if err != nil {
				return nil, err
			}
			out[b] = append(out[b], crawl.Task{Job: job, URL: u, Priority: crawl.DefaultPriority, Depth: 3, Referrer: page})
		}
	}
	return out, nil
}

// claimAll lets every claimant claim its batches from-th to to-th.
func (s *scratch) claimAll(ctx context.Context, work [][][]crawl.Task, from,
	to int) (claimed int, worst time.Duration, err error) {
	return eachClaimant(work, func(c int) (n int, worst time.Duration, err error) {
		for b := from; b < to; b++ {
			by := crawl.MessageID{}.Child("bench", c<<20|b)
			start := time.Now()
			if _, err := s.URLs().Claim(ctx, job, by, work[c][b]); err != nil {
				return n, worst, err
			}
			n, worst = n+len(work[c][b]), max(worst, time.Since(start))
		}
		return n, worst, nil
	})
}

// eachClaimant runs do for all claimants at once and adds up what they say.
func eachClaimant(work [][][]crawl.Task, do func(c int) (urls int, worst time.Duration, err error)) (
	urls int, worst time.Duration, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range work {
		wg.Go(func() {
			n, slowest, failed := do(c)
			mu.Lock()
			defer mu.Unlock()
			urls, worst, err = urls+n, max(worst, slowest), errors.Join(err, failed)
		})
	}
	wg.Wait()
	return urls, worst, err
}
