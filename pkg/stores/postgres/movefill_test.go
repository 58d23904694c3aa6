package postgres_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// spreadOver is a cluster whose ledger is on some servers.
type spreadOver struct {
	main   string
	ledger []string
}

func (c spreadOver) config() postgres.Config {
	cfg := config(c.main)
	cfg.Ledger, cfg.JobExpiry = c.ledger, time.Millisecond
	return cfg
}

func (c spreadOver) open(t testing.TB) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), c.config())
	check(t, err)
	return s
}

// servers are where the rows of hosts are.
func (c spreadOver) servers() []string {
	if len(c.ledger) == 0 {
		return []string{c.main}
	}
	return c.ledger
}

var movedJobs = []crawl.JobID{"one", "two", "three"}

// fillLedger makes rows of all kinds that follow hosts, by the store's own calls.
func fillLedger(t *testing.T, c spreadOver) {
	t.Helper()
	s, ctx := c.open(t), t.Context()
	defer s.Close()
	for i, job := range movedJobs {
		submit(t, s, job)
		urls := manyURLs(t, 1000*i, 150, 60)
		tasks := storetest.Tasks(job, urls...)
		_, err := s.URLs().Claim(ctx, job, id("claim"), tasks)
		check(t, err)
		var out []crawl.Exclusion
		for _, u := range manyURLs(t, 1000*i+500, 40, 60) {
			out = append(out, crawl.Exclusion{URL: u, Reason: "scope", Rule: "a rule"})
		}
		_, err = s.URLs().Exclude(ctx, job, id("exclude"), out)
		check(t, err)
		for k := 0; k < len(urls); k += 2 {
			check(t, s.URLs().Finish(ctx, job, crawl.Entry{Key: urls[k].Key(), Verdict: crawl.VerdictDone, Status: 200 + k%3*101,
				Reason: []string{"", "too-long"}[k%4/2], At: aTime}))
		}
		check(t, s.URLs().Reopen(ctx, job, urls[0].Key(), urls[4].Key()))
		for _, u := range urls[:20] {
			check(t, s.Redirects().Redirect(ctx, job, u, urls[30]))
			check(t, s.Unkept().Note(ctx, job, u, "no-record"))
			check(t, s.Places().KeepPlaces(ctx, job, u.Key()))
			check(t, s.Following().Claimed(ctx, job, u, crawl.Share{Epoch: 1, Of: 3}))
		}
		check(t, s.Following().Expect(ctx, tasks[10:40]...))
		if job != "three" {
			check(t, s.Followed().Elsewhere(ctx))
		}
		done := make(chan error)
		for _, u := range urls[:80] { // together, so that a note has several hosts
			go func() { done <- s.Followed().Claimed(ctx, job, u, crawl.Share{Of: 1}) }()
		}
		for range 80 {
			check(t, <-done)
		}
		for k, u := range urls[:50] {
			r := crawl.Revisit{URL: u}
			if r.Visits, r.Last = uint32(1+k%3), aTime; k%5 > 0 {
				r.Due = aTime.Add(time.Duration(k) * time.Hour)
			}
			check(t, s.Revisits().Put(ctx, job, r))
			check(t, s.Revisits().PutHabits(ctx, job, crawl.HostHabits{Host: hostOfKey(u.Key()),
				Habits: revisit.Habits{Dated: uint8(k)}}))
		}
	}
	_, err := s.Jobs().BeginDelete(ctx, "three") // its rows are moved like those of others
	check(t, err)
}

func hostOfKey(k weburl.Key) (host uint64) {
	for _, b := range k[:8] {
		host = host<<8 | uint64(b)
	}
	return host
}

// ledgerSQL has a row of each table, as text, with its host.
var ledgerSQL = map[string]string{
	"urls": "urls", "following": "following", "unkept": "unkept", "redirects": "redirects", "places": "places",
	"revisits": "revisits", "habits": "habits",
	"followed": "(SELECT f.job, f.noted, a.host, a.hash FROM followed f, unnest(f.hosts, f.hashes) AS a (host, hash))",
}

// rowsOf returns all rows of a ledger, sorted, and what is wrong with their places.
func rowsOf(t *testing.T, c spreadOver) (rows []string, wrong []string) {
	t.Helper()
	ctx := t.Context()
	for place, server := range c.servers() {
		conn, err := pgx.Connect(ctx, server)
		check(t, err)
		for table, from := range ledgerSQL {
			found, err := conn.Query(ctx, `SELECT r.host, r::text FROM `+from+` AS r`)
			check(t, err)
			var host int64
			var text string
			_, err = pgx.ForEachRow(found, []any{&host, &text}, func() error {
				if want := postgres.PlaceOf(host, len(c.servers())); want != place {
					wrong = append(wrong, fmt.Sprintf("%s %s is at %d, want %d", table, text, place, want))
				}
				rows = append(rows, table+" "+text)
				return nil
			})
			check(t, err)
		}
		check(t, conn.Close(ctx))
	}
	slices.Sort(rows)
	return rows, wrong
}

