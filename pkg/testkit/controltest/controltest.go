// Package controltest is the suite that every control.Service passes, whatever it does its work with.
package controltest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// patience bounds the wait for a state.
const patience = time.Minute

// Subject is a service under test, which has no job yet.
type Subject struct {
	Service control.Service
	Seed    string // a URL that may be crawled
	// Start lets the job that was submitted run until it is stopped, and returns its log.
	Start func(t *testing.T, job crawl.JobID) crawl.AttemptLog
	// Restarts reports whether a job that was stopped runs again by an order.
	Restarts bool
}

// errRefused is what functions of the suite return that refuse.
var errRefused = errors.New("the test says no")

// changes reports whether a key changed, and nothing else.
func changes(list []crawl.Change, key string) bool { return len(list) == 1 && list[0].Key == key }

// job is the job that the suite submits. It stands still after its first requests, so that it neither ends nor hurries.
func (s *Subject) job() *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Sitemaps, job.AllowPrivate = "suite", []string{s.Seed}, false, true
	job.Politeness.Delay = crawl.Duration(time.Hour)
	return &job
}

// Run runs the suite: the life of a job from its submission to its deletion.
func Run(t *testing.T, s *Subject) {
	job := s.job()
	s.submit(t, job)
	log := s.Start(t, job.ID)
	s.await(t, "running")
	for _, step := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"submitted again with a further seed", s.submitAgain},
		{"revised", s.revise},
		{"paused and resumed", s.pause},
		{"its log", func(t *testing.T) { s.events(t, log) }},
		{"URLs queued again", s.retry},
		{"a job that nobody submitted", s.unknown},
		{"deleted while it runs", s.deleteRunning},
		{"stopped", s.stop},
		{"replay of nothing", s.replay},
		{"deleted", s.delete},
	} {
		if !t.Run(step.name, step.run) {
			return // the next steps go on from this one
		}
	}
}

// listed is the job in the list.
func (s *Subject) listed(t *testing.T) control.Listed {
	t.Helper()
	list, err := s.Service.List(t.Context())
	harness.Check(t, err)
	if len(list) != 1 || list[0].ID != "suite" {
		t.Fatalf("listed are %+v, want the job", list)
	}
	return list[0]
}

// await waits until the job is in a state.
func (s *Subject) await(t *testing.T, state string) {
	t.Helper()
	harness.Until(t, patience, "the job to be "+state, func() bool { return s.listed(t).State == state })
}

func (s *Subject) submit(t *testing.T, job *crawl.Job) {
	t.Helper()
	done, err := s.Service.Submit(t.Context(), control.Submission{Job: job, Fresh: true}) // there is none to delete
	harness.Check(t, err)
	if !done.Stored || done.Job.ID != job.ID || len(done.Changes) > 0 || done.Deleted != nil || done.State == "" {
		t.Fatalf("submitted: %+v", done)
	}
	if l := s.listed(t); l.State != done.State || l.Pages != 0 || l.Epoch != 1 {
		t.Fatalf("listed as %+v, submitted as %s", l, done.State)
	}
}

func (s *Subject) submitAgain(t *testing.T) {
	further := s.Seed + "further"
	more := func(job *crawl.Job) (*crawl.Job, error) {
		next := *job
		next.Seeds = append(slices.Clone(job.Seeds), further)
		return &next, nil
	}
	done, err := s.Service.Submit(t.Context(), control.Submission{Job: s.job(), Known: more})
	harness.Check(t, err)
	if !done.Stored || !changes(done.Changes, "seeds") || !slices.Contains(done.Job.Seeds, further) {
		t.Errorf("a further seed: %+v", done)
	}
}

