package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s (-update writes it anew): %v\ngot\n%s\nwant\n%s", file, err, got, want)
	}
}

func audit(t *testing.T, f *fakeCluster) *crawl.AuditReport {
	t.Helper()
	j, err := f.open(t).Job(t.Context(), fakeJob)
	if err != nil {
		t.Fatal(err)
	}
	r, err := j.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAuditOfASoundClusterProvesEverything(t *testing.T) {
	r := audit(t, soundCluster(t))
	c := r.Cluster
	if len(r.Faults)+len(c.Unproven) > 0 || !c.Still {
		t.Errorf("faults %q, not proven %q, still %v", r.Faults, c.Unproven, c.Still)
	}
	if r.Claimed != 4 || r.Done != 3 || r.Open != 1 || r.Excluded != 1 || r.Queued != 1 || r.Pages != 2 ||
		c.Fetched != 3 || c.Unstored != 1 || c.Originals != 1 || c.Copies != 1 {
		t.Errorf("figures %+v, %+v", r, c)
	}
	var b bytes.Buffer
	if err := WriteAudit(&b, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "audit.txt", b.String())
}

func TestClusterAuditNamesWhatIsWrong(t *testing.T) {
	const original, twin = "http://a.test/", "http://a.test/copy"
	for name, tt := range map[string]struct {
		harm func(f *fakeCluster)
		says string // a fault
		url  string
	}{
		"missing record": {func(f *fakeCluster) { delete(f.records, mustURL(t, twin).Key()) }, "records are not stored",
			twin},
		"neither record nor reason": {func(f *fakeCluster) { f.keepNot(mustURL(t, "http://a.test/noindex"), "") },
			"neither a record nor a reason", "http://a.test/noindex"},
		"links that are missing": {func(f *fakeCluster) { f.unfinished(t, 1) }, "links are lost", "http://a.test/0"},
		"damaged": {func(f *fakeCluster) { f.damaged = map[weburl.Key]bool{mustURL(t, twin).Key(): true} },
			"checksums are wrong", twin},
		"no fingerprint": {func(f *fakeCluster) { delete(f.prints, mustURL(t, twin).Key()) }, "have no fingerprint", twin},
		"orphan": {func(f *fakeCluster) {
			p := f.prints[mustURL(t, twin).Key()]
			p.Of = weburl.URL{}
			f.prints[mustURL(t, twin).Key()] = p
		}, "name an original", twin},
		"stray": {func(f *fakeCluster) { delete(f.rows[fakeJob], mustURL(t, twin).Key()) }, "nobody claimed", twin},
		"stored, but left out": {func(f *fakeCluster) {
			f.put(fakeJob, mustURL(t, twin),
				crawl.Entry{State: crawl.StateExcluded})
		},
			"nobody claimed", twin},
		"misfiled": {func(f *fakeCluster) { f.records[mustURL(t, twin).Key()] = mustURL(t, "http://else.test/") },
			"key of another", "http://else.test/"},
		"no state": {func(f *fakeCluster) {
			f.put(fakeJob, mustURL(t, twin), crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictRetry})
		},
			"none of the states", twin},
		"reopened": {func(f *fakeCluster) { f.put(fakeJob, mustURL(t, original), crawl.Entry{State: crawl.StateOpen}) },
			"they are lost", original},
		"lost, and not counted": {func(f *fakeCluster) {
			f.put(fakeJob, mustURL(t, original), crawl.Entry{State: crawl.StateOpen})
			f.off[fakeJob] = -1
		}, "they are lost", original},
		"lost beside tasks that have an outcome for the time being": {func(f *fakeCluster) {
			f.queue(bus.Depth{Queue: "later.1099515227776", Ready: 50})
		}, "they are lost", "http://b.test/waits"},
		"counter": {func(f *fakeCluster) { f.off[fakeJob] = 1 }, "counters are wrong", "claimed: 5, counted 4"},
	} {
		t.Run(name, func(t *testing.T) {
			f := soundCluster(t)
			tt.harm(f)
			r := audit(t, f)
			if !slices.ContainsFunc(r.Faults, func(s string) bool { return strings.Contains(s, tt.says) }) {
				t.Errorf("faults %q, want one that says %q", r.Faults, tt.says)
			}
			found := false
			for _, urls := range r.Examples {
				found = found || slices.ContainsFunc(urls, func(s string) bool { return strings.Contains(s, tt.url) })
			}
			if !found {
				t.Errorf("%s is not named in %q", tt.url, r.Examples)
			}
		})
	}
}

