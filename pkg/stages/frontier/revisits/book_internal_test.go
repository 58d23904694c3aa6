package revisits

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/revisitstest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// world is a book with a continuous job whose pages were visited, of two hosts. owns is nil for a node on its own.
func world(t *testing.T, owns func(weburl.URL) bool) (*Book, *revisitstest.Memory, *Job) {
	t.Helper()
	m := revisitstest.Visited(t)
	b := New(Config{Store: m, Owns: owns, Wake: func() {}, Log: slog.New(slog.DiscardHandler)})
	j, err := b.Job(revisitstest.Job())
	check(t, err)
	return b, m, j
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// half is a ring of two nodes: hosts whose names begin with a are this node's.
func half(u weburl.URL) bool { return u.Hostname()[0] == 'a' }

// The nodes of a ring share the budget by what their own pages want; a node on its own has all of it.
func TestTheRationIsSharedByWhatPagesWant(t *testing.T) {
	for name, tt := range map[string]struct {
		owns func(weburl.URL) bool
		want float64
	}{"a node on its own": {nil, 960}, "a node with a quarter of the pages": {half, 240}} {
		t.Run(name, func(t *testing.T) {
			b, _, j := world(t, tt.owns)
			j.census(t.Context())
			if got := j.ration.PerDay; got < tt.want*.999 || got > tt.want*1.001 {
				t.Errorf("%v visits a day, want %v", got, tt.want)
			}
			if d, ok := b.Freshness("j"); !ok || d.Kept != 40 || len(d.Curve) != 1 {
				t.Errorf("figures are of all pages: %+v", d)
			}
			b.RingChanged()
			if !j.moved {
				t.Error("the ring has changed, and the shares are not counted anew")
			}
		})
	}
}

// A page whose visit was lost is due again, under another number, and what comes of it late changes nothing.
func TestLostVisitsAreMadeAnew(t *testing.T) {
	b, m, j := world(t, nil)
	var lost, due, gone crawl.Revisit
	for _, p := range m.Sorted()[:3] {
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
	if err := m.Put(t.Context(), "j", lost, gone); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		if n, err := b.VisitAnew(t.Context(), "j", lost.URL, due.URL, gone.URL); n != want || err != nil {
			t.Errorf("%d pages are due again, %v; want %d", n, err, want)
		}
	}
	s := m.Pages[lost.URL.Key()].State
	if s.Due.IsZero() || s.Visits != 4 || m.Pages[due.URL.Key()].State != due.State ||
		m.Pages[gone.URL.Key()].State != gone.State {
		t.Errorf("the lost one: %+v; the others %+v, %+v", s, m.Pages[due.URL.Key()].State, m.Pages[gone.URL.Key()].State)
	}
	next := j.task(j.Revision(), &crawl.Revisit{URL: lost.URL, State: s}, &crawl.Entry{State: crawl.StateDone, Visit: 2},
		time.Now())
	if next.Visit != 4 {
		t.Errorf("it is made as visit %d, want 4", next.Visit)
	}
	late := &crawl.Outcome{Task: crawl.Task{Job: "j", URL: lost.URL, Visit: 3}, Verdict: crawl.VerdictGone, Status: 410,
		Started: time.Now()}
	if before := s; j.outcome(late, &s, time.Now()) || s != before {
		t.Errorf("what came of it late changed %+v to %+v", before, s)
	}
}

// A page that fails for long is tried less and less often, whatever its host answers: a year of failures takes some
// twenty visits, and what comes back after two days is seen within two more.
func TestWhatFailsForLongIsTriedSeldom(t *testing.T) {
	_, m, j := world(t, nil)
	now := time.Now().UTC().Truncate(time.Second)
	p := m.Sorted()[0]
	s := p.State
	s.Last, s.Visits, s.Misses = now, 5, 0
	outcome := crawl.Outcome{Verdict: crawl.VerdictDone, Status: 302}
	var tries []time.Duration
	for at := now.Add(24 * time.Hour); at.Sub(now) < 365*24*time.Hour; at = s.Due {
		outcome.Task = crawl.Task{Job: "j", URL: p.URL, Visit: int(s.Visits)}
		if !j.outcome(&outcome, &s, at) || !s.Due.After(at) {
			t.Fatalf("visit %d: %+v", outcome.Task.Visit, s)
		}
		tries = append(tries, at.Sub(now))
	}
	day := slices.IndexFunc(tries, func(d time.Duration) bool { return d > 48*time.Hour })
	if len(tries) > 25 || tries[day] > 96*time.Hour {
		t.Errorf("%d tries in a year: %v", len(tries), tries)
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
	b, _, first := world(t, nil)
	job := first.Revision()
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
		j, err := b.Job(step.job)
		if err != nil || (j == nil) != step.none || !step.none && (j == first) != step.same {
			t.Errorf("%s: %v, %p; at first %p", step.what, err, j, first)
		}
	}
}
