package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const job = crawl.JobID("job")

var aTime = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func TestOpenTasksComeBackWhole(t *testing.T) {
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 4, 3)
	tasks := []crawl.Task{
		{Job: job, URL: u[0], Priority: 4, Depth: 3, Redirects: 1, Referrer: u[3], Visit: 2, ETag: `"x"`,
			LastModified: "yesterday"},
		{Job: job, URL: u[1], Kind: crawl.KindSitemap, Seed: true, NotBefore: aTime, Attempt: 2},
		{Job: job, URL: u[2], Depth: 1},
	}
	_, err := s.URLs().Claim(ctx, job, id("a"), tasks)
	check(t, err)
	_, err = s.URLs().Claim(ctx, job, id("b"), storetest.Tasks(job, u[3:]...))
	check(t, err)
	check(t, s.URLs().Finish(ctx, job, crawl.Entry{Key: u[2].Key(), Verdict: crawl.VerdictDone, Status: 200}))
	want := []crawl.Task{tasks[0], tasks[1], {Job: job, URL: u[3]}}
	all := func(weburl.URL) bool { return true }
	wantOpen(t, s, all, want)
	check(t, s.URLs().Reopen(ctx, job, u[2].Key()))
	want = append(want, tasks[2])
	wantOpen(t, s, all, want)
	_, err = s.URLs().Claim(ctx, "another", id("c"), storetest.Tasks("another", u[1]))
	check(t, err)
	_, err = s.URLs().Exclude(ctx, "another", id("c"), []crawl.Exclusion{{URL: u[0], Reason: crawl.ReasonScope}})
	check(t, err)
	check(t, s.URLs().Finish(ctx, "another", crawl.Entry{Key: u[3].Key(), Verdict: crawl.VerdictDone, Status: 200}))
	check(t, s.URLs().Reopen(ctx, "another", u[3].Key())) // nobody claimed it: its URL is not known
	wantOpen(t, s, func(o weburl.URL) bool { return o != u[1] }, []crawl.Task{tasks[0], want[2], tasks[2]})
	check(t, s.Jobs().SetState(ctx, job, crawl.JobStopped)) // it may go on some day
	wantOpen(t, s, func(o weburl.URL) bool { return o != u[1] }, []crawl.Task{tasks[0], want[2], tasks[2]})
	count, enough := 0, errors.New("enough")
	err = s.URLs().Open(ctx, weburl.AllKeys(), all, func(crawl.Task) error { count++; return enough })
	if !errors.Is(err, enough) || count != 1 {
		t.Errorf("got error %v after %d tasks, want the reader's after one", err, count)
	}
}

func wantOpen(t *testing.T, s *postgres.Store, owned func(weburl.URL) bool, want []crawl.Task) {
	t.Helper()
	got := map[weburl.URL]crawl.Task{}
	check(t, s.URLs().Open(context.Background(), weburl.AllKeys(), owned,
		func(t crawl.Task) error { got[t.URL] = t; return nil }))
	if len(got) != len(want) {
		t.Errorf("%d open tasks, want %d", len(got), len(want))
	}
	for _, w := range want {
		g := got[w.URL]
		if w.Repeat = true; !g.NotBefore.Equal(w.NotBefore) {
			t.Errorf("%s is not before %v, want %v", w.URL, g.NotBefore, w.NotBefore)
		}
		if g.NotBefore = w.NotBefore; g != w {
			t.Errorf("got  %+v\nwant %+v", g, w)
		}
	}
}

