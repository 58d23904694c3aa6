package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// What holds of a ledger on one server holds of one on three beside the main server.
func TestOnServers(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"URLSet": TestURLSet, "Ledger": TestLedger, "LedgerVisits": TestLedgerVisits, "Redirects": TestRedirects,
		"Places": TestPlaces, "Following": TestFollowing, "Splits": TestSplits, "Unkept": TestUnkept,
		"JobStore": TestJobStore, "LeftOuts": TestLeftOuts, "EntryList": TestEntryList, "Revisits": TestRevisits,
		"Unremembered": TestUnremembered, "Looks": TestLooksFindWhatNoFrontierHolds, "Survey": TestASurveyMeetsEachURLOnce,
		"Open": TestOpenTasksComeBackWhole, "Entries": TestEntriesComeInTheOrderOfTheirKeys,
		"Followed": TestFollowedMissesWhatLinksFollow, "FollowedPages": TestFollowedPages,
		"LateWrites": TestLateWritesOfAFormerLifeAreRefused, "Twice": TestAMessageDeliveredTwiceAtOnceGetsNewOrRepeat,
		"Deadlocks": TestOverlappingBatchesNeverDeadlock,
	} {
		t.Run(name, test)
	}
	t.Run("deleted", deletedEverywhere)
	t.Run("members", membersEverywhere)
	t.Run("due", dueInOrder)
	t.Run("one is away", oneServerIsAway)
	t.Run("not these servers", notTheseServers)
}

// countAt counts the rows of a table on each server of the ledger.
func countAt(t *testing.T, url, table string) (n []int64) {
	t.Helper()
	for _, at := range config(url).Ledger {
		n = append(n, ask[int64](t, at, "SELECT count(*) FROM "+table))
	}
	return n
}

// Each server has about a third of the hosts, the main one nothing, and a job that is deleted is gone from all.
func deletedEverywhere(t *testing.T) {
	s, ctx, url := open(t), t.Context(), sharedDatabase(t)
	submit(t, s, job)
	u := manyURLs(t, 0, 900, 300)
	_, err := s.URLs().Claim(ctx, job, id("one"), storetest.Tasks(job, u...))
	check(t, err)
	for _, u := range u {
		check(t, s.URLs().Finish(ctx, job, crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200}))
	}
	check(t, s.Followed().Claimed(ctx, job, u[0], crawl.Share{Of: 1}))
	urls := countAt(t, url, "urls")
	if slices.Min(urls) < 200 || ask[int64](t, url, "SELECT count(*) FROM urls") != 0 {
		t.Errorf("the servers have %v URLs, and the main one some", urls)
	}
	_, err = s.Jobs().BeginDelete(ctx, job)
	check(t, err)
	erased, err := s.Jobs().Erase(ctx, job)
	check(t, err)
	if i := slices.IndexFunc(erased, func(e postgres.Erased) bool { return e.Table == "urls" }); i < 0 ||
		erased[i].Rows != 900 {
		t.Errorf("erased %v, want 900 URLs", erased)
	}
	for _, table := range []string{"urls", "tallies", "followed"} {
		if n := countAt(t, url, table); slices.Max(n) != 0 {
			t.Errorf("%v rows of %s are left", n, table)
		}
	}
}

// Pages that are due come in the order in which they are due, whatever server has them.
func dueInOrder(t *testing.T) {
	s, ctx := open(t), t.Context()
	var all []crawl.Revisit
	for i, u := range manyURLs(t, 0, 60, 60) {
		r := crawl.Revisit{URL: u}
		r.Visits, r.Due = 1, aTime.Add(time.Duration(i*7%60)*time.Hour)
		all = append(all, r)
	}
	check(t, s.Revisits().Put(ctx, job, all...))
	due, err := s.Revisits().Due(ctx, job, aTime.Add(1000*time.Hour), 20, nil)
	check(t, err)
	if len(due) != 20 {
		t.Fatalf("%d are due, want 20", len(due))
	}
	for i, r := range due {
		if want := aTime.Add(time.Duration(i) * time.Hour); r.Due.Sub(want).Abs() > 30*time.Minute {
			t.Errorf("page %d is due at %v, want %v", i, r.Due, want)
		}
	}
}

