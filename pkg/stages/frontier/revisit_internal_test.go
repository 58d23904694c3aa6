package frontier

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/revisitstest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// blank is a ledger in which nothing stands.
type blank struct{ crawl.Ledger }

func (blank) Tally(context.Context, crawl.JobID) (t crawl.Tally, _ error) { return t, nil }

// halves is a ring of two nodes: hosts whose names begin with a are this node's.
type halves struct{}

func (halves) Place(u weburl.URL) Place {
	if u.Hostname()[0] == 'a' {
		return Place{Lease: true, Factor: 1}
	}
	return Place{Node: "other"}
}

// revisitWorld is a frontier with a continuous job whose pages were visited, of two hosts.
func revisitWorld(t *testing.T, ring Ring) (*Frontier, *revisitstest.Memory, *crawl.Job) {
	t.Helper()
	job, m := revisitstest.Job(), revisitstest.Visited(t)
	f, err := New(Default(), Deps{Jobs: crawl.StaticJobs{"j": job}, Revisits: m, Ledger: blank{}, Ring: ring,
		Log: slog.New(slog.DiscardHandler)})
	check(t, err)
	_, err = f.book.Job(job)
	check(t, err)
	return f, m, job
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The task of a lost visit, in whose place another one is made, is dropped where it turns up.
func TestTasksOfLostVisitsAreDropped(t *testing.T) {
	f, m, job := revisitWorld(t, nil)
	lost := m.Sorted()[0]
	lost.Due = time.Time{}
	check(t, m.Put(t.Context(), job.ID, lost))
	if n, err := f.VisitAnew(t.Context(), job.ID, lost.URL); n != 1 || err != nil {
		t.Fatalf("%d pages are due again, %v", n, err)
	}
	for visit, want := range map[int]bool{2: false, 3: false, 4: true} {
		c := &choice{lease: true, fromBuf: true, js: &jobState{job: job}}
		c.delivery.Task = crawl.Task{Job: job.ID, URL: lost.URL, Visit: visit}
		if err := f.run.dropOverdue(t.Context(), job.ID, []*choice{c}); err != nil || c.lease != want {
			t.Errorf("the task of visit %d is leased: %v, %v; want %v", visit, c.lease, err, want)
		}
	}
}

// The task of a page whose content nobody has observed asks for the whole page, whatever it asked for when it was
// queued: the first visit may have been taken back, with its record.
func TestAPageWithoutContentIsAskedForAsAWhole(t *testing.T) {
	f, m, job := revisitWorld(t, nil)
	for i, p := range m.Sorted()[:2] {
		if p.Visits = uint32(i); i == 0 {
			p.State = revisit.State{}
		}
		if err := m.Put(t.Context(), job.ID, p); err != nil {
			t.Fatal(err)
		}
		m.Pages[p.URL.Key()] = p
		c := &choice{lease: true, fromBuf: true, js: &jobState{job: job}}
		c.delivery.Task = crawl.Task{Job: job.ID, URL: p.URL, Visit: 1, ETag: `"e"`, LastModified: "l", Sum: 5}
		if err := f.run.dropOverdue(t.Context(), job.ID, []*choice{c}); err != nil || !c.lease {
			t.Fatalf("leased: %v, %v", c.lease, err)
		}
		got := &c.delivery.Task
		whole := got.ETag == "" && got.LastModified == "" && got.Sum == 0 && got.Restore
		if whole != (i == 0) {
			t.Errorf("after %d observed visits: %+v", i, c.delivery.Task)
		}
	}
}

// What was observed about another node's page goes on to its owner.
func TestObservationsGoToTheOwner(t *testing.T) {
	f, m, job := revisitWorld(t, halves{})
	for _, p := range m.Sorted() {
		if p.URL.Hostname() == "a.test" {
			continue
		}
		out := crawl.Observation(&crawl.Task{Job: job.ID, URL: p.URL, Visit: 3},
			crawl.Observed{What: crawl.ObservedContent, At: time.Now(), Result: revisit.Seen, Sum: 5})
		events, err := f.Outcomes().Handle(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) != 1 || events[0].(*crawl.Outcome).Node != "other" || m.Pages[p.URL.Key()].State != p.State {
			t.Errorf("%s: %+v goes on", p.URL, events)
		}
	}
}

// What is told of another node's pages goes on to it, and of one's own is taken in.
func TestWhatIsToldGoesToTheOwner(t *testing.T) {
	f, m, job := revisitWorld(t, halves{})
	pages := m.Sorted()
	var all []weburl.URL
	for _, p := range pages {
		all = append(all, p.URL)
	}
	told := crawl.Observed{What: crawl.ObservedTold}
	for _, u := range all {
		told.Told = append(told.Told, crawl.PageTold{URL: u, At: pages[0].Last.Add(time.Hour)})
	}
	events, err := f.Outcomes().Handle(t.Context(), crawl.Observation(&crawl.Task{Job: job.ID, URL: all[0]}, told))
	check(t, err)
	if len(events) != 1 || events[0].(*crawl.Outcome).Node != "other" ||
		len(events[0].(*crawl.Outcome).Observed.Told) != 30 {
		t.Fatalf("%+v goes on", events)
	}
	for _, p := range m.Sorted() {
		if own := p.URL.Hostname() == "a.test"; p.IsTold() != own {
			t.Errorf("%s is told of: %v", p.URL, p.IsTold())
		}
	}
}
