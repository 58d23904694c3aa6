package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

// smallBatch is how many rows the moves of these tests copy at once.
const smallBatch = 40

func quiet(string) {}

func always(string) error { return nil }

// ledgerState is all that a ledger has and says.
type ledgerState struct {
	rows  []string
	reads map[string]string
}

func stateOf(t *testing.T, c spreadOver) ledgerState {
	t.Helper()
	rows, wrong := rowsOf(t, c)
	if len(wrong) > 0 {
		t.Fatalf("%d rows are in the wrong place, such as %s", len(wrong), wrong[0])
	}
	return ledgerState{rows, readsOf(t, c)}
}

// differs says what is not as it was; empty: nothing.
func (was ledgerState) differs(now ledgerState) string {
	if !slices.Equal(was.rows, now.rows) {
		for _, r := range was.rows {
			if !slices.Contains(now.rows, r) {
				return "a row is lost: " + r
			}
		}
		return fmt.Sprintf("there were %d rows, and are %d", len(was.rows), len(now.rows))
	}
	for what, text := range was.reads {
		if now.reads[what] != text {
			return fmt.Sprintf("%s: was %s, is %s", what, text, now.reads[what])
		}
	}
	return ""
}

// mustBeRefused fails unless a program with a list does not start, with a message.
func (c spreadOver) mustBeRefused(t *testing.T, says string) {
	t.Helper()
	s, err := postgres.Open(t.Context(), c.config())
	if err == nil {
		s.Close()
	}
	if !errors.Is(err, postgres.ErrLedger) || !strings.Contains(err.Error(), says) {
		t.Fatalf("a program with %d servers: %v, want an error that says %q", len(c.ledger), err, says)
	}
}

// mustBeAlone fails where databases that are in a former list and not in a new one know anything of it.
func mustBeAlone(t *testing.T, was, now spreadOver) {
	t.Helper()
	for _, server := range was.servers() {
		if slices.Contains(now.servers(), server) {
			continue
		}
		var tables []string
		for table := range postgres.Placings() {
			if server == now.main && (ledgerSQL[table] == "" && table != "tallies" && table != "followed_since") ||
				table == "members" || table == "jobs" {
				continue
			}
			tables = append(tables, table)
		}
		mustBeEmpty(t, server, tables)
	}
}

func mustBeEmpty(t *testing.T, server string, tables []string) {
	t.Helper()
	var counts []string
	for _, table := range tables {
		counts = append(counts, fmt.Sprintf("SELECT '%s: ' || count(*) AS t FROM %s HAVING count(*) > 0", table, table))
	}
	const all = "SELECT coalesce(string_agg(t, ', '), '') FROM (%s) AS a"
	if left := ask[string](t, server, fmt.Sprintf(all, strings.Join(counts, " UNION ALL "))); left != "" {
		t.Errorf("rows are left at a server that has no part of the ledger: %s", left)
	}
}

// listOf is what databases say of the servers of a ledger, as programs read it.
func listOf(t *testing.T, c spreadOver) (out []string) {
	t.Helper()
	const own = `SELECT coalesce(string_agg(place || ' of ' || servers, ', ' ORDER BY place), 'none') FROM ledger_servers`
	const known = `SELECT coalesce(string_agg(place::text, ', ' ORDER BY place), 'none') FROM ledger_list`
	out = append(out, ask[string](t, c.main, known))
	for _, server := range append([]string{c.main}, c.ledger...) {
		out = append(out, ask[string](t, server, own), fmt.Sprint(ask[int](t, server, `SELECT count(*) FROM ledger_move`)))
	}
	return out
}

// begun is what the databases of a list say that began with it, by the length of the list and the main server's place.
var begun = map[string][]string{}

func mustBeAsIfBegun(t *testing.T, c spreadOver) {
	t.Helper()
	shape := fmt.Sprint(len(c.ledger), slices.Index(c.ledger, c.main))
	if begun[shape] == nil {
		fresh := spreadOver{main: makeDatabase(t)}
		for _, server := range c.ledger {
			if server == c.main {
				fresh.ledger = append(fresh.ledger, fresh.main)
			} else {
				fresh.ledger = append(fresh.ledger, makeDatabase(t))
			}
		}
		fresh.open(t).Close()
		begun[shape] = listOf(t, fresh)
	}
	if got, want := listOf(t, c), begun[shape]; !slices.Equal(got, want) {
		t.Errorf("the servers say %q; of a cluster that began so %q", got, want)
	}
}