func TestEntriesComeInTheOrderOfTheirKeys(t *testing.T) {
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 3000, 100)
	_, err := s.URLs().Claim(ctx, job, id("a"), storetest.Tasks(job, u[:2000]...))
	check(t, err)
	var excl []crawl.Exclusion
	for _, u := range u[2000:] {
		excl = append(excl, crawl.Exclusion{URL: u, Reason: crawl.ReasonScope})
	}
	_, err = s.URLs().Exclude(ctx, job, id("a"), excl)
	check(t, err)
	check(t, s.URLs().Finish(ctx, job,
		crawl.Entry{Key: u[0].Key(), Verdict: crawl.VerdictGone, Kind: crawl.KindSitemap, Status: 404, Reason: "status",
			At: aTime, Attempts: 2}))
	var keys []weburl.Key
	states := map[crawl.State]int{}
	check(t, s.URLs().Entries(ctx, job, func(r crawl.LedgerRow) error {
		if r.URL.Key() != r.Key {
			t.Errorf("the key %s comes with %s", r.Key, r.URL)
		}
		keys = append(keys, r.Key)
		states[r.State]++
		want := crawl.Entry{Key: r.Key, State: crawl.StateDone, Verdict: crawl.VerdictGone, Kind: crawl.KindSitemap,
			Status: 404, Reason: "status", At: aTime, Attempts: 2}
		if r.URL == u[0] && r.Entry != want {
			t.Errorf("got %+v, want %+v", r.Entry, want)
		}
		return nil
	}))
	if !slices.IsSortedFunc(keys, func(a, b weburl.Key) int { return bytes.Compare(a[:], b[:]) }) || len(keys) != len(u) {
		t.Errorf("%d keys, want %d in order", len(keys), len(u))
	}
	if want := map[crawl.State]int{crawl.StateOpen: 1999, crawl.StateDone: 1,
		crawl.StateExcluded: 1000}; !reflect.DeepEqual(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
	enough := errors.New("enough")
	if err := s.URLs().Entries(ctx, job, func(crawl.LedgerRow) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got error %v, want the reader's", err)
	}
	wantCounted(t, s)
}

func TestAttemptsComeBackInOrder(t *testing.T) {
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 2, 1)
	full := crawl.LogLine{Job: job, At: aTime, URL: u[0], Kind: crawl.KindPage, Verdict: crawl.VerdictRetry, Status: 503,
		Reason: "status", Detail: "come back later", Bytes: 12, Duration: 3 * time.Second, FirstByte: 2 * time.Millisecond,
		Attempt: 1, Depth: 4, ContentType: "text/html", Digest: crawl.Digest{1, 2}, Addr: netip.MustParseAddr("2001:db8::7"),
		Referrer: u[1], Location: u[1], Epoch: 3}
	var want []crawl.LogLine
	for i := range 5 {
		l := full
		l.At = aTime.Add(time.Duration(i) * time.Second)
		want = append(want, l)
	}
	check(t, s.AttemptLog().Append(ctx, want[3], want[1], crawl.LogLine{Job: job, At: aTime, URL: u[1]}))
	check(t, s.AttemptLog().Append(ctx, want[4], want[0], want[2]))
	check(t, s.AttemptLog().Append(ctx))
	got, err := s.AttemptLog().Attempts(ctx, job, u[0].Key(), 4)
	check(t, err)
	if !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("got  %+v\nwant %+v", got, want[1:])
	}
	if got, err := s.AttemptLog().Attempts(ctx, "nobody", u[0].Key(), 4); len(got) != 0 || err != nil {
		t.Errorf("a job never heard of: %d lines, error %v", len(got), err)
	}
}

