package postgresbench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

const (
	batchSize = 500 // links that one message claims
	claimants = 4   // messages at once
	knownPart = 10  // one in so many URLs was claimed before
)

// Claims claims URLs while the table holds so many rows, a tenth of n and less before: batches of 500 from four claimants
// at once, one in ten URLs known, first with a batch's URLs on one host, as links mostly are, then each on a host of its own.
func Claims(ctx context.Context, server string, sizes []int64, w io.Writer) error {
	return withScratch(ctx, server, w, func(s *scratch) error {
		if _, err := fmt.Fprintf(w, "URL claims, batches of %d by %d claimants\n%12s %14s %12s %14s %14s %10s\n", batchSize, claimants,
			"rows", "URLs of batch", "claims/s", "our us/claim", "its us/claim", "worst ms"); err != nil {
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

// fillURLs adds rows as claims would, only faster: without the key's index, which is built when they are there.
func (s *scratch) fillURLs(ctx context.Context, from, to int64) error {
	return s.run(ctx,
		`ALTER TABLE urls DROP CONSTRAINT urls_pkey`,
		fmt.Sprintf(`INSERT INTO urls (job, host, hash, state, claimant, changed, url)
			SELECT %d, ('x' || substr(md5((n %% %d)::text), 1, 16))::bit(64)::bigint, md5('u' || n)::uuid, 1, n, now(),
				'http://host' || n %% %[2]d || '.example/some/path/of/usual/length/' || n
			FROM generate_series(%d, %d) n`, s.number, max(1, to/100), from, to-1),
		`ALTER TABLE urls ADD PRIMARY KEY (job, host, hash)`,
		`VACUUM ANALYZE urls`, `CHECKPOINT`)
}

// measureClaims claims for some seconds and prints a row.
func (s *scratch) measureClaims(ctx context.Context, rows int64, random bool) error {
	const batches = 60
	work := make([][][]weburl.URL, claimants)
	for c := range work {
		var err error
		if work[c], err = makeBatches(rand.New(rand.NewPCG(uint64(rows), uint64(c))), batches+5, random); err != nil {
			return err
		}
	}
	if _, _, err := s.claimAll(ctx, work, 0, 5); err != nil { // warms connections, plans and the cache
		return err
	}
	cpu, start := s.cpu(ctx), time.Now()
	claimed, worst, err := s.claimAll(ctx, work, 5, batches+5)
	if err != nil {
		return err
	}
	took, used := time.Since(start), s.cpu(ctx).since(cpu)
	kind := "one host"
	if random {
		kind = "any host"
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(claimed) }
	_, err = fmt.Fprintf(s.out, "%12d %14s %12.0f %14.2f %14.2f %10.1f\n", rows, kind, float64(claimed)/took.Seconds(), each(used.ours),
		each(used.server), worst.Seconds()*1e3)
	return err
}

// makeBatches makes batches of URLs, one in ten from the batch before.
func makeBatches(rnd *rand.Rand, n int, random bool) ([][]weburl.URL, error) {
	out := make([][]weburl.URL, n)
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
			out[b] = append(out[b], u)
		}
	}
	return out, nil
}

// claimAll lets every claimant claim its batches from-th to to-th.
func (s *scratch) claimAll(ctx context.Context, work [][][]weburl.URL, from, to int) (claimed int, worst time.Duration, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range work {
		wg.Go(func() {
			for b := from; b < to; b++ {
				by := crawl.MessageID{}.Child("bench", c<<20|b)
				start := time.Now()
				_, failed := s.URLs().Claim(ctx, job, by, work[c][b])
				mu.Lock()
				claimed, worst = claimed+len(work[c][b]), max(worst, time.Since(start))
				if failed != nil {
					err = failed
				}
				mu.Unlock()
				if failed != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return claimed, worst, err
}