// moves are the lists of a ledger, one after the other: on new servers, on fewer, with the main server among them, in
// another order, and on the main server alone.
func moves(t *testing.T) (all []spreadOver) {
	main, a, b, c, d := makeDatabase(t), makeDatabase(t), makeDatabase(t), emptyDatabase(t), emptyDatabase(t)
	for _, list := range [][]string{nil, {a, b, c}, {b, d}, {main, d, b}, nil} {
		all = append(all, spreadOver{main, list})
	}
	return all
}

// All that was in a ledger is in it after each move, at its place, and every call says the same.
func TestALedgerIsMoved(t *testing.T) {
	lists := moves(t)
	fillLedger(t, lists[0])
	was := stateOf(t, lists[0])
	for i, to := range lists[1:] {
		from := lists[i]
		check(t, postgres.MoveLedgerBy(t.Context(), from.config(), to.ledger, smallBatch, quiet, always))
		if why := was.differs(stateOf(t, to)); why != "" {
			t.Fatalf("move %d: %s", i+1, why)
		}
		from.mustBeRefused(t, "")
		mustBeAsIfBegun(t, to)
		mustBeAlone(t, from, to)
	}
	s := lists[len(lists)-1].open(t)
	defer s.Close()
	_, err := s.URLs().Claim(t.Context(), "one", id("later"), storetest.Tasks("one", manyURLs(t, 9000, 10, 10)...))
	check(t, err)
}

var errKilled = errors.New("killed")

// endings ends a move after its statements: once after each kind, and some more times anywhere.
type endings struct {
	mu      sync.Mutex
	ended   map[string]int
	running bool // it was not ended yet
}

func (e *endings) after(what string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running && e.ended[what] > 0 && rand.IntN(200) > 0 {
		return nil
	}
	e.ended[what]++
	e.running = false
	return errKilled // of those that go on at other servers too
}

// A move that is ended after any of its statements, again and again, goes on to its end; meanwhile no program starts.
func TestAMoveThatIsEndedAnywhereGoesOn(t *testing.T) {
	harness.Raceless(t)
	lists := slices.Delete(moves(t), 2, 3)
	fillLedger(t, lists[0])
	was := stateOf(t, lists[0])
	for i, to := range lists[1:] {
		from, e := lists[i], endings{ended: map[string]int{}}
		for run := 0; ; run++ {
			e.running = true
			err := postgres.MoveLedgerBy(t.Context(), from.config(), to.ledger, smallBatch, quiet, e.after)
			if err == nil || e.ended["the mark is removed"] > 0 {
				break
			}
			if !errors.Is(err, errKilled) && !errors.Is(err, context.Canceled) {
				t.Fatalf("move %d, run %d: %v", i+1, run, err)
			}
			if run%4 == 0 {
				from.mustBeRefused(t, "is being moved")
				to.mustBeRefused(t, "is being moved")
			}
		}
		t.Logf("move %d was ended after %v", i+1, e.ended)
		if why := was.differs(stateOf(t, to)); why != "" || len(e.ended) < 12 {
			t.Fatalf("move %d, ended after %v: %s", i+1, e.ended, why)
		}
		mustBeAsIfBegun(t, to)
		mustBeAlone(t, from, to)
	}
}

