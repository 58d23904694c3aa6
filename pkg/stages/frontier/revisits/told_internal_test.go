package revisits

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/revisitstest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// trusting is a world in which the lists of a.test are always right, and those of b.test never.
func trusting(t *testing.T) (*Book, *revisitstest.Memory, *Job) {
	b, m, j := world(t, nil)
	for host, signals := range map[string]revisit.Signals{"a.test": {Right: 100}, "b.test": {Wrong: 100}} {
		u, err := weburl.Parse("http://" + host + "/")
		check(t, err)
		m.Learned[uint64(hostOf(u.Key()))] = revisit.Habits{Signals: signals}
	}
	var wants revisit.Demand
	wants.Add(revisit.Unknown(), 1, 40)
	j.plan.PerDay = 2
	j.plan.Level(&wants, nil)
	return b, m, j
}

// toldOf notes what a list, or a link where at is zero, tells of pages.
func toldOf(t *testing.T, j *Job, at time.Time, pages ...weburl.URL) {
	t.Helper()
	told := map[weburl.URL]time.Time{}
	for _, u := range pages {
		told[u] = at
	}
	check(t, j.Told(t.Context(), pages, told))
}

// see has a job observe what the content of a page said.
func see(t *testing.T, j *Job, task crawl.Task, seen crawl.Observed) {
	t.Helper()
	seen.What = crawl.ObservedContent
	_, err := j.Observe(t.Context(), crawl.Observation(&task, seen))
	check(t, err)
}

// A page that was told of before it was known that its host's lists are wrong is put off when its turn comes.
func TestListsThatTurnedOutWrongHurryNothing(t *testing.T) {
	_, m, j := trusting(t)
	for i, p := range m.Sorted() {
		now := time.Now().Add(time.Duration(i) * time.Hour) // each has a turn
		p.State = p.Told(p.Last.Add(time.Hour))
		p.Due = p.Last.Add(time.Hour)
		check(t, j.know(t.Context(), []weburl.URL{p.URL}))
		chosen, off := j.choose([]crawl.Revisit{p}, 1, now, false)
		if trusted := p.URL.Hostname() == "a.test"; (len(chosen) == 1) != trusted || (len(off) == 1) == trusted || !trusted &&
			!off[0].Due.After(now) {
			t.Errorf("%s: taken %d, put off %+v", p.URL, len(chosen), off)
		}
	}
}

// A page is due when a list that can be trusted says that it changed since it was seen; what is old, or yet to be,
// changes nothing, and neither does what comes twice.
func TestListsMovePages(t *testing.T) {
	_, m, j := trusting(t)
	pages := m.Sorted()
	var told, other crawl.Revisit
	for _, p := range pages {
		if p.URL.Hostname() == "a.test" {
			told = p
		} else {
			other = p
		}
	}
	later := time.Now().Add(90 * 24 * time.Hour)
	for _, p := range []crawl.Revisit{told, other} { // both are due in three months
		p.Due = later.UTC().Truncate(time.Second)
		check(t, m.Put(t.Context(), "j", p))
	}
	state := func(p crawl.Revisit) revisit.State { return m.Pages[p.URL.Key()].State }
	for what, at := range map[string]time.Time{"older than the last look": told.Last.Add(-time.Hour),
		"yet to be": time.Now().Add(time.Hour), "a link": {}} {
		before := state(told)
		if toldOf(t, j, at, told.URL, other.URL); state(told) != before {
			t.Errorf("%s: %+v became %+v", what, before, state(told))
		}
	}
	at := told.Last.Add(time.Hour)
	toldOf(t, j, at, told.URL, other.URL)
	if s := state(told); s.Due.After(time.Now()) || !s.Signal.Equal(at) {
		t.Errorf("due %v, told of %v", s.Due, s.Signal)
	}
	if s := state(other); !s.IsTold() || s.Due.Before(told.Last.Add(24*time.Hour)) {
		t.Errorf("a host whose lists are never right hurries a page: %+v", s)
	}
	once := state(told)
	toldOf(t, j, at, told.URL)
	toldOf(t, j, at.Add(time.Minute), told.URL)
	if state(told) != once {
		t.Errorf("told again it became %+v", state(told))
	}
}

