package postgresbench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// openPart is one in how many rows is open when the open ones are read.
const openPart = 100

// Ring measures what a ring of nodes costs in PostgreSQL while the table holds so many rows, one in a hundred open:
// claims and outcomes without a ring, and in the name of a member; pages followed; and reading what is open, as the new
// owner of hosts does. Then once more with the index of open URLs that the schema has: it is dropped at first.
func Ring(ctx context.Context, server string, sizes []int64, w io.Writer) error {
	return withScratch(ctx, server, w, func(s *scratch) error {
		if _, err := fmt.Fprintf(w, "a ring's statements, batches of %d by %d claimants\n%12s %14s %12s %14s %14s %10s\n",
			batchSize, claimants, "rows", "", "a second", "our us each", "its us each", "worst ms"); err != nil {
			return err
		}
		member, err := s.member(ctx)
		if err != nil {
			return err
		}
		defer member.Close()
		var rows int64
		for _, size := range sizes {
			if err := s.fillWhole(ctx, rows, size); err != nil {
				return err
			}
			rows = size
			if err := s.measureRing(ctx, member, size); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintln(w, "reproduce: whirlpool bench postgres-ring")
		return err
	})
}

// member returns a store that writes as a member of a ring.
func (s *scratch) member(ctx context.Context) (*scratch, error) {
	cfg := s.cfg
	k := ring.Token{Node: "bench", Incarnation: 1, Epoch: 1}
	cfg.Token = func() (ring.Token, error) { return k, nil }
	store, err := postgres.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &scratch{Store: store, conn: s.conn, number: s.number, out: s.out}, store.Members().Enter(ctx, k)
}

// fillWhole adds rows with their texts.
func (s *scratch) fillWhole(ctx context.Context, from, to int64) error {
	return s.run(ctx,
		`SET maintenance_work_mem = '512MB'`,
		`DROP INDEX IF EXISTS urls_open; ALTER TABLE urls DROP CONSTRAINT urls_pkey`,
		fmt.Sprintf(`INSERT INTO urls (job, host, hash, state, claimant, changed, url, task)
			SELECT %d, hashint8extended(n %% %d, 0), md5(n::text)::uuid, CASE WHEN n %% %d = 0 THEN 1 ELSE 2 END, n, now(),
				'http://site' || n %% 1000 || '.example/some/path/of/usual/length/' || n, %s
			FROM generate_series(%d, %d) n`, s.number, to/100|1, openPart, taskLiteral(), from, to-1),
		`ALTER TABLE urls ADD PRIMARY KEY (job, host, hash)`,
		`VACUUM ANALYZE urls`, `CHECKPOINT`)
}

// taskLiteral is a stored task as a constant of SQL.
func taskLiteral() string {
	return fmt.Sprintf(`'\x%x'::bytea`, crawl.AppendTaskRest(nil, &crawl.Task{Priority: crawl.DefaultPriority, Depth: 3}))
}

func (s *scratch) measureRing(ctx context.Context, member *scratch, rows int64) error {
	for i, w := range []*scratch{s, member} {
		if err := w.claimAndFinish(ctx, rows, uint64(i), []string{"", ", ring"}[i]); err != nil {
			return err
		}
	}
	if err := s.timed(ctx, rows, "page followed",
		func() (int, time.Duration, error) { return s.follow(ctx, int(min(rows/20, 10_000))) }); err != nil {
		return err
	}
	read := func() (int, time.Duration, error) { return s.readOpen(ctx) }
	if err := s.timed(ctx, rows, "open read", read); err != nil {
		return err
	}
	if err := s.run(ctx, `CREATE INDEX urls_open ON urls (host) WHERE state = 1`, `VACUUM ANALYZE urls`,
		`CHECKPOINT`); err != nil {
		return err
	}
	if err := s.claimAndFinish(ctx, rows, 2, ", index"); err != nil {
		return err
	}
	return s.timed(ctx, rows, "open, index", read)
}

func (s *scratch) claimAndFinish(ctx context.Context, rows int64, seed uint64, what string) error {
	batches := int(max(2, min(40, rows/1000))) // a claimant
	work := make([][][]crawl.Task, claimants)
	for c := range work {
		var err error
		if work[c], err = makeBatches(rand.New(rand.NewPCG(uint64(rows)<<8+seed, uint64(c))), batches+5, false); err != nil {
			return err
		}
	}
	if _, _, err := s.claimAll(ctx, work, 0, 5); err != nil {
		return err
	}
	if err := s.timed(ctx, rows, "claim"+what,
		func() (int, time.Duration, error) { return s.claimAll(ctx, work, 5, batches+5) }); err != nil {
		return err
	}
	return s.timed(ctx, rows, "finish"+what, func() (int, time.Duration, error) { return s.finishAll(ctx, work) })
}

// follow lets pages be expected by the ten, and their links be claimed as two shares each.
func (s *scratch) follow(ctx context.Context, pages int) (n int, worst time.Duration, err error) {
	work := make([][][]crawl.Task, claimants)
	for i := range pages {
		u, err := weburl.Parse(fmt.Sprintf("http://site%d.example/followed/%d", i%100, i))
		if err != nil {
			return 0, 0, err
		}
		work[i%claimants] = append(work[i%claimants], []crawl.Task{{Job: job, URL: u, Depth: 3}})
	}
	return eachClaimant(work, func(c int) (n int, worst time.Duration, err error) {
		for some := range slices.Chunk(slices.Concat(work[c]...), 10) {
			start := time.Now()
			if err := s.Following().Expect(ctx, some...); err != nil {
				return n, worst, err
			}
			for i := range some {
				for share := range 2 {
					if err := s.Following().Claimed(ctx, job, some[i].URL, crawl.Share{Epoch: 1, Index: share, Of: 2}); err != nil {
						return n, worst, err
					}
				}
			}
			n, worst = n+len(some), max(worst, time.Since(start))
		}
		return n, worst, nil
	})
}

func (s *scratch) readOpen(ctx context.Context) (n int, took time.Duration, err error) {
	start := time.Now()
	err = s.URLs().Open(ctx, weburl.AllKeys(), func(weburl.URL) bool { return true },
		func(crawl.Task) error { n++; return nil })
	return n, time.Since(start), err
}