// A move is given up at each of its steps, and at some of them that is ended after each of its statements: the ledger
// is as it was. Once the new list counts, it cannot be given up.
func TestAMoveIsGivenUp(t *testing.T) {
	harness.Raceless(t)
	lists := moves(t)
	from, to := lists[1], spreadOver{lists[0].main, []string{lists[2].ledger[1], lists[0].main, lists[1].ledger[0]}}
	fillLedger(t, from)
	was := stateOf(t, from)
	if err := postgres.CancelMoveBy(t.Context(), from.config(), quiet, always); err == nil ||
		!strings.Contains(err.Error(), "nothing to cancel") {
		t.Errorf("no move was begun, and is given up: %v", err)
	}
	for i, last := range []string{"the main server is marked", "a server is marked", "writes have ended",
		"rows are copied", "notes are copied", "what each server has is copied", "all is compared"} {
		err := postgres.MoveLedgerBy(t.Context(), from.config(), to.ledger, smallBatch, quiet, func(what string) error {
			if what == last {
				return errKilled
			}
			return nil
		})
		if !errors.Is(err, errKilled) {
			t.Fatalf("ended after %s: %v", last, err)
		}
		from.mustBeRefused(t, "is being moved")
		e, after := endings{ended: map[string]int{}}, always
		if i%3 == 0 {
			after = e.after
		}
		for err = errKilled; err != nil && e.ended["the mark is removed"] == 0; {
			e.running = true
			err = postgres.CancelMoveBy(t.Context(), from.config(), quiet, after)
			if err != nil && !errors.Is(err, errKilled) && !errors.Is(err, context.Canceled) {
				t.Fatalf("given up after %s: %v", last, err)
			}
			if i%3 == 0 && e.ended["a step is noted"] > 0 && e.ended["the mark is removed"] == 0 {
				from.mustBeRefused(t, "is being moved")
				err := postgres.MoveLedgerBy(t.Context(), from.config(), to.ledger, smallBatch, quiet, always)
				if err == nil || !strings.Contains(err.Error(), "--cancel") {
					t.Fatalf("a move that is being given up goes on: %v", err)
				}
			}
		}
		if why := was.differs(stateOf(t, from)); why != "" {
			t.Fatalf("given up after %s: %s", last, why)
		}
		mustBeAsIfBegun(t, from)
		tables := slices.DeleteFunc(slices.Collect(maps.Keys(postgres.Placings())), func(table string) bool {
			return ledgerSQL[table] == "" && table != "tallies" && table != "followed_since"
		})
		mustBeEmpty(t, from.main, tables)
		to.ledger[0] = makeDatabase(t)
	}
	err := postgres.MoveLedgerBy(t.Context(), from.config(), to.ledger, smallBatch, quiet, func(what string) error {
		if what == "the list is switched" {
			return errKilled
		}
		return nil
	})
	if !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if err := postgres.CancelMoveBy(t.Context(), from.config(), quiet, always); err == nil ||
		!strings.Contains(err.Error(), "counts already") {
		t.Errorf("a move whose list counts is given up: %v", err)
	}
	check(t, postgres.MoveLedgerBy(t.Context(), from.config(), to.ledger, smallBatch, quiet, always))
	if why := was.differs(stateOf(t, to)); why != "" {
		t.Error(why)
	}
}

const moveEnv = "WHIRLPOOL_TEST_MOVE"

// TestMoveInAProcess is the move of the next test.
func TestMoveInAProcess(t *testing.T) {
	lists := strings.Split(os.Getenv(moveEnv), "\n")
	if len(lists) != 3 {
		t.Skip("this is a part of another test")
	}
	cfg := spreadOver{lists[0], strings.Fields(lists[1])}.config()
	check(t, postgres.MoveLedgerBy(t.Context(), cfg, strings.Fields(lists[2]), smallBatch, quiet,
		func(what string) error {
			_, err := fmt.Println("after:", what)
			return err
		}))
}

// A process that is killed leaves statements under way: the next waits for their end.
func TestAMoveOutlivesKills(t *testing.T) {
	harness.Raceless(t)
	lists := moves(t)[:3]
	fillLedger(t, lists[0])
	was := stateOf(t, lists[0])
	for i, to := range lists[1:] {
		from := lists[i]
		kills := 0
		for statements := 2; ; statements += 4 {
			cmd := exec.Command(os.Args[0], "-test.run=^TestMoveInAProcess$", "-test.v")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%s", moveEnv, from.main, strings.Join(from.ledger, " "),
				strings.Join(to.ledger, " ")))
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			check(t, err)
			check(t, cmd.Start())
			lines, seen, text := bufio.NewScanner(out), 0, ""
			for lines.Scan() {
				if text += lines.Text() + "\n"; !strings.HasPrefix(lines.Text(), "after:") {
					continue
				}
				if seen++; seen == statements {
					check(t, cmd.Process.Kill())
					kills++
				}
			}
			if err := cmd.Wait(); err == nil || strings.Contains(text, "the mark is removed") {
				break
			} else if seen < statements {
				t.Fatalf("after %d kills: %v\n%s", kills, err, text)
			}
		}
		if why := was.differs(stateOf(t, to)); why != "" || kills < 3 {
			t.Fatalf("move %d, after %d kills: %s", i+1, kills, why)
		}
		mustBeAsIfBegun(t, to)
	}
}

