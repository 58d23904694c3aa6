package report

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// fakeCluster is a cluster in memory: every source of a Cluster.
type fakeCluster struct {
	jobs      []crawl.JobInfo
	rows      map[crawl.JobID]map[weburl.Key]crawl.LedgerRow
	off       map[crawl.JobID]int64 // by which the counter of claimed URLs is wrong
	prints    map[weburl.Key]crawl.StoredFingerprint
	records   map[weburl.Key]weburl.URL
	damaged   map[weburl.Key]bool
	missing   []crawl.Task // pages that have not come to their end
	depths    func() []bus.Depth
	dead      []bus.Letter
	alarms    []bus.Alarm
	policies  []bus.QueuePolicy
	broken    bool  // the walks are out of order
	uncounted error // of the page store when it is to count
	silent    error // of the broker when its queues are asked for

	ring  func(context.Context) (*Ring, error)
	looks fakeLooks
	view  *Cluster // that open returned
}

const (
	fakeJob  = crawl.JobID("one")
	otherJob = crawl.JobID("two")
)

var fakeNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func mustURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// soundCluster has two jobs. The first has an original with a copy, a page that is not indexed, a URL that waits and
// one left out.
func soundCluster(t testing.TB) *fakeCluster {
	f := &fakeCluster{rows: map[crawl.JobID]map[weburl.Key]crawl.LedgerRow{fakeJob: {}, otherJob: {}},
		off: map[crawl.JobID]int64{}, prints: map[weburl.Key]crawl.StoredFingerprint{}, records: map[weburl.Key]weburl.URL{}}
	for i, id := range []crawl.JobID{fakeJob, otherJob} {
		spec := crawl.DefaultJob()
		spec.ID, spec.Seeds, spec.Scope = id, []string{"http://a.test/"}, crawl.ScopeAny
		f.jobs = append(f.jobs, crawl.JobInfo{ID: id, Number: int32(i + 1), State: crawl.JobRunning, Job: &spec,
			Created: fakeNow.Add(-time.Hour)})
	}
	f.jobs = append(f.jobs, crawl.JobInfo{ID: "unsubmitted"})
	page := func(raw string, of string) {
		u := mustURL(t, raw)
		f.put(fakeJob, u, crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200})
		p := crawl.StoredFingerprint{URL: u, At: fakeNow.Add(-time.Minute)}
		if of != "" {
			p.Sameness, p.Of = crawl.ExactCopy, mustURL(t, of)
		}
		f.prints[u.Key()], f.records[u.Key()] = p, u
	}
	page("http://a.test/", "")
	page("http://a.test/copy", "http://a.test/")
	f.put(fakeJob, mustURL(t, "http://a.test/noindex"),
		crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200})
	f.keepNot(mustURL(t, "http://a.test/noindex"), crawl.ReasonNoIndex)
	f.put(fakeJob, mustURL(t, "http://b.test/waits"), crawl.Entry{State: crawl.StateOpen})
	f.put(fakeJob, mustURL(t, "http://c.test/"),
		crawl.Entry{State: crawl.StateExcluded, Verdict: crawl.VerdictExcluded, Reason: "scope"})
	f.queue(bus.Depth{Queue: "back.7", Ready: 1}, bus.Depth{Queue: "frontier.owner"})
	return f
}

func (f *fakeCluster) put(job crawl.JobID, u weburl.URL, e crawl.Entry) {
	e.Key = u.Key()
	f.rows[job][e.Key] = crawl.LedgerRow{Entry: e, URL: u}
}

// keepNot notes why a page has no record.
func (f *fakeCluster) keepNot(u weburl.URL, reason string) {
	row := f.rows[fakeJob][u.Key()]
	row.Unkept = reason
	f.rows[fakeJob][u.Key()] = row
}

// vanish makes a page that was fetched and has neither record nor reason.
func (f *fakeCluster) vanish(u weburl.URL, age time.Duration) {
	f.put(fakeJob, u, crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200, At: fakeNow.Add(-age)})
}

func (f *fakeCluster) queue(ds ...bus.Depth) { f.depths = func() []bus.Depth { return ds } }

// open returns the view of the cluster.
func (f *fakeCluster) open(t testing.TB) *Cluster {
	t.Helper()
	c, err := NewCluster(ClusterSources{Name: "fake", Jobs: fakeJobs{f}, Ledger: fakeLedger{f},
		Fingerprints: fakePrints{f}, Hosts: fakeHosts{}, Robots: fakeHosts{}, Attempts: fakeHosts{}, Broker: fakeBroker{f},
		Ring: f.ring, Following: f, Unkept: fakeUnkept{f}, Looks: f,
		Records: func(crawl.JobID) Records { return fakeRecords{f} }})
	if err != nil {
		t.Fatal(err)
	}
	c.now = func() time.Time { return fakeNow }
	c.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	f.view = c
	return c
}

// inOrder yields the values under keys in the order of the keys.
func inOrder[T any](f *fakeCluster, m map[weburl.Key]T, yield func(weburl.Key, T) error) error {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b weburl.Key) int { return bytes.Compare(a[:], b[:]) })
	if f.broken {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if err := yield(k, m[k]); err != nil {
			return err
		}
	}
	return nil
}

type fakeJobs struct{ f *fakeCluster }

func (j fakeJobs) List(context.Context) ([]crawl.JobInfo, error) { return j.f.jobs, nil }