// While messages move, what seems wrong may be on its way, and is no fault; what cannot be on its way is one all the
// same.
func TestAMovingClusterIsNotAccused(t *testing.T) {
	moving := []bus.Depth{{Queue: "back.7", Ready: 1}, {Queue: crawl.TopicContentSeen, Unacked: 1}}
	lost := func(f *fakeCluster) {
		f.put(fakeJob, mustURL(t, "http://d.test/"), crawl.Entry{State: crawl.StateOpen})
	}
	fetching := []bus.Depth{{Queue: "back.7", Ready: 1}, {Queue: crawl.TopicFetch + ".retry", Ready: 1}}
	key := mustURL(t, "http://a.test/copy").Key()
	for name, tt := range map[string]struct {
		harm     func(f *fakeCluster)
		unproven int
		faults   int
	}{
		"nothing seems wrong":             {func(f *fakeCluster) { f.queue(moving...) }, 0, 0},
		"a record that may be on its way": {func(f *fakeCluster) { f.queue(moving...); delete(f.records, key) }, 1, 0},
		"a record that would long be there": {func(f *fakeCluster) {
			f.queue(moving...)
			p := f.prints[key]
			p.At = fakeNow.Add(-2 * settled)
			f.prints[key] = p
			delete(f.records, key)
		}, 0, 1},
		"a record without fingerprint": {func(f *fakeCluster) { f.queue(moving...); delete(f.prints, key) }, 0,
			1},
		"an open URL that is not seen": {func(f *fakeCluster) { f.queue(moving...); lost(f) }, 0, 1},
		"an open URL in a message":     {func(f *fakeCluster) { f.queue(fetching...); lost(f) }, 0, 0},
		"fresh tasks of which nobody knows how many": {func(f *fakeCluster) {
			f.queue(bus.Depth{Queue: crawl.TopicFrontierIn,
				Ready: 1})
			lost(f)
		}, 1, 0},
		"another job's URL is lost": {func(f *fakeCluster) {
			f.put(otherJob, mustURL(t, "http://d.test/"), crawl.Entry{State: crawl.StateOpen})
		}, 0, 1},
		"another job's URL is lost, and this one has none open": {func(f *fakeCluster) {
			f.put(fakeJob, mustURL(t, "http://b.test/waits"),
				crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictGone, Status: 404})
			f.put(otherJob, mustURL(t, "http://d.test/"), crawl.Entry{State: crawl.StateOpen})
			f.queue()
		}, 0, 0},
		"a page that may be on its way": {func(f *fakeCluster) {
			f.queue(moving...)
			f.vanish(mustURL(t, "http://a.test/fresh"), time.Minute)
		}, 1, 0},
		"a page that would long be there": {func(f *fakeCluster) {
			f.queue(moving...)
			f.vanish(mustURL(t, "http://a.test/old"), 2*settled)
		}, 0, 1},
		"a page in a dead letter": {func(f *fakeCluster) {
			f.vanish(mustURL(t, "http://d.test/"), time.Minute)
			f.unfinished(t, 1)
			f.dead = append(f.dead, letter(t, "http://d.test/"), letter(t, "http://a.test/0"))
		}, 0, 0},
		"a page perhaps in a dead letter": {func(f *fakeCluster) {
			f.vanish(mustURL(t, "http://d.test/"), time.Minute)
			f.dead = append(f.dead, bus.Letter{Body: []byte("?")})
		}, 1, 0},
		"in a dead letter": {func(f *fakeCluster) { lost(f); f.dead = append(f.dead, letter(t, "http://d.test/")) },
			0, 0},
		"perhaps in a dead letter": {func(f *fakeCluster) { lost(f); f.dead = append(f.dead, bus.Letter{Body: []byte("?")}) },
			1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := soundCluster(t)
			tt.harm(f)
			r := audit(t, f)
			if len(r.Faults) != tt.faults || len(r.Cluster.Unproven) != tt.unproven {
				t.Errorf("faults %q, not proven %q; want %d and %d", r.Faults, r.Cluster.Unproven, tt.faults, tt.unproven)
			}
		})
	}
}

func letter(t testing.TB, raw string) bus.Letter {
	e := &crawl.Fetch{Task: crawl.Task{Job: fakeJob, URL: mustURL(t, raw)}}
	return bus.Letter{DeadLetter: bus.DeadLetter{Message: bus.Message{ID: crawl.MessageID{7}, Event: e}, Topic: e.Topic(),
		Reason: "no", At: fakeNow}, Vhost: "v", Body: []byte("b")}
}

func TestAStoreThatIsReadOutOfOrderIsNoProof(t *testing.T) {
	f := soundCluster(t)
	f.broken = true
	j, err := f.open(t).Job(t.Context(), fakeJob)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := j.Audit(t.Context()); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("audit of disordered stores: %+v, %v", r, err)
	}
}

func TestTheJobIsNamedUnlessThereIsOne(t *testing.T) {
	f := soundCluster(t)
	c := f.open(t)
	if _, err := c.Job(t.Context(), ""); !errors.Is(err, ErrWhichJob) || !strings.Contains(err.Error(), "two, one") {
		t.Errorf("of two jobs: %v", err)
	}
	if _, err := c.Job(t.Context(), "unsubmitted"); !errors.Is(err, ErrNoJob) {
		t.Errorf("a job that nobody submitted: %v", err)
	}
	f.jobs = f.jobs[1:]
	if j, err := c.Job(t.Context(), ""); err != nil || j.Info.ID != otherJob {
		t.Errorf("of one job: %+v, %v", j, err)
	}
	f.jobs = nil
	if _, err := c.Job(t.Context(), ""); !errors.Is(err, ErrNoJob) || !strings.Contains(err.Error(), "seed") {
		t.Errorf("of none: %v", err)
	}
}