// readsOf is what all calls say of a ledger, as JSON.
func readsOf(t *testing.T, c spreadOver) map[string]string {
	t.Helper()
	s, ctx, out := c.open(t), t.Context(), map[string]string{}
	defer s.Close()
	put := func(what string, v any, err error) {
		t.Helper()
		if errors.Is(err, crawl.ErrDiscarded) {
			return
		}
		check(t, err)
		text, err := json.Marshal(v)
		check(t, err)
		out[what] = string(text)
	}
	half := [][]weburl.KeyRange{{{First: 0, Last: 1 << 62}}, {{First: 1<<62 + 1, Last: 1<<64 - 1}}}
	var open, unfollowed, taken []string
	for _, in := range half {
		note := func(task crawl.Task) error { open = append(open, fmt.Sprintf("%+v", task)); return nil }
		check(t, s.URLs().Open(ctx, in, func(weburl.URL) bool { return true }, note))
		check(t, s.Following().Unfollowed(ctx, in, time.Now().Add(time.Hour), func(task crawl.Task) error {
			unfollowed = append(unfollowed, fmt.Sprintf("%+v", task))
			return nil
		}))
		check(t, s.Revisits().Taken(ctx, in, func(job crawl.JobID, r crawl.Revisit) error {
			taken = append(taken, fmt.Sprint(job, r.URL))
			return nil
		}))
	}
	for what, list := range map[string][]string{"open": open, "unfollowed": unfollowed, "taken": taken} {
		slices.Sort(list)
		put(what, list, nil)
	}
	for i, job := range movedJobs {
		readJob(t, s, job, manyURLs(t, 1000*i, 150, 60), func(what string, v any, err error) {
			t.Helper()
			put(string(job)+": "+what, v, err)
		})
	}
	return out
}

func readJob(t *testing.T, s *postgres.Store, job crawl.JobID, urls []weburl.URL, put func(string, any, error)) {
	t.Helper()
	ctx := t.Context()
	var keys []weburl.Key
	var hosts []uint64
	for _, u := range urls {
		keys, hosts = append(keys, u.Key()), append(hosts, hostOfKey(u.Key()))
		target, found, err := s.Redirects().Target(ctx, job, u)
		put("target of "+u.String(), fmt.Sprint(target, found), err)
	}
	tally, err := s.URLs().Tally(ctx, job)
	put("tally", tally, err)
	counted, stood, err := s.URLs().Recount(ctx, job)
	put("recount", []crawl.Tally{counted, stood}, err)
	if !reflect.DeepEqual(counted, stood) {
		t.Errorf("job %s: counted %+v, and the tally is %+v", job, counted, stood)
	}
	var entries []crawl.LedgerRow
	err = s.URLs().Entries(ctx, job, func(r crawl.LedgerRow) error { entries = append(entries, r); return nil })
	put("entries", entries, err)
	list, err := s.URLs().EntriesAfter(ctx, job, weburl.Key{}, 1000)
	put("list", list, err)
	found, err := s.URLs().Lookup(ctx, job, keys...)
	put("looked up", found, err)
	left, err := s.URLs().LeftOut(ctx, job, weburl.Key{}, 1000)
	put("left out", left, err)
	why, err := s.URLs().Reasons(ctx, job)
	put("reasons", why, err)
	var queued, settled []string
	err = s.URLs().EachQueued(ctx, job, nil, func(task *crawl.Task) error {
		queued = append(queued, fmt.Sprintf("%+v", *task))
		return nil
	})
	slices.Sort(queued)
	put("queued", queued, err)
	err = s.URLs().Settled(ctx, job, []crawl.Verdict{crawl.VerdictDone}, nil, func(task crawl.Task) error {
		settled = append(settled, fmt.Sprintf("%+v", task))
		return nil
	})
	slices.Sort(settled)
	put("settled", settled, err)
	waiting, err := s.Following().Waiting(ctx, job)
	put("waiting", waiting, err)
	followed, err := s.Followed().Waiting(ctx, job)
	put("followed", followed, err)
	put("missed", missing(t, s, job, time.Now().Add(time.Hour)), nil)
	kept, err := s.Unkept().Reasons(ctx, job, keys...)
	put("unkept", kept, err)
	places, err := s.Places().Places(ctx, job)
	slices.SortFunc(places, func(a, b weburl.Key) int { return cmp.Compare(string(a[:]), string(b[:])) })
	put("places", places, err)
	states, err := s.Revisits().States(ctx, job, keys...)
	put("states", states, err)
	habits, err := s.Revisits().Habits(ctx, job, hosts...)
	put("habits", habits, err)
	due, err := s.Revisits().Due(ctx, job, aTime.Add(1000*time.Hour), 1000, nil)
	slices.SortFunc(due, func(a, b crawl.Revisit) int { return strings.Compare(a.URL.String(), b.URL.String()) })
	put("due", due, err)
	var each []string
	err = s.Revisits().EachURL(ctx, job, func(r crawl.Revisit) error { each = append(each, r.URL.String()); return nil })
	put("each", each, err)
}