// A server that goes away ends the move, which goes on when it is back.
func TestAMoveWaitsForAServerThatIsAway(t *testing.T) {
	lists := moves(t)
	fillLedger(t, lists[0])
	was := stateOf(t, lists[0])
	away := lists[1].ledger[1]
	name, _, _ := strings.Cut(away[strings.LastIndex(away, "/")+1:], "?")
	var copied atomic.Int64
	err := postgres.MoveLedgerBy(t.Context(), lists[0].config(), lists[1].ledger, smallBatch, quiet,
		func(what string) error {
			if what == "rows are copied" && copied.Add(1) == 5 {
				execute(t, lists[0].main, fmt.Sprintf(`ALTER DATABASE %s ALLOW_CONNECTIONS false;
				SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'`, name, name))
			}
			return nil
		})
	if err == nil || !strings.Contains(err.Error(), "run the command again") {
		t.Fatalf("a server is away: %v", err)
	}
	lists[0].mustBeRefused(t, "is being moved")
	execute(t, lists[0].main, fmt.Sprintf(`ALTER DATABASE %s ALLOW_CONNECTIONS true`, name))
	check(t, postgres.MoveLedgerBy(t.Context(), lists[0].config(), lists[1].ledger, smallBatch, quiet, always))
	if why := was.differs(stateOf(t, lists[1])); why != "" {
		t.Error(why)
	}
}

// What somebody writes while rows are copied is noticed before the list is switched, and is copied by the next run.
func TestAMoveNoticesWhatIsWrittenMeanwhile(t *testing.T) {
	lists := moves(t)
	fillLedger(t, lists[0])
	err := postgres.MoveLedgerBy(t.Context(), lists[0].config(), lists[1].ledger, smallBatch, quiet,
		func(what string) error {
			if what == "what each server has is copied" {
				execute(t, lists[0].main, `UPDATE urls SET status = 999 WHERE ctid = (SELECT min(ctid) FROM urls_00) AND tableoid = 'urls_00'::regclass`)
			}
			return nil
		})
	if err == nil || !strings.Contains(err.Error(), "Somebody wrote meanwhile") {
		t.Fatalf("a row was changed: %v", err)
	}
	check(t, postgres.MoveLedgerBy(t.Context(), lists[0].config(), lists[1].ledger, smallBatch, quiet, always))
	rows, wrong := rowsOf(t, lists[1])
	if len(wrong) > 0 || !slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(r, ",999,") }) {
		t.Errorf("the change is lost, or rows are in the wrong place: %v", wrong)
	}
}

// The checks of these tests notice a table that a move forgets.
func TestATableThatAMoveForgetsIsNoticed(t *testing.T) {
	for _, table := range []string{"redirects", "followed"} {
		lists := moves(t)
		fillLedger(t, lists[0])
		was := stateOf(t, lists[0])
		restore := postgres.Misplace(table)
		err := postgres.MoveLedgerBy(t.Context(), lists[0].config(), lists[1].ledger, smallBatch, quiet, always)
		restore()
		check(t, err)
		if why := was.differs(stateOf(t, lists[1])); !strings.Contains(why, table) {
			t.Errorf("%s is not moved, and what is noticed is %q", table, why)
		}
	}
}

// Every table has a placing, and none that is said to be on the main server alone has rows on another.
func TestEveryTableHasItsPlace(t *testing.T) {
	lists := moves(t)
	fillLedger(t, lists[1])
	placings, tables := postgres.Placings(), 0
	const all = `SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
		AND NOT relispartition AND relname <> 'goose_db_version'`
	for _, table := range strings.Fields(ask[string](t, lists[1].main, all)) {
		tables++
		onMain, known := placings[table]
		if !known {
			t.Errorf("placings does not say which servers have rows of %s, so that a move of the ledger would forget it", table)
		}
		for _, server := range lists[1].ledger {
			if n := ask[int](t, server, "SELECT count(*) FROM "+table); onMain && n > 0 {
				t.Errorf("%s is said to be on the main server alone, and a server of the ledger has %d rows", table, n)
			}
		}
	}
	if tables != len(placings) {
		t.Errorf("there are %d tables, and placings has %d", tables, len(placings))
	}
}

