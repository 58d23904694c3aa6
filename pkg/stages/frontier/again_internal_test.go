package frontier

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// memory remembers pages between their visits, for several nodes.
type memory struct {
	pages  map[weburl.Key]crawl.Revisit
	habits map[uint64]revisit.Habits
}

func (m *memory) Put(_ context.Context, _ crawl.JobID, rs ...crawl.Revisit) error {
	for _, r := range rs {
		if old, ok := m.pages[r.URL.Key()]; !ok || r.Visits >= old.Visits {
			m.pages[r.URL.Key()] = r
		}
	}
	return nil
}

func (m *memory) States(_ context.Context, _ crawl.JobID, keys ...weburl.Key) (out []revisit.State, _ error) {
	for _, k := range keys {
		out = append(out, m.pages[k].State)
	}
	return out, nil
}

func (m *memory) Due(_ context.Context, _ crawl.JobID, by time.Time, n int,
	mine func(weburl.URL) bool) (out []crawl.Revisit, _ error) {
	for _, r := range m.sorted() {
		if !r.Due.IsZero() && !r.Due.After(by) && (mine == nil || mine(r.URL)) && len(out) < n {
			out = append(out, r)
		}
	}
	return out, nil
}

func (m *memory) EachURL(_ context.Context, _ crawl.JobID, each func(crawl.Revisit) error) error {
	for _, r := range m.sorted() {
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Each(ctx context.Context, job crawl.JobID, each func(weburl.Key, revisit.State) error) error {
	return m.EachURL(ctx, job, func(r crawl.Revisit) error { return each(r.URL.Key(), r.State) })
}

func (m *memory) Habits(_ context.Context, _ crawl.JobID, hosts ...uint64) (out []revisit.Habits, _ error) {
	for _, h := range hosts {
		out = append(out, m.habits[h])
	}
	return out, nil
}

func (m *memory) PutHabits(_ context.Context, _ crawl.JobID, hs ...crawl.HostHabits) error {
	for _, h := range hs {
		m.habits[h.Host] = h.Habits
	}
	return nil
}

func (m *memory) Drop(context.Context, crawl.JobID, ...weburl.Key) error { return nil }

// sorted are the pages of a host together.
func (m *memory) sorted() (out []crawl.Revisit) {
	keys := slices.SortedFunc(maps.Keys(m.pages), func(x, y weburl.Key) int { return bytes.Compare(x[:], y[:]) })
	for _, k := range keys {
		out = append(out, m.pages[k])
	}
	return out
}

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

// againWorld is a frontier with a continuous job whose pages were visited, of two hosts.
func againWorld(t *testing.T, ring Ring) (*Frontier, *memory, *again, *crawl.Job) {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Mode, job.Revisit = "j", crawl.ModeContinuous, crawl.Revisiting{Budget: 960}
	m := &memory{pages: map[weburl.Key]crawl.Revisit{}, habits: map[uint64]revisit.Habits{}}
	f, err := New(Default(), Deps{Jobs: crawl.StaticJobs{"j": &job}, Revisits: m, Ledger: blank{}, Ring: ring,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	for host, pages := range map[string]int{"a.test": 10, "b.test": 30} {
		for i := range pages {
			u, err := weburl.Parse(fmt.Sprintf("http://%s/%d", host, i))
			if err != nil {
				t.Fatal(err)
			}
			s := revisit.State{Visits: 3, Last: now.Add(-24 * time.Hour), Due: now.Add(time.Hour), Rate: revisit.Unknown(),
				Weight: 128}
			m.pages[u.Key()] = crawl.Revisit{URL: u, State: s}
		}
	}
	a, err := f.again.of(&job)
	if err != nil {
		t.Fatal(err)
	}
	return f, m, a, &job
}

// The nodes of a ring share the budget by what their own pages want; a node on its own has all of it.
func TestTheRationIsSharedByWhatPagesWant(t *testing.T) {
	for name, tt := range map[string]struct {
		ring Ring
		want float64
	}{"a node on its own": {nil, 960}, "a node with a quarter of the pages": {halves{}, 240}} {
		t.Run(name, func(t *testing.T) {
			f, _, a, job := againWorld(t, tt.ring)
			f.run.census(t.Context(), job.ID, a)
			if got := a.ration.PerDay; got < tt.want*.999 || got > tt.want*1.001 {
				t.Errorf("%v visits a day, want %v", got, tt.want)
			}
			if d, ok := f.FreshnessDetail(job.ID); !ok || d.Kept != 40 || len(d.Curve) != 1 {
				t.Errorf("figures are of all pages: %+v", d)
			}
			f.Wake()
			if !a.moved && tt.ring != nil {
				t.Error("the ring has changed, and the shares are not counted anew")
			}
		})
	}
}

// A page whose visit was lost is due again, under another number; the lost visit's task is dropped where it turns up,
// and what comes of it late changes nothing.
func TestLostVisitsAreMadeAnew(t *testing.T) {
	f, m, a, job := againWorld(t, nil)
	var lost, due, gone crawl.Revisit
	for _, p := range m.sorted()[:3] {
		switch {
		case lost.URL.IsZero():
			lost = p
			lost.Due = time.Time{}
		case due.URL.IsZero():
			due = p
		default:
			gone = p
			gone.Due, gone.Gone = time.Time{}, true
		}
	}
	if err := m.Put(t.Context(), job.ID, lost, gone); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		if n, err := f.VisitAnew(t.Context(), job.ID, lost.URL, due.URL, gone.URL); n != want || err != nil {
			t.Errorf("%d pages are due again, %v; want %d", n, err, want)
		}
	}
	s := m.pages[lost.URL.Key()].State
	if s.Due.IsZero() || s.Visits != 4 || m.pages[due.URL.Key()].State != due.State ||
		m.pages[gone.URL.Key()].State != gone.State {
		t.Errorf("the lost one: %+v; the others %+v, %+v", s, m.pages[due.URL.Key()].State, m.pages[gone.URL.Key()].State)
	}
	again := a.task(job, &crawl.Revisit{URL: lost.URL, State: s}, &crawl.Entry{State: crawl.StateDone, Visit: 2},
		time.Now())
	if again.Visit != 4 {
		t.Errorf("it is made as visit %d, want 4", again.Visit)
	}
	for visit, want := range map[int]bool{2: false, 3: false, 4: true} {
		c := &choice{lease: true, fromBuf: true, js: &jobState{job: job}}
		c.delivery.Task = crawl.Task{Job: job.ID, URL: lost.URL, Visit: visit}
		if err := f.run.dropOverdue(t.Context(), job.ID, []*choice{c}); err != nil || c.lease != want {
			t.Errorf("the task of visit %d is leased: %v, %v; want %v", visit, c.lease, err, want)
		}
	}
	late := &crawl.Outcome{Task: crawl.Task{Job: job.ID, URL: lost.URL, Visit: 3}, Verdict: crawl.VerdictGone, Status: 410,
		Started: time.Now()}
	if before := s; a.outcome(late, &s, time.Now(), revisit.Calendar{}) || s != before {
		t.Errorf("what came of it late changed %+v to %+v", before, s)
	}
}

// The task of a page whose content nobody has observed asks for the whole page, whatever it asked for when it was
// queued: the first visit may have been taken back, with its record.
func TestAPageWithoutContentIsAskedForAsAWhole(t *testing.T) {
	f, m, _, job := againWorld(t, nil)
	for i, p := range m.sorted()[:2] {
		if p.Visits = uint32(i); i == 0 {
			p.State = revisit.State{}
		}
		if err := m.Put(t.Context(), job.ID, p); err != nil {
			t.Fatal(err)
		}
		m.pages[p.URL.Key()] = p
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

// A page that fails for long is tried less and less often, whatever its host answers: a year of failures takes some
// twenty visits, and what comes back after two days is seen within two more.
func TestWhatFailsForLongIsTriedSeldom(t *testing.T) {
	_, m, a, job := againWorld(t, nil)
	now := time.Now().UTC().Truncate(time.Second)
	p := m.sorted()[0]
	s := p.State
	s.Last, s.Visits, s.Misses = now, 5, 0
	outcome := crawl.Outcome{Verdict: crawl.VerdictDone, Status: 302}
	var tries []time.Duration
	for at := now.Add(24 * time.Hour); at.Sub(now) < 365*24*time.Hour; at = s.Due {
		outcome.Task = crawl.Task{Job: job.ID, URL: p.URL, Visit: int(s.Visits)}
		if !a.outcome(&outcome, &s, at, revisit.Calendar{}) || !s.Due.After(at) {
			t.Fatalf("visit %d: %+v", outcome.Task.Visit, s)
		}
		tries = append(tries, at.Sub(now))
	}
	day := slices.IndexFunc(tries, func(d time.Duration) bool { return d > 48*time.Hour })
	if len(tries) > 25 || tries[day] > 96*time.Hour {
		t.Errorf("%d tries in a year: %v", len(tries), tries)
	}
}

// What was observed about another node's page goes on to its owner.
func TestObservationsGoToTheOwner(t *testing.T) {
	f, m, _, job := againWorld(t, halves{})
	for _, p := range m.sorted() {
		if p.URL.Hostname() == "a.test" {
			continue
		}
		out := crawl.Observation(&crawl.Task{Job: job.ID, URL: p.URL, Visit: 3},
			crawl.Observed{What: crawl.ObservedContent, At: time.Now(), Result: revisit.Seen, Sum: 5})
		events, err := f.Outcomes().Handle(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) != 1 || events[0].(*crawl.Outcome).Node != "other" || m.pages[p.URL.Key()].State != p.State {
			t.Errorf("%s: %+v goes on", p.URL, events)
		}
	}
}

// However fast the calendar is, what comes between two looks is in the bucket; and a slow one has a quarter of an hour.
func TestBurst(t *testing.T) {
	fast := revisit.Calendar{Start: time.Now(), Speed: 43_200} // a day takes 2 s
	for _, tt := range []struct {
		perDay float64
		c      revisit.Calendar
		want   float64
	}{{9600, revisit.Calendar{}, 100}, {10, revisit.Calendar{}, 1}, {100, fast, 50}, {0, fast, 1}} {
		if got := burst(tt.perDay, tt.c); got < tt.want*.99 || got > tt.want*1.01 {
			t.Errorf("%v a day, speed %v: a bucket of %v, want %v", tt.perDay, tt.c.Speed, got, tt.want)
		}
	}
}

// A job that was deleted and begins anew under its name knows nothing of what its former life learned, and what comes
// late of that life does not bring it back. A revision keeps what was learned.
func TestTheNextLifeOfAContinuousJobLearnsAnew(t *testing.T) {
	f, _, first, job := againWorld(t, nil)
	revised, next := *job, *job
	revised.Epoch, revised.Revisit.Budget = 2, 100
	next.Epoch, next.First = 3, 3
	for _, step := range []struct {
		what string
		job  *crawl.Job
		same bool
		none bool
	}{{"a revision", &revised, true, false}, {"the next life", &next, false, false},
		{"what is late of the first", &revised, false, true}, {"the next life again", &next, false, false}} {
		a, err := f.again.of(step.job)
		if err != nil || (a == nil) != step.none || !step.none && (a == first) != step.same {
			t.Errorf("%s: %v, %p; at first %p", step.what, err, a, first)
		}
	}
}
