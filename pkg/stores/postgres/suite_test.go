package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/databasetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// databases are those that this test binary made; they are dropped at its end.
var databases struct {
	sync.Mutex
	server string
	names  []string
	shared map[bool]string     // URLs of those that most tests use: on one server, and on several
	ledger map[string][]string // URLs of the servers of the ledger, by that of the main server
}

func TestMain(m *testing.M) {
	databases.shared, databases.ledger = map[bool]string{}, map[string][]string{}
	code := m.Run()
	if err := dropDatabases(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func dropDatabases() error {
	if len(databases.names) == 0 {
		return nil
	}
	return databasetest.Drop(context.Background(), databases.server, databases.names...)
}

// onServers is the test in which the others run again with a ledger on several servers.
const onServers = "TestOnServers"

func spread(t testing.TB) bool { return strings.HasPrefix(t.Name(), onServers) }

// newDatabase makes a database that has the schema and nothing else, or several, and returns its URL, or that of the
// main one.
func newDatabase(t testing.TB) string {
	t.Helper()
	url := makeDatabase(t)
	if spread(t) {
		list := []string{makeDatabase(t), makeDatabase(t), makeDatabase(t)}
		databases.Lock()
		defer databases.Unlock()
		databases.ledger[url] = list
	}
	return url
}

// makeDatabase makes a database with the schema, and returns its URL.
func makeDatabase(t testing.TB) string {
	t.Helper()
	return databaseBy(t, databasetest.Make)
}

// emptyDatabase makes a database without the schema, and returns its URL.
func emptyDatabase(t testing.TB) string {
	t.Helper()
	return databaseBy(t, databasetest.MakeEmpty)
}

func databaseBy(t testing.TB, how func(ctx context.Context, server, name string) (string, error)) string {
	t.Helper()
	server := servicetest.Postgres(t)
	databases.Lock()
	defer databases.Unlock()
	name := fmt.Sprintf("whirlpool_test_%d_%d", os.Getpid(), len(databases.names))
	databases.server, databases.names = server, append(databases.names, name)
	url, err := how(context.Background(), server, name)
	check(t, err)
	return url
}

// sharedDatabase returns the URL of a database that is emptied, not made, for each test.
func sharedDatabase(t testing.TB) string {
	t.Helper()
	if databases.shared[spread(t)] == "" {
		databases.shared[spread(t)] = newDatabase(t)
	}
	return databases.shared[spread(t)]
}

func config(url string) postgres.Config {
	cfg := postgres.Default()
	databases.Lock()
	defer databases.Unlock()
	cfg.URL, cfg.Ledger, cfg.Log = url, databases.ledger[url], slog.New(slog.DiscardHandler)
	return cfg
}

func openAt(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), config(url))
	check(t, err)
	t.Cleanup(s.Close)
	return s
}

const emptySQL = `DELETE FROM urls; DELETE FROM tallies; DELETE FROM budgets; DELETE FROM fingerprints; DELETE FROM hosts; DELETE FROM robots;
	DELETE FROM attempts; DELETE FROM members WHERE node <> ''; UPDATE members SET floor = 0;
	DELETE FROM following; DELETE FROM unkept; DELETE FROM followed; DELETE FROM followed_since;
	DELETE FROM redirects; DELETE FROM places; DELETE FROM spent;
	DELETE FROM resources; DELETE FROM resource_bodies; DELETE FROM resource_octets; DELETE FROM renders; DELETE FROM trials; DELETE FROM revisits; DELETE FROM habits;
	UPDATE jobs SET id = 'deleted-' || gen_random_uuid() WHERE deleted IS NOT NULL;
	UPDATE jobs SET spec = NULL, state = 'running', ended = NULL, epoch = 1, sweep = NULL; DELETE FROM job_revisions`

// open returns an empty store.
func open(t testing.TB) *postgres.Store {
	t.Helper()
	url := sharedDatabase(t)
	s := openAt(t, url)
	for _, at := range append([]string{url}, config(url).Ledger...) {
		execute(t, at, emptySQL)
	}
	return s
}

// execute runs SQL beside the store.
func execute(t testing.TB, url, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	check(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	check(t, err)
}

// ask reads one value beside the store.
func ask[T any](t testing.TB, url, sql string, args ...any) (v T) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	check(t, err)
	defer conn.Close(ctx)
	check(t, conn.QueryRow(ctx, sql, args...).Scan(&v))
	return v
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustParse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	check(t, err)
	return u
}

func manyURLs(t testing.TB, from, n, hosts int) []weburl.URL {
	t.Helper()
	out := make([]weburl.URL, n)
	for i := range out {
		out[i] = mustParse(t, fmt.Sprintf("http://host%d.test/page/%d", (from+i)%hosts, from+i))
	}
	return out
}