// One server of the ledger cannot be reached: what it has fails, and may be sent again; the others go on. What is asked
// of all fails, too: a part is no answer.
func oneServerIsAway(t *testing.T) {
	ctx, url := t.Context(), newDatabase(t)
	s := openAt(t, url)
	u := manyURLs(t, 0, 300, 300)
	_, err := s.URLs().Claim(ctx, job, id("one"), storetest.Tasks(job, u[:150]...))
	check(t, err)
	away := config(url).Ledger[1]
	name, _, _ := strings.Cut(away[strings.LastIndex(away, "/")+1:], "?")
	execute(t, url,
		fmt.Sprintf(`ALTER DATABASE %s ALLOW_CONNECTIONS false; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'`, name, name))
	soon, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := s.URLs().Claim(soon, job, id("two"), storetest.Tasks(job, u...)); err == nil || crawl.IsPermanent(err) {
		t.Errorf("a claim that one of three servers did not store: error %v, want one after which it is sent again", err)
	}
	if err := s.Ping(soon); err == nil {
		t.Error("a server is away, and the store says that all is well")
	}
	for what, count := range map[string]func() error{
		"tally":   func() error { _, err := s.URLs().Tally(soon, job); return err },
		"waiting": func() error { _, err := s.Following().Waiting(soon, job); return err },
		"open": func() error {
			return s.URLs().Open(soon, weburl.AllKeys(), func(weburl.URL) bool { return true },
				func(crawl.Task) error { return nil })
		},
	} {
		if count() == nil {
			t.Errorf("%s of two servers of three is no answer", what)
		}
	}
	if n := ask[int64](t, config(url).Ledger[0], "SELECT count(*) FROM urls"); n < 70 {
		t.Errorf("the first server has %d URLs: what it could store waits for another server", n)
	}
	execute(t, url, fmt.Sprintf(`ALTER DATABASE %s ALLOW_CONNECTIONS true`, name))
	answers, err := s.URLs().Claim(ctx, job, id("two"), storetest.Tasks(job, u...))
	check(t, err)
	for i, a := range answers {
		if known := a == crawl.Known; known != (i < 150) {
			t.Errorf("%s: answer %v", u[i], a)
		}
	}
	if tally, err := s.URLs().Tally(ctx, job); err != nil || tally.Claimed != 300 {
		t.Errorf("%d are claimed, %v; want 300", tally.Claimed, err)
	}
}