func TestLinesAppendedAtOnceAreAllThere(t *testing.T) {
	url := sharedDatabase(t)
	s := open(t)
	u := manyURLs(t, 0, 100, 5)
	var wg sync.WaitGroup
	for w := range 100 {
		wg.Go(func() {
			for i := range 20 {
				lines := make([]crawl.LogLine, 1+i*2)
				for j := range lines {
					lines[j] = crawl.LogLine{Job: crawl.JobID(fmt.Sprint("job-", w%3)), At: aTime, URL: u[w]}
				}
				if err := s.AttemptLog().Append(context.Background(), lines...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n, want := ask[int](t, url, "SELECT count(*) FROM attempts"), 100*(20+2*190); n != want {
		t.Errorf("%d lines, want %d", n, want)
	}
}

// What a page, a header or a name can hold must never make a statement fail.
func TestTextThatPostgresRefusesIsReplaced(t *testing.T) {
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 2, 1)
	for _, bad := range []string{"a\x00b", "\xff\xfe", string(bytes.Repeat([]byte("\xc3\x28\x00"), 5000))} {
		check(t, s.AttemptLog().Append(ctx,
			crawl.LogLine{Job: job, At: aTime, URL: u[0], Reason: bad, Detail: bad, ContentType: bad}))
		_, err := s.URLs().Exclude(ctx, job, id("a"), []crawl.Exclusion{{URL: u[1], Reason: bad}})
		check(t, err)
		check(t, s.URLs().Finish(ctx, job, crawl.Entry{Key: u[0].Key(), Verdict: crawl.VerdictFailed, Reason: bad}))
		_, err = s.Budgets().Spend(ctx, job, bad, 1, 10)
		check(t, err)
		check(t, s.Hosts().PutHosts(ctx, crawl.Host{Key: bad, Failures: 7}))
		hosts, err := s.Hosts().Hosts(ctx, bad)
		check(t, err)
		if hosts[0].Failures != 7 || hosts[0].Key != bad {
			t.Errorf("host %.20q came back as %+v", bad, hosts[0])
		}
		check(t, s.Hosts().PutRobots(ctx, crawl.Robots{Origin: bad, Body: []byte(bad)}))
		if r, found, err := s.Hosts().Robots(ctx, bad); !found || err != nil || string(r.Body) != bad {
			t.Errorf("robots.txt of %.20q: found %t, error %v", bad, found, err)
		}
		if _, err := s.Jobs().Job(ctx, crawl.JobID(bad)); !crawl.IsPermanent(err) {
			t.Errorf("job %.20q: error %v", bad, err)
		}
	}
}

func TestFingerprintsKeepTheMetadataOfCopies(t *testing.T) {
	url := sharedDatabase(t)
	s, ctx := open(t), context.Background()
	u := manyURLs(t, 0, 4, 2)
	c := s.ContentSet()
	for i, u := range u[:3] {
		fp := crawl.Fingerprint{Job: job, URL: u, Digest: crawl.Digest{byte(i / 2)}, Simhash: 1<<63 | uint64(i),
			Sketch: []byte("sketch")}
		_, err := c.Claim(ctx, fp, 3, nil)
		check(t, err)
	}
	for i, want := range []crawl.StoredFingerprint{
		{URL: u[0], Sameness: crawl.Original, Simhash: 1 << 63, Domain: "host0.test"},
		{URL: u[1], Sameness: crawl.ExactCopy, Of: u[0], Simhash: 1<<63 | 1, Domain: "host1.test"},
		{URL: u[2], Sameness: crawl.NearCopy, Of: u[0], Distance: 1, Digest: crawl.Digest{1}, Simhash: 1<<63 | 2,
			Domain: "host0.test"},
	} {
		got, found, err := c.Fingerprint(ctx, job, u[i].Key())
		check(t, err)
		if got.At.IsZero() || !found {
			t.Errorf("%s: found %t, at %v", u[i], found, got.At)
		}
		if got.At = (time.Time{}); got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	if _, found, err := c.Fingerprint(ctx, job, u[3].Key()); found || err != nil {
		t.Errorf("a page never seen: found %t, error %v", found, err)
	}
	n, err := c.Counts(ctx, job)
	check(t, err)
	if n != (postgres.ContentCounts{Originals: 1, ExactCopies: 1, NearCopies: 1}) {
		t.Errorf("counts %+v", n)
	}
	const complete = `SELECT count(*) FROM fingerprints WHERE length(page_id) = 24 AND length(content_id) = 24 AND length(page_fp) = 32
		AND fp_alg = 'sha256+simhash64' AND domain <> '' AND content_id = (SELECT page_id FROM fingerprints WHERE page_type = 0)`
	if rows := ask[int](t, url, complete); rows != 3 {
		t.Errorf("%d rows have all their metadata, want 3", rows)
	}
}
