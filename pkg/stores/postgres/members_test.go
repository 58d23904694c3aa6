package postgres_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

// aRing is a ring of nodes a, b, …, whose incarnations are those given.
func aRing(t testing.TB, incarnations ...uint64) *ring.Table {
	t.Helper()
	table, err := ring.Create(16, ring.ByHost, 1)
	check(t, err)
	for i, inc := range incarnations {
		table = join(t, table, string(rune('a'+i)), inc)
	}
	return table
}

func join(t testing.TB, table *ring.Table, name string, incarnation uint64) *ring.Table {
	t.Helper()
	next, err := table.Join(ring.Node{Name: name, Address: name + ":5672", Weight: ring.Unit, Incarnation: incarnation})
	check(t, err)
	return next
}

func dead(t testing.TB, table *ring.Table, name string, incarnation uint64) *ring.Table {
	t.Helper()
	next, err := table.Dead(name, incarnation)
	check(t, err)
	return next
}

func tokenOf(t testing.TB, table *ring.Table, name string) ring.Token {
	t.Helper()
	k, ok := table.Token(name)
	if !ok {
		t.Fatalf("node %s is no member", name)
	}
	return k
}

// writer returns a store that writes under what *k is.
func writer(t testing.TB, url string, k *atomic.Pointer[ring.Token]) *postgres.Store {
	t.Helper()
	cfg := config(url)
	cfg.Token = func() (ring.Token, error) {
		if now := k.Load(); now != nil {
			return *now, nil
		}
		return ring.Token{}, errors.New("no table of the ring is known yet")
	}
	s, err := postgres.Open(context.Background(), cfg)
	check(t, err)
	t.Cleanup(s.Close)
	return s
}

// writes are the calls that are guarded.
func writes(t testing.TB, s *postgres.Store) map[string]func() error {
	ctx, u := context.Background(), mustParse(t, "http://a.test/written")
	return map[string]func() error{
		"claim": func() error {
			_, err := s.URLs().Claim(ctx, job, id("x"), storetest.Tasks(job, u))
			return err
		},
		"exclude": func() error {
			_, err := s.URLs().Exclude(ctx, job, id("x"), []crawl.Exclusion{{URL: u, Reason: crawl.ReasonScope}})
			return err
		},
		"finish": func() error {
			return s.URLs().Finish(ctx, job, crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200})
		},
		"reopen": func() error { return s.URLs().Reopen(ctx, job, u.Key()) },
		"hosts":  func() error { return s.Hosts().PutHosts(ctx, crawl.Host{Key: "a.test", Requests: 1}) },
	}
}

// wantRefused checks that nothing is written, and that the messages wait.
func wantRefused(t *testing.T, s *postgres.Store, why string) {
	t.Helper()
	for name, write := range writes(t, s) {
		err := write()
		var wait *bus.RetryError
		if !errors.Is(err, ring.ErrFenced) || !errors.As(err, &wait) || wait.After <= 0 || !wait.Expected ||
			crawl.IsPermanent(err) || !strings.Contains(fmt.Sprint(err), why) {
			t.Errorf("%s: error %v; want a *bus.RetryError of ring.ErrFenced that says %q", name, err, why)
		}
		if retry, _ := bus.Disposition(err, 1000); !retry {
			t.Errorf("%s: the message is buried: %v", name, err)
		}
	}
}