// A page whose visit is under way is not due besides; a visit from before the word leaves the word standing.
func TestListsTellOfPagesUnderWay(t *testing.T) {
	_, m, j := trusting(t)
	p := m.Sorted()[0]
	p.Due = time.Time{}
	check(t, m.Put(t.Context(), "j", p))
	at := time.Now().Add(-time.Minute).UTC().Truncate(time.Second)
	toldOf(t, j, at, p.URL)
	if s := m.Pages[p.URL.Key()].State; !s.Due.IsZero() || !s.Signal.Equal(at) {
		t.Errorf("%+v", s)
	}
	see(t, j, crawl.Task{Job: "j", URL: p.URL, Visit: 3}, crawl.Observed{At: at.Add(-time.Minute), Sum: 5})
	if s := m.Pages[p.URL.Key()].State; !s.IsTold() || s.Visits != 4 {
		t.Errorf("after a visit from before: %+v", s)
	}
}

// A page that is gone is looked for once more when a list says that it changed, or a link leads to it and that was not
// tried for long.
func TestPagesThatAreGoneAreLookedForAgain(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	for name, c := range map[string]struct {
		missed time.Duration // since
		at     time.Duration // of the list's word, before now; 0: a link
		want   bool
	}{
		"a link, and it was missing yesterday":      {24 * time.Hour, 0, false},
		"a link, after long":                        {31 * 24 * time.Hour, 0, true},
		"a link, after a clock that was ahead":      {-24 * time.Hour, 0, true},
		"a list says that it came back":             {24 * time.Hour, time.Hour, true},
		"a list that speaks of before it was gone":  {24 * time.Hour, 48 * time.Hour, false},
		"a list that speaks of when it was missing": {24 * time.Hour, 24 * time.Hour, false},
	} {
		_, m, j := trusting(t)
		p := m.Sorted()[0]
		p.Due, p.Gone, p.Misses, p.Signal = time.Time{}, true, 3, now.Add(-c.missed)
		check(t, m.Put(t.Context(), "j", p))
		at := time.Time{}
		if c.at > 0 {
			at = now.Add(-c.at)
		}
		toldOf(t, j, at, p.URL)
		s := m.Pages[p.URL.Key()].State
		if s.Due.IsZero() == c.want {
			t.Errorf("%s: due %v, want %v", name, s.Due, c.want)
		}
		if !c.want {
			continue
		}
		missing := &crawl.Outcome{Task: crawl.Task{Job: "j", URL: p.URL, Visit: 3}, Verdict: crawl.VerdictGone,
			Status: 404, Started: now}
		if j.outcome(missing, &s, now); !s.Gone || !s.Due.IsZero() || !s.Signal.Equal(now) {
			t.Errorf("%s: missing again: %+v", name, s)
		}
	}
}

// What was learned of a host outlives the process, is given up when the ring changes, and is read where it is needed.
func TestHabitsAreStored(t *testing.T) {
	_, m, j := trusting(t)
	p := m.Sorted()[0]
	toldOf(t, j, p.Last.Add(time.Hour), p.URL)
	p.Sum = 4
	m.Pages[p.URL.Key()] = crawl.Revisit{URL: p.URL,
		State: func() revisit.State { s := m.Pages[p.URL.Key()].State; s.Sum = 4; return s }()}
	for range 2 { // it may be told twice
		see(t, j, crawl.Task{Job: "j", URL: p.URL, Visit: 3}, crawl.Observed{At: time.Now(), Sum: 5, Date: crawl.DateMoved})
	}
	h := uint64(hostOf(p.URL.Key()))
	before := m.Learned[h]
	check(t, j.saveHabits(t.Context(), true))
	after := m.Learned[h]
	if after.Signals.Right+after.Signals.Wrong < before.Signals.Right+.5 || after.Dated != 1 || len(j.learned) != 0 {
		t.Errorf("%+v became %+v; %d hosts are held", before.Signals, after, len(j.learned))
	}
	check(t, j.know(t.Context(), []weburl.URL{p.URL}))
	if j.learned[hostID(h)].Habits != after {
		t.Errorf("read as %+v", j.learned[hostID(h)].Habits)
	}
}

