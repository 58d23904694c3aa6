package frontier

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// book is a ledger in memory.
type book struct {
	crawl.Ledger
	entries map[weburl.Key]crawl.Entry
}

func (b *book) Lookup(_ context.Context, _ crawl.JobID, keys ...weburl.Key) (out []crawl.Entry, _ error) {
	for _, k := range keys {
		e := b.entries[k]
		e.Key = k
		out = append(out, e)
	}
	return out, nil
}

func (b *book) Finish(_ context.Context, _ crawl.JobID, entries ...crawl.Entry) error {
	for i := range entries {
		if e := entries[i]; e.Visit >= b.entries[e.Key].Visit {
			b.entries[e.Key] = e
		}
	}
	return nil
}

func (b *book) Tally(context.Context, crawl.JobID) (t crawl.Tally, _ error) { return t, nil }

// What was fetched before a job was continuous is visited again: what is this node's, was visited, and is not to be
// visited otherwise; told twice it is remembered once.
func TestRemember(t *testing.T) {
	had := time.Now().Add(-48 * time.Hour).UTC().Truncate(time.Second)
	done := func(status int, visit uint32) crawl.Entry {
		return crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: status, Visit: visit, At: had}
	}
	kept := done(200, 3)
	kept.Again = &crawl.Task{Redirects: 1, Depth: 3}
	gone := crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictGone, Status: 404, At: had}
	for name, tt := range map[string]struct {
		host  string
		entry crawl.Entry
		seed  bool
		state revisit.State
		want  int
	}{
		"a page":                  {"a.test", done(200, 0), false, revisit.State{}, 1},
		"another node's page":     {"b.test", done(200, 0), false, revisit.State{}, 0},
		"a page that was missing": {"a.test", gone, false, revisit.State{}, 0},
		"a seed that was missing": {"a.test", gone, true, revisit.State{}, 1},
		"a page under way":        {"a.test", crawl.Entry{State: crawl.StateOpen}, false, revisit.State{}, 0},
		"a page that is due": {"a.test", done(200, 0), false,
			revisit.State{Visits: 1, Due: had, Last: had, Weight: 128}, 0},
		"a page whose visit is queued": {"a.test", done(200, 2), false,
			revisit.State{Visits: 3, Last: had, Weight: 128}, 0},
		"a page whose last visit was not noted": {"a.test", done(200, 3), false,
			revisit.State{Visits: 3, Last: had, Weight: 128}, 1},
		"a page that is gone": {"a.test", done(200, 3), false,
			revisit.State{Visits: 3, Last: had, Weight: 128, Flags: revisit.Flags{Gone: true}}, 0},
		"a page with visits of which nothing is remembered": {"a.test", done(200, 3), false, revisit.State{}, 1},
		"a page that is not wanted any more":                {"a.test", done(200, 3), false, revisit.State{}, 0},
		"a page with one visit that is not wanted any more": {"a.test", done(200, 0), false, revisit.State{}, 1},
		"a page that is wanted by its kept task":            {"a.test", kept, false, revisit.State{}, 1},
		"a remembered page that is not wanted any more": {"a.test", done(200, 3), false,
			revisit.State{Visits: 3, Last: had, Weight: 128}, 1},
		"a page that the job turned out not want": {"a.test", crawl.Entry{State: crawl.StateDone,
			Verdict: crawl.VerdictExcluded}, true, revisit.State{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f, m, job := revisitWorld(t, halves{})
			f.deps.Judge = func(_ *crawl.Job, t *crawl.Task) (reason, rule string, err error) {
				if strings.Contains(name, "wanted") && t.Redirects == 0 {
					reason = "pattern"
				}
				return reason, "", nil
			}
			u, err := weburl.Parse("http://" + tt.host + "/x")
			check(t, err)
			b := &book{entries: map[weburl.Key]crawl.Entry{u.Key(): tt.entry}}
			f.deps.Ledger = b
			if tt.state != (revisit.State{}) {
				m.Pages[u.Key()] = crawl.Revisit{URL: u, State: tt.state}
			}
			task := crawl.Task{Job: job.ID, URL: u, Depth: 3, Sum: 7, Seed: tt.seed, Repeat: true, Lease: 9}
			for _, want := range []int{tt.want, 0} {
				if n, err := f.Remember(t.Context(), job.ID, []crawl.Task{task}); n != want || err != nil {
					t.Fatalf("%d pages are visited again, %v; want %d", n, err, want)
				}
			}
			s, e := m.Pages[u.Key()].State, b.entries[u.Key()]
			switch {
			case tt.want == 0 && s != tt.state:
				t.Errorf("it is remembered as %+v, want %+v", s, tt.state)
			case tt.want == 0:
			case s.Due.IsZero() || s.Visits == 0 || s.Visits < tt.entry.Visit:
				t.Errorf("its next visit is not due: %+v", s)
			case tt.state == (revisit.State{}) && tt.entry.Verdict == crawl.VerdictDone &&
				(s.Sum != 7 || !s.Last.Equal(had) || e.Again == nil || e.Again.Depth != 3 || e.Again.Lease != 0):
				t.Errorf("it is remembered as %+v, with the task %+v", s, e.Again)
			}
		})
	}
}

// Pages that are remembered are due one after the other, and those of a job that is not continuous not at all.
func TestRememberedPagesComeByTheRation(t *testing.T) {
	f, m, job := revisitWorld(t, nil)
	b := &book{entries: map[weburl.Key]crawl.Entry{}}
	f.deps.Ledger = b
	tasks := make([]crawl.Task, 10)
	for i := range tasks {
		u, err := weburl.Parse(fmt.Sprintf("http://c.test/%d", i))
		check(t, err)
		tasks[i] = crawl.Task{Job: job.ID, URL: u}
		b.entries[u.Key()] = crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200}
	}
	once, again := *job, *job
	once.Mode, once.Epoch, again.Epoch = crawl.ModeOnce, 2, 3
	f.deps.Jobs = crawl.StaticJobs{"j": &once}
	f.SetJob(&once)
	if _, err := f.jobOf(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Remember(t.Context(), job.ID, tasks); n != 0 || err != nil || f.book.Continuous(job.ID) {
		t.Errorf("a job that visits its URLs once remembers %d, %v", n, err)
	}
	f.SetJob(&again)
	if n, err := f.Remember(t.Context(), job.ID, tasks); n != len(tasks) || err != nil || !f.book.Continuous(job.ID) {
		t.Fatalf("%d pages are visited again, %v", n, err)
	}
	every := 24 * time.Hour / 960
	for i := range tasks[1:] {
		gap := m.Pages[tasks[i+1].URL.Key()].Due.Sub(m.Pages[tasks[i].URL.Key()].Due)
		if gap < every-time.Second || gap > every+time.Second {
			t.Errorf("page %d is due %v after the one before, want %v", i+1, gap, every)
		}
	}
}