// A ledger is opened on the servers on which it was begun, in their order, or not at all.
func notTheseServers(t *testing.T) {
	ctx, url := t.Context(), newDatabase(t)
	good := config(url)
	s := openAt(t, url)
	_, err := s.URLs().Claim(ctx, job, id("one"), storetest.Tasks(job, manyURLs(t, 0, 10, 10)...))
	check(t, err)
	l := good.Ledger
	alone := makeDatabase(t)
	old := openAt(t, alone)
	_, err = old.URLs().Claim(ctx, job, id("one"), storetest.Tasks(job, manyURLs(t, 0, 10, 10)...))
	check(t, err)
	for what, c := range map[string]struct {
		url    string
		ledger []string
		says   string
	}{
		"none":             {url, nil, "was begun on 3 servers, and postgres.ledger names 0"},
		"two of three":     {url, l[:2], "was begun on 3 servers, and postgres.ledger names 2"},
		"one more":         {url, append(slices.Clone(l), makeDatabase(t)), "names 4"},
		"another order":    {url, []string{l[1], l[0], l[2]}, "the order must stay"},
		"another cluster":  {makeDatabase(t), l, "of another cluster"},
		"a former ledger":  {makeDatabase(t), []string{l[0], alone}, "another cluster"},
		"one that has one": {makeDatabase(t), []string{makeDatabase(t), alone}, "has a ledger of its own already"},
		"to be spread":     {alone, []string{makeDatabase(t), makeDatabase(t)}, "has a ledger of its own, and"},
	} {
		cfg := good
		cfg.URL, cfg.Ledger = c.url, c.ledger
		got, err := postgres.Open(ctx, cfg)
		if err == nil {
			got.Close()
		}
		if !errors.Is(err, postgres.ErrLedger) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", what, err, c.says)
		}
	}
	openAt(t, url)
	openAt(t, alone)

	// An empty database does not stand for one that has been lost, and stays empty.
	empty := emptyDatabase(t)
	cfg := good
	cfg.Ledger = []string{l[0], empty, l[2]}
	if got, err := postgres.Open(ctx, cfg); err == nil {
		got.Close()
		t.Error("an empty database is taken for the second server")
	} else if !errors.Is(err, postgres.ErrLedger) || !strings.Contains(err.Error(), "was not server 2") {
		t.Errorf("with an empty second server: %v", err)
	}
	if n := ask[int](t, empty, "SELECT count(*) FROM ledger_servers"); n != 0 {
		t.Errorf("it is the server of %d ledgers", n)
	}

	// Two nodes of a new cluster are told of different databases: one starts.
	cfg.URL, cfg.Ledger = emptyDatabase(t), []string{emptyDatabase(t), emptyDatabase(t)}
	first, err := postgres.Open(ctx, cfg)
	check(t, err)
	defer first.Close()
	cfg.Ledger = []string{cfg.Ledger[0], makeDatabase(t)}
	if second, err := postgres.Open(ctx, cfg); err == nil {
		second.Close()
		t.Error("two nodes have different ledgers")
	} else if !errors.Is(err, postgres.ErrLedger) {
		t.Errorf("another database at the second place: %v", err)
	}

	// A program that was started before the ledger was spread, and before there was a job, does not write to the main
	// server.
	early := makeDatabase(t)
	cfg = config(early)
	before, err := postgres.Open(ctx, cfg)
	check(t, err)
	defer before.Close()
	cfg.Ledger = []string{makeDatabase(t), makeDatabase(t)}
	after, err := postgres.Open(ctx, cfg)
	check(t, err)
	defer after.Close()
	tasks := storetest.Tasks(job, manyURLs(t, 0, 10, 10)...)
	if _, err := before.URLs().Claim(ctx, job, id("one"), tasks); !errors.Is(err, postgres.ErrLedger) {
		t.Errorf("a claim of a program that was started before: error %v", err)
	}
	_, err = after.URLs().Claim(ctx, job, id("one"), tasks)
	check(t, err)
	if n := ask[int64](t, early, "SELECT count(*) FROM urls"); n != 0 {
		t.Errorf("the main server has %d URLs", n)
	}
}

// A registration counts on all servers once Enter has returned, and on none once Raise has.
func membersEverywhere(t *testing.T) {
	open(t)
	ctx, url := t.Context(), sharedDatabase(t)
	var k atomic.Pointer[ring.Token]
	s := writer(t, url, &k)
	u := manyURLs(t, 0, 30, 30)
	refusals := func() (refused int) {
		t.Helper()
		for i, at := range u {
			_, err := s.URLs().Claim(ctx, job, id(fmt.Sprint(i)), storetest.Tasks(job, at))
			if errors.Is(err, ring.ErrFenced) {
				refused++
			} else {
				check(t, err)
			}
		}
		return refused
	}
	table := aRing(t, 5, 6)
	token := tokenOf(t, table, "a")
	k.Store(&token)
	if n := refusals(); n != 30 {
		t.Errorf("before it enters %d of 30 writes are refused", n)
	}
	check(t, s.Members().Enter(ctx, token))
	if n := refusals(); n != 0 {
		t.Errorf("of a member %d of 30 writes are refused", n)
	}
	check(t, s.Members().Raise(ctx, dead(t, table, "a", 5)))
	if n := refusals(); n != 30 {
		t.Errorf("of a dead node %d of 30 writes are refused", n)
	}
	if n := countAt(t, url, "urls"); slices.Min(n) == 0 {
		t.Errorf("the servers have %v URLs: the test proves little", n)
	}
}