// A list weighs what the changes that it tells of weigh.
func TestListsWeighWhatTheyTellOf(t *testing.T) {
	_, m, j := trusting(t)
	u, err := weburl.Parse("http://a.test/sitemap.xml")
	if err != nil {
		t.Fatal(err)
	}
	task := crawl.Task{Job: "j", URL: u, Kind: crawl.KindSitemap, Seed: false}
	out := &crawl.Outcome{Task: task, Verdict: crawl.VerdictDone, Status: 200, Started: time.Now(), Ended: time.Now()}
	if _, err := j.NoteVisits(t.Context(), []*crawl.Outcome{out}); err != nil {
		t.Fatal(err)
	}
	weigh := func(visit, lists int) float64 {
		task.Visit = visit
		see(t, j, task, crawl.Observed{At: time.Now(), Sum: 5, Lists: lists})
		return revisit.OctetWeight(m.Pages[u.Key()].Weight)
	}
	if w := weigh(0, 400); w < 350 || w > 420 {
		t.Errorf("a list of 400 pages weighs %v", w)
	}
	task.Visit = 1
	out.Task = task
	if _, err := j.NoteVisits(t.Context(), []*crawl.Outcome{out}); err != nil ||
		revisit.OctetWeight(m.Pages[u.Key()].Weight) < 350 {
		t.Errorf("an outcome makes it weigh %v: %v", revisit.OctetWeight(m.Pages[u.Key()].Weight), err)
	}
	if w := weigh(1, 0); w < .9 || w > 1.1 {
		t.Errorf("an empty list weighs %v", w)
	}
}

// A page that robots.txt has come to forbid is withdrawn, though nobody asked its host.
func TestAPageThatMayNotBeFetchedAnyMoreIsWithdrawn(t *testing.T) {
	asked := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, started := range []time.Time{{}, asked} {
		out := &crawl.Outcome{Task: crawl.Task{Kind: crawl.KindPage, Visit: 1}, Verdict: crawl.VerdictBlocked,
			Reason: crawl.ReasonRobots, Started: started}
		m := markOf(out, &revisit.State{Visits: 2, Flags: revisit.Flags{Withdrawn: true}})
		if m == nil || m.WithdrawnAt.IsZero() || !started.IsZero() && !m.WithdrawnAt.Equal(started) {
			t.Errorf("asked at %v: marked %+v", started, m)
		}
	}
}

// A page that leads elsewhere for good is marked with where it leads, and one that leads to itself is not.
func TestAPageThatMovedIsMarked(t *testing.T) {
	u, err := weburl.Parse("http://a.test/old")
	check(t, err)
	there, err := weburl.Parse("http://a.test/new")
	check(t, err)
	for _, c := range []struct {
		status int
		to     weburl.URL
		marked bool
	}{{301, there, true}, {308, there, true}, {302, there, false}, {301, u, false}, {301, weburl.URL{}, false}} {
		out := &crawl.Outcome{Task: crawl.Task{URL: u, Kind: crawl.KindPage, Visit: 1}, Verdict: crawl.VerdictDone,
			Status: c.status, Location: c.to}
		m := markOf(out, &revisit.State{Visits: 2})
		if (m != nil) != c.marked || m != nil && *m.MovedTo != there {
			t.Errorf("%d to %s: marked %+v", c.status, c.to, m)
		}
	}
}
