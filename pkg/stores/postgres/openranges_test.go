package postgres_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// openBy is a ledger that reads open URLs in one way.
type openBy struct {
	*postgres.URLs
	ranges bool
	shrink uint64 // by how much ranges are too short: the control
}

func (o openBy) Open(ctx context.Context, in []weburl.KeyRange, _ func(weburl.URL) bool,
	each func(crawl.Task) error) error {
	var asked []weburl.KeyRange
	for _, r := range in {
		if r.Last-r.First >= o.shrink {
			asked = append(asked, weburl.KeyRange{First: r.First, Last: r.Last - o.shrink})
		}
	}
	return o.OpenBy(ctx, o.ranges, asked, each)
}

func TestOpenURLsByRanges(t *testing.T) {
	t.Run("as it is cheaper", func(t *testing.T) {
		storetest.OpenRanges(t, func(t *testing.T) storetest.OpenLedger { return open(t).URLs() })
	})
	for name, ranges := range map[string]bool{"by ranges": true, "by a pass": false} {
		t.Run(name, func(t *testing.T) {
			storetest.OpenRanges(t, func(t *testing.T) storetest.OpenLedger {
				return openBy{URLs: open(t).URLs(), ranges: ranges}
			})
		})
	}
}

func TestARangeThatIsTooShortIsNoticed(t *testing.T) {
	u := open(t).URLs()
	_, err := u.Claim(context.Background(), "suite", id("open"), storetest.Tasks("suite", manyURLs(t, 0, 200, 40)...))
	check(t, err)
	if wrong := storetest.WrongRanges(t, openBy{URLs: u, ranges: true}, 5); wrong != "" {
		t.Error(wrong)
	}
	if storetest.WrongRanges(t, openBy{URLs: u, ranges: true, shrink: 1}, 5) == "" {
		t.Error("ranges without their last host went unnoticed")
	}
}

func TestWhichWayToReadOpenURLsIsCheaper(t *testing.T) {
	part := func(n int) []weburl.KeyRange { return []weburl.KeyRange{{First: 0, Last: math.MaxUint64 / uint64(n)}} }
	for _, c := range []struct {
		name        string
		pages, open float64
		in          []weburl.KeyRange
		want        bool
	}{
		{"a thousandth of a broad crawl", 4e6, 84e6, part(1000), true},
		{"a sixth of a broad crawl lies all over the table", 4e6, 84e6, part(6), false},
		{"a sixth of a crawl that is almost over", 4e6, 1e5, part(6), true},
		{"all of it", 4e6, 84e6, weburl.AllKeys(), false},
		{"there is no index", 4e6, -1, part(1000), false},
		{"a small table", 10, 100, part(1000), false},
	} {
		if got := postgres.Cheaper(c.pages, c.open, c.in); got != c.want {
			t.Errorf("%s: by ranges %v, want %v", c.name, got, c.want)
		}
	}
}

func TestRangesAreReadFromTheIndexOfOpenURLs(t *testing.T) {
	url := newDatabase(t)
	openAt(t, url)
	conn := connect(t, url)
	explain := func() string {
		tx, err := conn.BeginTx(context.Background(), pgx.TxOptions{})
		check(t, err)
		defer func() { check(t, tx.Rollback(context.Background())) }()
		_, err = tx.Exec(context.Background(), postgres.ReportSettings+";"+postgres.RangesSettings,
			pgx.QueryExecModeSimpleProtocol)
		check(t, err)
		rows, err := tx.Query(context.Background(), "EXPLAIN (COSTS OFF) "+postgres.OpenRangesSQL, []int64{1, 9},
			[]int64{5, 10})
		check(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		check(t, err)
		return strings.Join(lines, "\n")
	}
	if p := explain(); strings.Count(p, "Index Cond: ((host >= r.first) AND (host <= r.last))") != 16 ||
		strings.Contains(p, "Seq Scan on urls") {
		t.Errorf("the plan is\n%s", p)
	}
	execute(t, url, "DROP INDEX urls_open")
	if p := explain(); strings.Contains(p, "Bitmap Index Scan") && strings.Contains(p, "host_idx") {
		t.Errorf("control: without the index the plan is\n%s", p)
	}
}