func (s *Subject) revise(t *testing.T) {
	deeper := func(job *crawl.Job) (*crawl.Job, error) {
		next := *job
		next.MaxDepth = 7
		return &next, nil
	}
	before := s.listed(t).Epoch
	r, err := s.Service.Revise(t.Context(), "", deeper)
	harness.Check(t, err)
	if r.Job != "suite" || r.Epoch != before+1 || !changes(r.Changes, "max_depth") || r.Applies == "" {
		t.Errorf("revised: %+v, before it was at %d", r, before)
	}
	if l := s.listed(t); l.Epoch != before+1 {
		t.Errorf("listed at %d, want %d", l.Epoch, before+1)
	}
	if r, err = s.Service.Revise(t.Context(), "suite", deeper); err != nil || len(r.Changes) > 0 || r.Epoch != before+1 {
		t.Errorf("the same again: %+v, %v", r, err)
	}
	refuse := func(*crawl.Job) (*crawl.Job, error) { return nil, errRefused }
	if _, err := s.Service.Revise(t.Context(), "", refuse); !errors.Is(err, errRefused) {
		t.Errorf("a change that fails: %v", err)
	}
}

func (s *Subject) pause(t *testing.T) {
	for _, step := range []struct {
		order control.Order
		state string
	}{{control.Pause, "paused"}, {control.Pause, "paused"}, {control.Resume, "running"}} {
		done, err := s.Service.Order(t.Context(), "suite", step.order)
		harness.Check(t, err)
		if done.State != step.state || !strings.Contains(done.Text, step.state) {
			t.Errorf("%s: %+v", step.order, done)
		}
		s.await(t, step.state)
	}
	var misuse *control.Misuse
	if _, err := s.Service.Order(t.Context(), "", "dance"); !errors.As(err, &misuse) {
		t.Errorf("an order that there is not: %v", err)
	}
}

func (s *Subject) events(t *testing.T, log crawl.AttemptLog) {
	line := func(path, reason string, v crawl.Verdict) crawl.LogLine {
		u, err := weburl.Parse(s.Seed + path)
		harness.Check(t, err)
		return crawl.LogLine{Job: "suite", At: time.Now(), URL: u, Verdict: v, Reason: reason, Attempt: 1}
	}
	gone := line("b", "planted", crawl.VerdictGone)
	gone.Status = 404
	harness.Check(t, log.Append(t.Context(), line("a", "planted", crawl.VerdictFailed), gone,
		line("c", "another", crawl.VerdictFailed)))
	for want, sel := range map[string]crawl.LogSelection{
		"ab": {Reasons: []string{"planted"}},
		"a":  {Reasons: []string{"planted"}, Verdicts: []crawl.Verdict{crawl.VerdictFailed}},
		"ac": {Reasons: []string{"planted", "another"}, Verdicts: []crawl.Verdict{crawl.VerdictFailed},
			Since: time.Now().Add(-time.Hour)},
		"b": {Reasons: []string{"planted"}, Statuses: []int{4}},
		"c": {Hosts: []string{line("c", "", 0).URL.HostKey()}, URL: s.Seed + "c", Reasons: []string{"another"}},
		"":  {Reasons: []string{"no-such-reason"}},
	} {
		harness.Until(t, patience, "the lines "+want, func() bool {
			got := ""
			harness.Check(t, s.Service.Events(t.Context(), "", control.Selection{LogSelection: sel},
				func(l []byte, _ int64) error {
					for _, path := range []string{"a", "b", "c"} {
						if strings.Contains(string(l), `"`+s.Seed+path+`"`) && strings.HasSuffix(string(l), "}\n") {
							got += path
						}
					}
					return nil
				}))
			return got == want
		})
	}
	s.follow(t, log, line)
	refuse := func([]byte, int64) error { return errRefused }
	if err := s.Service.Events(t.Context(), "suite", control.Selection{}, refuse); !errors.Is(err, errRefused) {
		t.Errorf("a reader who has enough: %v", err)
	}
}