func wantWritten(t *testing.T, s *postgres.Store) {
	t.Helper()
	for name, write := range writes(t, s) {
		if err := write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWritesCountForMembersUnderANewTableOnly(t *testing.T) {
	plain, ctx := open(t), context.Background()
	url := sharedDatabase(t)
	var k atomic.Pointer[ring.Token]
	s := writer(t, url, &k)
	m := s.Members()
	nothing := func(why string) {
		t.Helper()
		wantRefused(t, s, why)
		if n := ask[int64](t, url, "SELECT (SELECT count(*) FROM urls) + (SELECT count(*) FROM hosts) + (SELECT count(*) "+
			"FROM tallies)"); n != 0 {
			t.Errorf("%d rows were written by refused statements", n)
		}
	}
	set := func(table *ring.Table, node string) {
		token := tokenOf(t, table, node)
		k.Store(&token)
	}
	nothing("no table of the ring")
	table := aRing(t, 5, 6)
	set(table, "a")
	nothing("has not entered")
	check(t, m.Enter(ctx, tokenOf(t, table, "a")))
	check(t, m.Enter(ctx, tokenOf(t, table, "a")))
	check(t, m.Enter(ctx, tokenOf(t, table, "b")))
	wantWritten(t, s)
	execute(t, url, "DELETE FROM urls; DELETE FROM hosts; DELETE FROM tallies")

	next := join(t, table, "c", 7)
	check(t, m.Raise(ctx, next))
	nothing("acted under epoch")
	set(next, "a")
	wantWritten(t, s)
	check(t, m.Raise(ctx, table)) // an older view raises nothing, and lowers nothing
	wantWritten(t, s)

	// b knows the table, and is dead in the one after it.
	set(next, "b")
	wantWritten(t, s)
	without := dead(t, next, "b", 6)
	check(t, m.Raise(ctx, without))
	set(next, "b")
	wantRefused(t, s, "is over")
	if err := m.Enter(ctx, tokenOf(t, next, "b")); !errors.Is(err, ring.ErrFenced) {
		t.Errorf("a fenced registration entered again: %v", err)
	}
	set(without, "a")
	wantWritten(t, s)

	// It comes back with another registration, and the old one stays out.
	again := join(t, without, "b", 9)
	check(t, m.Enter(ctx, tokenOf(t, again, "b")))
	set(again, "b")
	wantWritten(t, s)
	set(next, "b")
	wantRefused(t, s, "is over")
	if err := m.Enter(ctx, tokenOf(t, next, "b")); !errors.Is(err, ring.ErrFenced) {
		t.Errorf("a registration entered that a later one had replaced: %v", err)
	}
	wantWritten(t, plain) // without a ring nothing is refused
}

// A node that comes late with an old table begins at the floor, and is not fenced by a table that does not know it yet.
func TestALateEntryStartsAtTheLatestRaise(t *testing.T) {
	open(t)
	var k atomic.Pointer[ring.Token]
	s, ctx := writer(t, sharedDatabase(t), &k), context.Background()
	old := aRing(t, 5, 6)
	now := join(t, old, "c", 7)
	check(t, s.Members().Enter(ctx, tokenOf(t, now, "a")))
	check(t, s.Members().Raise(ctx, now))
	late := tokenOf(t, old, "b")
	check(t, s.Members().Enter(ctx, late))
	k.Store(&late)
	wantRefused(t, s, "acted under epoch")

	newer := join(t, now, "d", 8)
	check(t, s.Members().Enter(ctx, tokenOf(t, newer, "d")))
	check(t, s.Members().Raise(ctx, now))
	d := tokenOf(t, newer, "d")
	k.Store(&d)
	wantWritten(t, s)
	check(t, s.Members().Raise(ctx, newer))
	wantWritten(t, s)
	gone := dead(t, newer, "d", 8)
	check(t, s.Members().Raise(ctx, gone))
	wantRefused(t, s, "is over")
	check(t, s.Members().Reset(ctx))
	first := tokenOf(t, old, "b")
	check(t, s.Members().Enter(ctx, first))
	k.Store(&first)
	wantWritten(t, s)
}

// What was admitted before the floor rose is there when Raise returns; nothing of the old epoch comes after.
func TestRaiseUnderLoad(t *testing.T) {
	url := newDatabase(t)
	var table *ring.Table
	for round := range 3 {
		var late int64
		table, late = raiseUnderLoad(t, url, table, round)
		if late != 0 {
			t.Errorf("round %d: %d URLs were claimed under the old table after Raise had returned", round, late)
		}
	}
}

func TestRaiseWaitsForWhatWasAdmitted(t *testing.T) {
	url := newDatabase(t)
	table := aRing(t, 5, 6)
	if raiseBesideAWrite(t, url, table, "c") {
		t.Error("Raise returned while a claim that was admitted under the old table was being written")
	}
	t.Run("control: without its lock a write comes late", func(t *testing.T) {
		execute(t, url,
			`DO $$ BEGIN EXECUTE regexp_replace(pg_get_functiondef('admit'::regproc), 'PERFORM pg_advisory_xact_lock_shared[^;]*;', ''); END $$`)
		if !raiseBesideAWrite(t, url, join(t, table, "c", 7), "d") {
			t.Error("the late write was not noticed")
		}
	})
}

// raiseBesideAWrite holds a claim of node a up behind its admission, raises the floor, and reports whether the claim
// was written later.
func raiseBesideAWrite(t *testing.T, url string, table *ring.Table, who string) (late bool) {
	t.Helper()
	ctx, k := context.Background(), tokenOf(t, table, "a")
	var current atomic.Pointer[ring.Token]
	current.Store(&k)
	s := writer(t, url, &current)
	check(t, s.Members().Enter(ctx, k))
	u := mustParse(t, "http://"+who+".test/held-up")
	// the job has its number
	_, err := s.URLs().Claim(ctx, job, id("first"), storetest.Tasks(job, mustParse(t, "http://"+who+".test/")))
	check(t, err)
	// Somebody has the row, and does not say whether it will stay.
	holder := connect(t, url)
	tx, err := holder.Begin(ctx)
	check(t, err)
	key := u.Key()
	_,
		err = tx.Exec(ctx,
		`INSERT INTO urls (job, host, hash, state, changed) SELECT number, $2, $3, 3, now() FROM jobs WHERE id = $1`,
		string(job), int64(binary.BigEndian.Uint64(key[:8])^1<<63), pgtype.UUID{Bytes: [16]byte(key[8:]), Valid: true})
	check(t, err)
	claimed, raised := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := s.URLs().Claim(ctx, job, id("second"), storetest.Tasks(job, u))
		claimed <- err
	}()
	until := time.Now().Add(10 * time.Minute)
	waiting := func(n int64) bool {
		if time.Now().After(until) {
			t.Fatalf("%d statements should wait, and do not", n)
		}
		return ask[int64](t, url,
			`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == n
	}
	for !waiting(1) {
		runtime.Gosched()
	}
	next := join(t, table, who, 9)
	go func() { raised <- s.Members().Raise(ctx, next) }()
	for !late && !waiting(2) {
		select {
		case err := <-raised:
			check(t, err)
			late = true
		default:
		}
	}
	check(t, tx.Rollback(ctx))
	check(t, <-claimed)
	if !late {
		check(t, <-raised)
	}
	wantRefused(t, s, "acted under epoch")
	return late
}

// raiseUnderLoad lets 8 writers of a node claim until they are refused, raises the floor meanwhile, and returns how
// many URLs came after that.
func raiseUnderLoad(t *testing.T, url string, table *ring.Table, round int) (*ring.Table, int64) {
	t.Helper()
	ctx := context.Background()
	if table == nil {
		table = aRing(t, 5, 6)
	}
	k := tokenOf(t, table, "a")
	var current atomic.Pointer[ring.Token]
	current.Store(&k)
	s := writer(t, url, &current)
	check(t, s.Members().Enter(ctx, k))
	var wg sync.WaitGroup
	var claimed atomic.Int64
	started := make(chan struct{}, 100)
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				u := manyURLs(t, (round*8+w)*1_000_000+i*300, 300, 50)
				select {
				case started <- struct{}{}:
				default: // enough have
				}
				_, err := s.URLs().Claim(ctx, job, id(fmt.Sprint(round, w, i)), storetest.Tasks(job, u...))
				switch {
				case errors.Is(err, ring.ErrFenced):
					return
				case err != nil:
					t.Error(err)
					return
				}
				claimed.Add(int64(len(u)))
			}
		})
	}
	for range 40 {
		<-started
	}
	before := claimed.Load()
	next := join(t, table, fmt.Sprint("n", round), 9)
	check(t, s.Members().Raise(ctx, next))
	const sql = `SELECT count(*) FROM urls`
	there := ask[int64](t, url, sql)
	wg.Wait()
	if before == 0 || claimed.Load() == 0 {
		t.Fatalf("%d URLs were claimed before and %d in all: nothing was raced", before, claimed.Load())
	}
	return next, ask[int64](t, url, sql) - there
}

// Raise waits only for writers of the node whose row it changes, and a second call has nothing to do.
func TestRaiseAgainIsCheap(t *testing.T) {
	s, ctx := open(t), context.Background()
	table := aRing(t, 5, 6, 7, 8)
	for _, n := range table.Nodes() {
		check(t, s.Members().Enter(ctx, tokenOf(t, table, n.Name)))
	}
	var wg sync.WaitGroup
	for range 8 { // as the nodes do when one has died
		wg.Go(func() {
			if err := s.Members().Raise(ctx, dead(t, table, "d", 8)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	const sql = `SELECT string_agg(node || ' ' || xmin, ',' ORDER BY node) FROM members`
	was := ask[string](t, sharedDatabase(t), sql)
	start := time.Now()
	check(t, s.Members().Raise(ctx, dead(t, table, "d", 8)))
	if now := ask[string](t, sharedDatabase(t), sql); now != was {
		t.Errorf("the rows were written again: %s, before %s", now, was)
	}
	t.Logf("Raise with nothing to do took %v", time.Since(start))
}