func id(name string) crawl.MessageID { return crawl.MessageID{}.Child(name, 0) }

func TestURLSet(t *testing.T) {
	storetest.URLSet(t, func(t *testing.T) crawl.URLSet { return open(t).URLs() })
}

func TestLedger(t *testing.T) {
	storetest.Ledger(t, func(t *testing.T) storetest.LedgerSet { return open(t).URLs() })
}

func TestHosts(t *testing.T) {
	storetest.Hosts(t, func(t *testing.T) crawl.Hosts { return open(t).Hosts() })
}

func TestRobots(t *testing.T) {
	storetest.Robots(t, func(t *testing.T) crawl.RobotsStore { return open(t).Hosts() })
}

func TestRedirects(t *testing.T) {
	storetest.Redirects(t, func(t *testing.T) (crawl.Redirects, func() crawl.Redirects) {
		return open(t).Redirects(), func() crawl.Redirects { return openAt(t, sharedDatabase(t)).Redirects() }
	})
}

func TestPlaces(t *testing.T) {
	storetest.Places(t, func(t *testing.T) (crawl.Places, func() crawl.Places) {
		return open(t).Places(), func() crawl.Places { return openAt(t, sharedDatabase(t)).Places() }
	})
}

func TestSpending(t *testing.T) {
	storetest.Spending(t, func(t *testing.T) (crawl.Spending, func() crawl.Spending) {
		return open(t).Spending(), func() crawl.Spending { return openAt(t, sharedDatabase(t)).Spending() }
	})
}

func TestBudgets(t *testing.T) {
	storetest.Budgets(t, func(t *testing.T) crawl.Budgets { return open(t).Budgets() })
}

func TestContentSet(t *testing.T) {
	storetest.ContentSet(t, func(t *testing.T) crawl.ContentSet { return open(t).ContentSet() })
}

func TestFollowing(t *testing.T) {
	storetest.Following(t, func(t *testing.T) crawl.Following { return open(t).Following() })
}

func TestSplits(t *testing.T) {
	storetest.Splits(t, func(t *testing.T) storetest.SplitsFollowing { return open(t).Following() })
}

func TestUnkept(t *testing.T) {
	storetest.Unkept(t, func(t *testing.T) (storetest.UnkeptLedger, func() storetest.UnkeptLedger) {
		of := func(s *postgres.Store) storetest.UnkeptLedger {
			return storetest.UnkeptLedger{Unkept: s.Unkept(), Ledger: s.URLs()}
		}
		return of(open(t)), func() storetest.UnkeptLedger { return of(openAt(t, sharedDatabase(t))) }
	})
}

func TestJobStore(t *testing.T) {
	storetest.JobStore(t, func(t *testing.T) (crawl.JobStore, func() crawl.JobStore) {
		s := open(t)
		return s.Jobs(), func() crawl.JobStore { return openAt(t, sharedDatabase(t)).Jobs() }
	})
}

func TestLeftOuts(t *testing.T) {
	storetest.LeftOuts(t, func(t *testing.T) storetest.LeftOutSet { return open(t).URLs() })
}

func TestEntryList(t *testing.T) {
	storetest.EntryList(t, func(t *testing.T) storetest.EntrySet { return open(t).URLs() })
}

func TestLogList(t *testing.T) {
	storetest.LogList(t, func(t *testing.T) storetest.LogSet { return open(t).AttemptLog() })
}

func TestJars(t *testing.T) {
	storetest.Jars(t, func(t *testing.T) (crawl.Jars, func() crawl.Jars) {
		return open(t).Jars(), func() crawl.Jars { return openAt(t, sharedDatabase(t)).Jars() }
	})
}

func TestResources(t *testing.T) {
	storetest.Resources(t, func(t *testing.T, bound int64) (crawl.Resources, func() crawl.Resources) {
		url := sharedDatabase(t)
		open(t) // empties it
		t.Cleanup(func() { checkResources(t, url) })
		s := openBounded(t, url, bound)
		return s.Resources(), func() crawl.Resources { return openBounded(t, url, bound).Resources() }
	})
}

func TestTrials(t *testing.T) {
	storetest.Trials(t, func(t *testing.T) (crawl.HostTrials, func() crawl.HostTrials) {
		return open(t).Trials(), func() crawl.HostTrials { return openAt(t, sharedDatabase(t)).Trials() }
	})
}

func TestRenderStats(t *testing.T) {
	storetest.RenderStats(t, func(t *testing.T) (crawl.RenderStats, func() crawl.RenderStats) {
		return open(t).RenderStats(), func() crawl.RenderStats { return openAt(t, sharedDatabase(t)).RenderStats() }
	})
}