func TestStatusOfAClusterForPeople(t *testing.T) {
	f := soundCluster(t)
	f.jobs[1].State, f.jobs[1].Ended = crawl.JobEnded, fakeNow.Add(-time.Minute)
	f.queue(bus.Depth{Queue: "front.2", Ready: 40, Unacked: 3}, bus.Depth{Queue: "back.1"},
		bus.Depth{Queue: "back.2", Ready: 7, Unacked: 2}, bus.Depth{Queue: "later.1", Ready: 5},
		bus.Depth{Queue: crawl.TopicFetch, Ready: 12, Unacked: 256, Published: 310.21, Acked: 309.8, Consumers: 2},
		bus.Depth{Queue: crawl.TopicParse + ".retry", Ready: 1, Unacked: 1}, bus.Depth{Queue: "dead", Ready: 1},
		bus.Depth{Queue: "dead", Ready: 1}, bus.Depth{Queue: "frontier.owner"})
	c := f.open(t)
	var b bytes.Buffer
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "cluster.txt", b.String())
	b.Reset()
	j, err := c.Job(t.Context(), fakeJob)
	if err != nil {
		t.Fatal(err)
	}
	one, err := j.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := one.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "job.txt", b.String())
}

func TestAnOpenURLIsWhereItCanBe(t *testing.T) {
	for want, ds := range map[string][]bus.Depth{
		"queued":    {{Queue: "back.7", Ready: 1}},
		"in-flight": {{Queue: crawl.TopicFetch, Unacked: 1}},
		"":          {{Queue: "back.7", Ready: 1}, {Queue: crawl.TopicFetch, Unacked: 1}},
	} {
		f := soundCluster(t)
		f.queue(ds...)
		j, err := f.open(t).Job(t.Context(), fakeJob)
		if err != nil {
			t.Fatal(err)
		}
		e, err := j.Explain(t.Context(), "http://b.test/waits")
		if err != nil || e.Ledger.Where != want || e.Answer == "" {
			t.Errorf("with %+v it is %q, %v; want %q: %s", ds, e.Ledger.Where, err, want, e.Answer)
		}
	}
}

func TestAPageWithoutItsRecordIsExplained(t *testing.T) {
	f := soundCluster(t)
	u := mustURL(t, "http://a.test/copy")
	delete(f.records, u.Key())
	j, err := f.open(t).Job(t.Context(), fakeJob)
	if err != nil {
		t.Fatal(err)
	}
	e, err := j.Explain(t.Context(), u.String())
	if err != nil || e.Fingerprint == nil || e.Fingerprint.DuplicateOf.String() != "http://a.test/" ||
		!strings.Contains(e.Answer, "audit") {
		t.Errorf("explained as %+v, %v", e, err)
	}
}

func TestLettersOfAJobAndThoseThatNobodyCanRead(t *testing.T) {
	f := soundCluster(t)
	other := letter(t, "http://x.test/")
	other.Message.Event.(*crawl.Fetch).Task.Job = otherJob
	f.dead = []bus.Letter{letter(t, "http://d.test/"), other, {Vhost: "v", Body: []byte("???")}}
	c := f.open(t)
	all, err := c.Letters(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	j, err := c.Job(t.Context(), fakeJob)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := j.Letters(t.Context())
	if err != nil || len(mine) != 2 || mine[0].Event != nil || mine[0].Bytes != 3 || mine[1].Job != fakeJob ||
		mine[1].Key != "d.test" {
		t.Errorf("letters of the job %+v, %v", mine, err)
	}
}

// Where the broker does not answer the stores still say how far the jobs are.
func TestAStatusTellsWhatTheStoresSayWithoutTheBroker(t *testing.T) {
	f := soundCluster(t)
	f.silent = errors.New("connection refused")
	c := f.open(t)
	j, err := c.Job(t.Context(), fakeJob)
	if err != nil {
		t.Fatal(err)
	}
	one, errOne := j.Status(t.Context())
	all, errAll := c.Status(t.Context())
	if !errors.Is(errOne, f.silent) || !errors.Is(errAll, f.silent) || one == nil || all == nil {
		t.Fatalf("%v, %v; %v, %v", one, errOne, all, errAll)
	}
	var b bytes.Buffer
	if err := errors.Join(one.WriteText(&b), all.WriteText(&b)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 of 4 URLs are queued or in flight", "JOB"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "QUEUE") {
		t.Errorf("queues that nobody knows are shown:\n%s", b.String())
	}
}

func TestAStatusDoesNotWaitForTheRecordsToBeCounted(t *testing.T) {
	f := soundCluster(t)
	f.uncounted = errors.New("mongodb is busy")
	j, err := f.open(t).Job(t.Context(), fakeJob)
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.WriteText(&b); err != nil ||
		!strings.Contains(b.String(), "the records were not counted: mongodb is busy") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