type fakeLedger struct{ f *fakeCluster }

func (fakeLedger) Finish(context.Context, crawl.JobID, ...crawl.Entry) error {
	panic("it is read only")
}
func (fakeLedger) Reopen(context.Context, crawl.JobID, ...weburl.Key) error { panic("it is read only") }
func (l fakeLedger) Entries(_ context.Context, job crawl.JobID, each func(crawl.LedgerRow) error) error {
	return inOrder(l.f, l.f.rows[job], func(_ weburl.Key, r crawl.LedgerRow) error { return each(r) })
}

func (l fakeLedger) Lookup(_ context.Context, job crawl.JobID, keys ...weburl.Key) ([]crawl.Entry, error) {
	out := make([]crawl.Entry, len(keys))
	for i, k := range keys {
		out[i] = l.f.rows[job][k].Entry
	}
	return out, nil
}

func (l fakeLedger) Tally(_ context.Context, job crawl.JobID) (crawl.Tally, error) {
	t := crawl.Tally{Verdicts: map[string]int64{}, Statuses: map[int]int64{}, Excluded: map[string]int64{},
		Claimed: l.f.off[job]}
	for _, r := range l.f.rows[job] {
		switch r.State {
		case crawl.StateExcluded:
			t.Excluded[r.Reason]++
			continue
		case crawl.StateDone:
			t.Verdicts[r.Verdict.String()]++
			t.Statuses[r.Status]++
			t.Pages++
		}
		t.Claimed++
	}
	return t, nil
}

func (l fakeLedger) Recount(ctx context.Context, job crawl.JobID) (counted, stood crawl.Tally, err error) {
	counted, _ = l.Tally(ctx, job)
	counted.Claimed -= l.f.off[job]
	stood, err = l.Tally(ctx, job)
	return counted, stood, err
}

type fakePrints struct{ f *fakeCluster }

func (p fakePrints) Fingerprint(_ context.Context, _ crawl.JobID, k weburl.Key) (crawl.StoredFingerprint, bool, error) {
	f, ok := p.f.prints[k]
	return f, ok, nil
}

func (p fakePrints) Each(_ context.Context, _ crawl.JobID, each func(weburl.Key, crawl.StoredFingerprint) error) error {
	return inOrder(p.f, p.f.prints, each)
}

type fakeRecords struct{ f *fakeCluster }

func (r fakeRecords) PageLine(_ context.Context, k weburl.Key) ([]byte, bool, error) {
	_, ok := r.f.records[k]
	return []byte(`{}`), ok, nil
}
func (r fakeRecords) Count(context.Context) (int64, error) {
	return int64(len(r.f.records)), r.f.uncounted
}
func (r fakeRecords) Heads(_ context.Context, yield func(weburl.Key, crawl.RecordHead) error) error {
	return inOrder(r.f, r.f.records, func(k weburl.Key, u weburl.URL) error {
		return yield(k, crawl.RecordHead{URL: u, Damaged: r.f.damaged[k]})
	})
}

// Missing implements Following.
func (f *fakeCluster) Missing(_ context.Context, job crawl.JobID, _ time.Time, each func(crawl.Task) error) error {
	for _, t := range f.missing {
		if t.Job == job {
			if err := each(t); err != nil {
				return err
			}
		}
	}
	return nil
}

type fakeUnkept struct{ f *fakeCluster }

func (fakeUnkept) Note(context.Context, crawl.JobID, weburl.URL, string) error {
	panic("it is read only")
}
func (u fakeUnkept) Reasons(_ context.Context, job crawl.JobID, keys ...weburl.Key) ([]string, error) {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = u.f.rows[job][k].Unkept
	}
	return out, nil
}

type fakeBroker struct{ f *fakeCluster }

func (b fakeBroker) Depths(context.Context) ([]bus.Depth, error)     { return b.f.depths(), b.f.silent }
func (b fakeBroker) Dead(context.Context, int) ([]bus.Letter, error) { return b.f.dead, nil }
func (b fakeBroker) Programs(context.Context) ([]bus.Program, error) {
	return []bus.Program{{Name: "due", Host: "10.0.0.1"}, {Name: "parser", Host: "10.0.0.1"},
		{Name: "due", Host: "10.0.0.2"}}, nil
}

func (b fakeBroker) Alarms(context.Context) ([]bus.Alarm, error)         { return b.f.alarms, nil }
func (b fakeBroker) Policies(context.Context) ([]bus.QueuePolicy, error) { return b.f.policies, nil }

type fakeHosts struct{}

func (fakeHosts) Hosts(_ context.Context, keys ...string) ([]crawl.Host, error) {
	return make([]crawl.Host, len(keys)), nil
}
func (fakeHosts) PutHosts(context.Context, ...crawl.Host) error { panic("it is read only") }
func (fakeHosts) Count(context.Context) (int64, error)          { return 3, nil }
func (fakeHosts) Robots(context.Context, string) (crawl.Robots, bool, error) {
	return crawl.Robots{}, false, nil
}
func (fakeHosts) PutRobots(context.Context, crawl.Robots) error { panic("it is read only") }
func (fakeHosts) Attempts(_ context.Context, _ crawl.JobID, _ weburl.Key, limit int) ([]crawl.LogLine, error) {
	return make([]crawl.LogLine, 0, limit), nil
}