// follow reads lines from a place on, and those that come, each once.
func (s *Subject) follow(t *testing.T, log crawl.AttemptLog,
	line func(path, reason string, v crawl.Verdict) crawl.LogLine) {
	var places []int64
	sel := control.Selection{LogSelection: crawl.LogSelection{Reasons: []string{"planted", "another", "late"}}}
	harness.Check(t, s.Service.Events(t.Context(), "", sel, func(_ []byte, next int64) error {
		places = append(places, next)
		return nil
	}))
	if len(places) != 3 {
		t.Fatalf("the lines end at %v, want three", places)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sel.From, sel.Follow = places[0], true
	got := ""
	harness.Check(t, s.Service.Events(ctx, "", sel, func(l []byte, _ int64) error {
		got += string(l)
		switch strings.Count(got, "\n") {
		case 2:
			return log.Append(ctx, line("d", "late", crawl.VerdictDone), line("e", "early", crawl.VerdictDone))
		case 3:
			return log.Append(ctx, line("f", "late", crawl.VerdictDone))
		case 4:
			cancel()
		}
		return nil
	}))
	if strings.Count(got, "\n") != 4 || strings.Count(got, `"late"`) != 2 || !strings.Contains(got, `"another"`) {
		t.Errorf("followed from the second line:\n%s", got)
	}
}

func (s *Subject) retry(t *testing.T) {
	r := control.ParseRetry([]string{"failed", "no-such-reason"})
	r.Change = func(*crawl.Job) (*crawl.Job, error) { return nil, nil } // the settings are all right
	done, err := s.Service.Retry(t.Context(), "suite", r)
	if !errors.Is(err, errors.ErrUnsupported) && (err != nil || done.Queued != 0 || done.Job != "suite") {
		t.Errorf("%+v, %v", done, err)
	}
}

func (s *Subject) unknown(t *testing.T) {
	ctx, same := t.Context(), func(job *crawl.Job) (*crawl.Job, error) { return job, nil }
	_, order := s.Service.Order(ctx, "nobody", control.Pause)
	_, revise := s.Service.Revise(ctx, "nobody", same)
	_, erase := s.Service.Delete(ctx, "nobody", true)
	_, letters := s.Service.Letters(ctx, "nobody")
	events := s.Service.Events(ctx, "nobody", control.Selection{}, func([]byte, int64) error { return nil })
	for what, err := range map[string]error{"order": order, "revise": revise, "delete": erase, "letters": letters,
		"events": events} {
		if err == nil || !strings.Contains(err.Error(), "nobody") {
			t.Errorf("%s: %v; want an error that names the job", what, err)
		}
	}
}

func (s *Subject) deleteRunning(t *testing.T) {
	var misuse *control.Misuse
	if _, err := s.Service.Delete(t.Context(), "suite", false); !errors.As(err, &misuse) {
		t.Errorf("a job that runs is deleted: %v", err)
	}
	s.await(t, "running")
}

func (s *Subject) stop(t *testing.T) {
	done, err := s.Service.Order(t.Context(), "", control.Stop)
	harness.Check(t, err)
	if !strings.Contains(done.Text, done.State) {
		t.Errorf("stop: %+v", done)
	}
	s.await(t, "stopped")
	if s.Restarts {
		_, err := s.Service.Order(t.Context(), "suite", control.Resume)
		harness.Check(t, err)
		s.await(t, "running")
		_, err = s.Service.Order(t.Context(), "suite", control.Stop)
		harness.Check(t, err)
	}
}

func (s *Subject) replay(t *testing.T) {
	letters, err := s.Service.Letters(t.Context(), "suite")
	if err != nil || len(letters) != 0 {
		t.Fatalf("letters %v, %v", letters, err)
	}
	if r, err := s.Service.Replay(t.Context(), "", control.ByID("")); err != nil || r.Put != 0 || r.Meant != 0 {
		t.Errorf("replay of nothing: %+v, %v", r, err)
	}
	_, err = s.Service.Replay(t.Context(), "suite", control.ByID("", "3f2a"))
	if err == nil || !strings.Contains(err.Error(), "3f2a") {
		t.Errorf("replay of a letter that there is not: %v", err)
	}
	refuse := func([]report.Letter) ([]report.Letter, error) { return nil, errRefused }
	if _, err := s.Service.Replay(t.Context(), "", refuse); !errors.Is(err, errRefused) {
		t.Errorf("a choice that fails: %v", err)
	}
}

func (s *Subject) delete(t *testing.T) {
	done, err := s.Service.Delete(t.Context(), "suite", false)
	harness.Check(t, err)
	if done.Job != "suite" || len(done.Erased) == 0 {
		t.Errorf("deleted: %+v", done)
	}
	if list, err := s.Service.List(t.Context()); err == nil && len(list) != 0 {
		t.Errorf("listed afterwards: %+v", list)
	}
	if _, err := s.Service.Delete(t.Context(), "suite", false); err == nil {
		t.Error("deleted twice")
	}
}
