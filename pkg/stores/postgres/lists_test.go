package postgres_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// readsAll finds a scan of a whole table or job.
var readsAll = regexp.MustCompile(`Seq Scan on (urls|attempts)|Index Cond: \(job = [^ ]+\)\n`)

// A page must not cost a walk through the whole job.
func TestAPageOfAListReadsNoWholeTable(t *testing.T) {
	url := newDatabase(t)
	s := openAt(t, url)
	check(t, s.Jobs().Put(context.Background(), aJob("plan")))
	execute(t, url, planRows)
	host, hash := int64(1), "a3cca2b2-aa1e-3b5b-3b5a-ad99a8529074"
	job := ask[int32](t, url, `SELECT number FROM jobs WHERE id = 'plan'`)
	for name, tc := range map[string]struct {
		settings string
		planCase
		want string
	}{
		"entries": {postgres.WalkSettings, planCase{postgres.EntriesAfterSQL, []any{job, host, hash, 100}},
			"ROW(host, hash) > ROW("},
		"lines":    {"", planCase{postgres.LinesFromSQL, []any{job, "(0,5)", "(2,0)", 100}}, "Tid Range Scan"},
		"attempts": {"", planCase{postgres.AttemptsFromSQL, []any{job, host, hash, "(0,0)", 20}}, "Index Cond: ((host ="},
	} {
		t.Run(name, func(t *testing.T) {
			conn, ctx := connect(t, url), context.Background()
			tx, err := conn.Begin(ctx)
			check(t, err)
			defer func() { _ = tx.Rollback(ctx) }()
			for _, sql := range strings.Split(postgres.ReportSettings+";"+tc.settings, ";") {
				_, err := tx.Exec(ctx, sql)
				check(t, err)
			}
			if p := plan(t, conn, tc.planCase); readsAll.MatchString(p) || !strings.Contains(p, tc.want) {
				t.Errorf("want %q in the plan\n%s", tc.want, p)
			}
		})
	}
	t.Run("control: a page by number reads all before it", func(t *testing.T) {
		p := plan(t, connect(t, url), planCase{`SELECT url FROM attempts WHERE job = $1 ORDER BY at OFFSET $2 LIMIT 10`,
			[]any{job, 5000}})
		if !readsAll.MatchString(p) {
			t.Errorf("no walk was noticed in\n%s", p)
		}
	})
}

// A log is read in windows of blocks. None may be passed over, and none read twice, wherever a page ends.
func TestALogOfManyWindows(t *testing.T) {
	s, ctx := open(t), context.Background()
	const n = 6000
	lines := make([]crawl.LogLine, n)
	for i, u := range manyURLs(t, 0, n, 7) {
		lines[i] = crawl.LogLine{Job: "job", URL: u, Attempt: i, Detail: strings.Repeat("x", 400) + u.String()}
	}
	lines[0].Detail = ""
	check(t, s.AttemptLog().Append(ctx, lines...))
	if size := ask[int64](t, sharedDatabase(t),
		`SELECT pg_relation_size('attempts_' || number) FROM jobs WHERE id = 'job'`); size < 3<<20 {
		t.Fatalf("the log has %d bytes, which is one window", size)
	}
	for _, limit := range []int{n + 1, 1700} {
		seen := 0
		for from, more := int64(0), true; more; {
			page, next, err := s.AttemptLog().LinesFrom(ctx, "job", from, limit)
			check(t, err)
			for _, l := range page {
				if l.Attempt != seen {
					t.Fatalf("by %d: line %d, want %d", limit, l.Attempt, seen)
				}
				seen++
			}
			from, more = next, len(page) == limit
		}
		if seen != n {
			t.Errorf("by %d: %d lines, want %d", limit, seen, n)
		}
	}
}
