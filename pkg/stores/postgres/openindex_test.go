package postgres_test

import (
	"context"
	"database/sql"
	"maps"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// olderSQL makes the schema that of the version before, but for ledger_servers, which the stores of these tests read.
const olderSQL = `DROP TABLE agents, program_settings, held_hosts, guest_turns, ledger_move, ledger_moved; DROP INDEX urls_open; DELETE FROM goose_db_version WHERE version_id >= 24`

const (
	validIndexes = `SELECT count(*) FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid WHERE h.inhparent = to_regclass('urls_open') AND i.indisvalid`
	halfBuilt    = `SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname ~ '^urls_[0-9]+_open$' AND NOT i.indisvalid`
	wholeIndex   = `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('urls_open')`
	builderSQL   = `SELECT count(*) FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting%'`
	killSQL      = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_progress_create_index`
)

// content is what a store knows of a job.
type content struct {
	open    map[weburl.URL]int
	tally   crawl.Tally
	entries []crawl.Entry
	follows int64
}

func contentOf(t *testing.T, s *postgres.Store, urls []weburl.URL) (c content) {
	t.Helper()
	ctx := context.Background()
	c.open = map[weburl.URL]int{}
	for _, half := range [][]weburl.KeyRange{{{First: 0, Last: 1<<63 - 1}}, {{First: 1 << 63, Last: 1<<64 - 1}}} {
		check(t, s.URLs().Open(ctx, half, func(weburl.URL) bool { return true },
			func(task crawl.Task) error { c.open[task.URL]++; return nil }))
	}
	keys := make([]weburl.Key, len(urls))
	for i, u := range urls {
		keys[i] = u.Key()
	}
	var err error
	c.entries, err = s.URLs().Lookup(ctx, "job", keys...)
	check(t, err)
	c.tally, err = s.URLs().Tally(ctx, "job")
	check(t, err)
	c.follows, err = s.Following().Waiting(ctx, "job")
	check(t, err)
	return c
}

func (c content) want(t *testing.T, got content, when string) {
	t.Helper()
	same := maps.Equal(c.open, got.open) && c.tally.Claimed == got.tally.Claimed &&
		maps.Equal(c.tally.Verdicts, got.tally.Verdicts) && c.follows == got.follows
	for i := range c.entries {
		same = same && c.entries[i].State == got.entries[i].State && c.entries[i].Status == got.entries[i].Status &&
			c.entries[i].At.Equal(got.entries[i].At)
	}
	if !same || len(c.open) == 0 {
		t.Errorf("%s: %d open URLs, tally %+v, %d followed; want %d, %+v, %d, and the same outcomes", when, len(got.open),
			got.tally, got.follows,
			len(c.open), c.tally, c.follows)
	}
}

// A ledger of the version before gets its index while programs write. The program that builds it is killed in the
// middle, and the next goes on.
func TestALedgerOfTheVersionBeforeGetsItsIndexAndOutlivesKills(t *testing.T) {
	ctx, url := context.Background(), newDatabase(t)
	s, urls := openAt(t, url), manyURLs(t, 0, 400, 50)
	fillBefore(t, s, urls)
	execute(t, url, olderSQL)
	before := contentOf(t, s, urls)

	// A transaction that began before keeps the server from ending the first partition.
	blocker := connect(t, url)
	tx, err := blocker.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	check(t, err)
	_, err = tx.Exec(ctx, `SELECT count(*) FROM urls`)
	check(t, err)
	ended := make(chan error, 1)
	go func() { ended <- postgres.BuildOpenIndex(ctx, database(t, url), 0) }()
	for ask[int](t, url, builderSQL) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	_, err = s.URLs().Claim(ctx, "job", id("while it is built"), storetest.Tasks("job", mustParse(t, "http://new.test/")))
	check(t, err) // nobody waits for the index
	soon, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	other := mustParse(t, "http://another.test/")
	if _, err = s.URLs().Claim(soon, "another", id("the first of a job"), storetest.Tasks("another", other)); err != nil {
		t.Errorf("a job cannot begin while the index is built: %v", err)
	} else {
		before.open[other]++
	}
	execute(t, url, killSQL)
	if err := <-ended; err == nil {
		t.Fatal("it was killed, and says that it ended")
	}
	check(t, tx.Rollback(ctx))
	if n := ask[int](t, url, halfBuilt); n != 1 {
		t.Fatalf("%d indexes are half built, want the one that was killed: the test proves nothing", n)
	}
	before.open[mustParse(t, "http://new.test/")]++
	before.tally.Claimed++
	before.want(t, contentOf(t, s, urls), "half built")

	check(t, postgres.BuildOpenIndex(ctx, database(t, url), 0))
	check(t, postgres.BuildOpenIndex(ctx, database(t, url), 0)) // again, as if its end had not been noted
	if n := ask[int](t, url, validIndexes); n != 16 || !ask[bool](t, url, wholeIndex) || ask[int](t, url, halfBuilt) != 0 {
		t.Errorf("%d partitions have their index, want 16 of a valid one", n)
	}
	before.want(t, contentOf(t, s, urls), "converted")
	before.want(t, contentOf(t, openAt(t, url), urls), "opened again")
}

func fillBefore(t *testing.T, s *postgres.Store, urls []weburl.URL) {
	t.Helper()
	ctx := context.Background()
	tasks := storetest.Tasks("job", urls...)
	_, err := s.URLs().Claim(ctx, "job", id("before"), tasks)
	check(t, err)
	for i := 0; i < len(urls); i += 3 {
		check(t, s.URLs().Finish(ctx, "job", crawl.Entry{Key: urls[i].Key(), Verdict: crawl.VerdictDone, Status: 200 + i%2}))
	}
	check(t, s.Following().Expect(ctx, tasks[:10]...))
}

// Programs that start at once convert once: those that wait must not be what the server waits for.
func TestProgramsThatStartAtOnceConvertOnce(t *testing.T) {
	url := newDatabase(t)
	openAt(t, url)
	execute(t, url, olderSQL)
	const programs = 4
	ended := make(chan error, programs)
	for range programs {
		go func() { ended <- postgres.BuildOpenIndex(context.Background(), database(t, url), -1) }()
	}
	for range programs {
		check(t, <-ended)
	}
	if !ask[bool](t, url, wholeIndex) {
		t.Error("the index is not valid")
	}
}

func database(t *testing.T, url string) *sql.DB {
	cc, err := pgx.ParseConfig(url)
	if err != nil {
		t.Error(err)
		return nil
	}
	db := stdlib.OpenDB(*cc)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
