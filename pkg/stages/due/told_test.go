package due_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/due"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// visits are what is remembered of pages between visits; looked counts those that were asked about.
type visits struct {
	crawl.Revisits
	states map[string]revisit.State
	looked int
}

func (v *visits) States(_ context.Context, _ crawl.JobID, keys ...weburl.Key) ([]revisit.State, error) {
	out := make([]revisit.State, len(keys))
	for i, k := range keys {
		for raw, s := range v.states {
			if u, err := weburl.Parse(raw); err == nil && u.Key() == k {
				out[i] = s
			}
		}
	}
	v.looked += len(keys)
	return out, nil
}

// tellers is a DUE that knows some pages, which were seen at noon.
func tellers(t *testing.T, mode crawl.JobMode) (h *due.Handler, v *visits, noon time.Time) {
	t.Helper()
	noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	job := crawl.DefaultJob()
	job.ID, job.Mode = "j", mode
	m := newMemory()
	v = &visits{states: map[string]revisit.State{"http://a.test/seen": {Visits: 1, Last: noon},
		"http://a.test/gone": {Visits: 4, Last: noon, Flags: revisit.Flags{Gone: true}}}}
	h = due.New(due.Deps{URLs: m, Ledger: m, Budgets: m, Attempts: m, Jobs: crawl.StaticJobs{"j": &job}, CacheBits: 20,
		Revisits: v})
	for i, raw := range []string{"http://a.test/seen", "http://a.test/gone", "http://a.test/waits"} {
		m.claims[parse(t, raw).Key()] = crawl.VisitID("j", crawl.KindPage, parse(t, raw).Key(), i+1)
	}
	return h, v, noon
}

func parse(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// toldIn are the pages that events tell of, with the time.
func toldIn(t *testing.T, events []crawl.Event) (told map[string]time.Time) {
	t.Helper()
	told = map[string]time.Time{}
	for _, e := range events {
		switch e := e.(type) {
		case *crawl.Outcome:
			if e.Observed.What != crawl.ObservedTold {
				t.Errorf("%+v", e.Observed)
			}
			for _, p := range e.Observed.Told {
				told[p.URL.String()] = p.At
			}
		case *crawl.Fresh:
			for i := range e.Tasks {
				if !e.Tasks[i].Told.IsZero() {
					t.Errorf("the task of %s still has what was told of it", e.Tasks[i].URL)
				}
			}
		}
	}
	return told
}

// What a list says of a page that was seen before is told to the frontier, and so is a link to a page that is gone.
// What is old, of new pages, or in a job that visits its pages once is not.
func TestKnownPagesAreToldOf(t *testing.T) {
	for name, c := range map[string]struct {
		mode crawl.JobMode
		url  string
		at   time.Duration // after noon; 0: a link
		want bool
	}{
		"a list, of a later change":       {crawl.ModeContinuous, "http://a.test/seen", time.Hour, true},
		"a list, of what was seen":        {crawl.ModeContinuous, "http://a.test/seen", -time.Hour, false},
		"a list, of a page that waits":    {crawl.ModeContinuous, "http://a.test/waits", time.Hour, false},
		"a list, of a new page":           {crawl.ModeContinuous, "http://a.test/new", time.Hour, false},
		"a link to a page":                {crawl.ModeContinuous, "http://a.test/seen", 0, false},
		"a link to one that is gone":      {crawl.ModeContinuous, "http://a.test/gone", 0, true},
		"a list, of one that is gone":     {crawl.ModeContinuous, "http://a.test/gone", time.Hour, true},
		"once: a list of a later change":  {crawl.ModeOnce, "http://a.test/seen", time.Hour, false},
		"once: a link to one that's gone": {crawl.ModeOnce, "http://a.test/gone", 0, false},
	} {
		h, v, noon := tellers(t, c.mode)
		task := crawl.Task{Job: "j", URL: parse(t, c.url)}
		if c.at != 0 {
			task.Told = noon.Add(c.at)
		}
		for range 2 { // the second time the DUE's cache knows it
			events, err := h.Handle(t.Context(), &crawl.Claim{Batch: crawl.Batch{Job: "j", Tasks: []crawl.Task{task}}})
			if err != nil {
				t.Fatal(err)
			}
			if at, told := toldIn(t, events)[c.url]; told != c.want || told && !at.Equal(task.Told) {
				t.Errorf("%s: told %v of %v, want %v", name, told, at, c.want)
			}
		}
		if c.mode == crawl.ModeOnce && v.looked > 0 {
			t.Errorf("%s: %d pages were looked up", name, v.looked)
		}
	}
}

// The links of a menu are looked up once, and not with each page; what a list says is looked up each time.
func TestLinksAreLookedUpOnceInAWhile(t *testing.T) {
	h, v, noon := tellers(t, crawl.ModeContinuous)
	for range 20 {
		if _, err := h.Handle(t.Context(), &crawl.Claim{Batch: crawl.Batch{Job: "j",
			Tasks: []crawl.Task{{Job: "j", URL: parse(t, "http://a.test/seen")}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if v.looked != 1 {
		t.Errorf("a link was looked up %d times", v.looked)
	}
	for range 20 {
		tasks := []crawl.Task{{Job: "j", URL: parse(t, "http://a.test/seen"), Told: noon}}
		if _, err := h.Handle(t.Context(), &crawl.Claim{Batch: crawl.Batch{Job: "j", Tasks: tasks}}); err != nil {
			t.Fatal(err)
		}
	}
	if v.looked != 21 {
		t.Errorf("%d look-ups, want 21", v.looked)
	}
}

// A long list is told in events of bounded size.
func TestLongListsAreToldInParts(t *testing.T) {
	h, v, noon := tellers(t, crawl.ModeContinuous)
	var tasks []crawl.Task
	for i := range 1200 {
		u := fmt.Sprintf("http://a.test/%d", i)
		tasks = append(tasks, crawl.Task{Job: "j", URL: parse(t, u), Told: noon.Add(time.Hour)})
	}
	if _, err := h.Handle(t.Context(), &crawl.Claim{Batch: crawl.Batch{Job: "j", Tasks: tasks}}); err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		v.states[task.URL.String()] = revisit.State{Visits: 1, Last: noon}
	}
	events, err := h.Handle(t.Context(), &crawl.Claim{Batch: crawl.Batch{Job: "j", Tasks: tasks}})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range events {
		if out, ok := e.(*crawl.Outcome); ok {
			told += len(out.Observed.Told)
			if len(out.Observed.Told) > 500 {
				t.Errorf("an event tells of %d pages", len(out.Observed.Told))
			}
		}
	}
	if told != 1200 {
		t.Errorf("%d pages were told of", told)
	}
}