// What cannot be moved is refused, and nothing is changed.
func TestAMoveIsRefused(t *testing.T) {
	lists := moves(t)
	from := spreadOver{lists[0].main, lists[1].ledger[:2]}
	fillLedger(t, from)
	was := stateOf(t, from)
	other := spreadOver{makeDatabase(t), []string{makeDatabase(t), makeDatabase(t)}}
	alone := spreadOver{main: makeDatabase(t)}
	other.open(t).Close()
	fillLedger(t, alone)
	empty, another := emptyDatabase(t), emptyDatabase(t)
	sep := "?"
	if strings.Contains(empty, "?") {
		sep = "&"
	}
	const none = "SELECT to_regclass('urls') IS NULL"
	for what, c := range map[string]struct {
		from spreadOver
		to   []string
		says string
	}{
		"no new database":        {from, []string{empty, alone.main}, "is no new database"},
		"one of another cluster": {from, []string{empty, other.ledger[0]}, "is no new database"},
		"another's main server":  {from, []string{empty, other.main}, "is no new database"},
		"one twice":              {from, []string{empty, empty + sep + "application_name=x"}, "stands there twice"},
		"one twice by one URL":   {from, []string{empty, empty}, "each once"},
		"the same servers":       {from, from.ledger, "on these servers already"},
		"not where it is":        {spreadOver{from.main, nil}, []string{empty}, "was begun on 2 servers"},
		"servers in another order": {spreadOver{from.main, []string{from.ledger[1], from.ledger[0]}}, []string{empty},
			"the order must stay"},
		"no server":                 {from, []string{"postgres://u:secret@127.0.0.1:1/db"}, "server 1 of the new list"},
		"alone, where it is so yet": {alone, nil, "on these servers already"},
	} {
		err := postgres.MoveLedgerBy(t.Context(), c.from.config(), c.to, smallBatch, quiet, always)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want an error that says %q", what, err, c.says)
		}
	}
	s := from.open(t)
	_, err := s.URLs().Tally(t.Context(), "one")
	check(t, err)
	if err := postgres.MoveLedger(t.Context(), from.config(), []string{another}, quiet); err == nil ||
		!strings.Contains(err.Error(), "programs are connected to") {
		t.Errorf("a program runs: %v", err)
	}
	s.Close()
	if !ask[bool](t, empty, none) || !ask[bool](t, another, none) {
		t.Error("a database that was named has a schema")
	}
	if why := was.differs(stateOf(t, from)); why != "" {
		t.Error(why)
	}
}

// A move that was begun is brought to its end as it was begun, and no other one begins.
func TestAMoveIsEndedAsItWasBegun(t *testing.T) {
	lists := moves(t)
	fillLedger(t, lists[0])
	steps := 0
	err := postgres.MoveLedgerBy(t.Context(), lists[0].config(), lists[1].ledger, smallBatch, quiet,
		func(string) error {
			if steps++; steps == 6 {
				return errKilled
			}
			return nil
		})
	if !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	l := lists[1].ledger
	for what, c := range map[string]struct {
		from spreadOver
		to   []string
	}{
		"other servers": {lists[0], lists[2].ledger}, "another order": {lists[0], []string{l[1], l[0], l[2]}},
		"a new one among them": {lists[0], []string{l[0], makeDatabase(t), l[2]}}, "from elsewhere": {lists[1], l},
	} {
		err := postgres.MoveLedgerBy(t.Context(), c.from.config(), c.to, smallBatch, quiet, always)
		if !errors.Is(err, postgres.ErrLedger) || !strings.Contains(err.Error(), "its move began with others") {
			t.Errorf("%s: %v", what, err)
		}
	}
	check(t, postgres.MoveLedgerBy(t.Context(), lists[0].config(), l, smallBatch, quiet, always))
}

// A program that ran before is refused at its next look at a job.
func TestAProgramThatRunsIsRefusedWhileTheLedgerIsMoved(t *testing.T) {
	c := spreadOver{main: makeDatabase(t)}
	s := c.open(t)
	defer s.Close()
	tasks := storetest.Tasks(job, manyURLs(t, 0, 10, 10)...)
	_, err := s.URLs().Claim(t.Context(), job, id("one"), tasks)
	check(t, err)
	execute(t, c.main, `INSERT INTO ledger_servers (place, cluster, servers) VALUES (0, gen_random_uuid(), -1)`) // as begin does
	_, err = s.URLs().Claim(t.Context(), job, id("two"), tasks)
	if !errors.Is(err, postgres.ErrLedger) || !strings.Contains(err.Error(), "is being moved") || crawl.IsPermanent(err) {
		t.Errorf("a claim while the ledger is moved: %v", err)
	}
}
