package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// The crawl of TestAServerThatIsKilled: so many executions at once, and the delay that they keep together.
const (
	executions = 10
	hostDelay  = 15 * time.Millisecond
)

// sharedWeb is one over which all executions crawl. Nothing in it depends on when it is asked, or how often.
func sharedWeb() fakeweb.Config {
	cfg := variedWeb(800)
	cfg.Hosts, cfg.PagesZipf, cfg.Addresses, cfg.PageBytes = 200, 0.2, 16, 4<<10
	cfg.Unavailable, cfg.Changing = 0, 0
	return cfg
}

// wishesOf are what is wanted of some executions, one after the other.
var wishesOf = crawltest.Wished{
	"kill-1-1": {workflow.Pause, workflow.Run},
	"kill-2-1": {workflow.Stop, workflow.Run},
	"kill-3-1": {workflow.Pause, workflow.Stop, workflow.Run},
	"kill-4-1": {workflow.Pause, workflow.Run, workflow.Pause, workflow.Run},
	"kill-5-1": {workflow.Stop, workflow.Run, workflow.Stop, workflow.Run},
}

// Ten executions at once, whose server is killed at twenty instants, end as one that nobody disturbed; their audits are
// sound, their events have neither gaps nor doubles, and no host is hurried.
func TestAServerThatIsKilled(t *testing.T) {
	long(t)
	t.Parallel()
	kills, seed := harness.Number(t, "WHIRLPOOL_E2E_SERVE_KILLS", 20), harness.Number(t, "WHIRLPOOL_E2E_SERVE_SEED", 1)
	web := serve(t, sharedWeb(), 0)
	calm, requests := undisturbed(t, web)

	s := newServer(t, web)
	s.ready(t, s.start(t))
	l := listen(t, s.api)
	for i := range executions {
		createWorkflow(t, s, i)
	}
	harness.Until(t, patience, "the listener to hear of the workflows",
		func() bool { return l.count("workflow.created") == executions })
	wished := crawltest.Wished{}
	for i := range executions {
		wished[executionOf(i)] = wishesOf[executionOf(i)]
	}
	began, wisher := time.Now(), crawltest.Wish(t, wished, s.api)
	killed := s.killAt(t, instants(rand.New(rand.NewPCG(uint64(seed), 1)), kills, requests*executions), l, wisher)
	harness.Until(t, patience, "all executions to end", wisher.Over)
	took := time.Since(began)

	for i := range executions {
		id := executionOf(i)
		judge(t, s, id, calm)
		events, err := crawltest.Events(t.Context(), s.api, id)
		harness.Check(t, err)
		harness.Report(t, "events", crawltest.BrokenEvents(events))
		harness.Until(t, patience, "the listener to hear the last event",
			func() bool { return l.last() >= events[len(events)-1].ID })
		harness.Report(t, "heard", slices.Concat(crawltest.BrokenEvents(l.of(id)), unlike(l.of(id), events)))
	}
	harness.Report(t, "heard", l.faults)
	harness.Report(t, "impolite", s.impolite(hostDelay))
	t.Logf("%d kills in %v: %q; %d requests, %d events, wishes %v", len(killed), took.Round(time.Millisecond), killed,
		len(s.entries()), len(l.heard), wisher.Met())
	if len(killed) < kills || len(wisher.Met()) < 5 {
		t.Errorf("%d kills of %d, %d wishes: the test proves little", len(killed), kills, len(wisher.Met()))
	}
	s.controls(t, calm)
}

func executionOf(i int) crawl.JobID { return crawl.JobID(fmt.Sprintf("kill-%d-1", i)) }

// undisturbed is what one execution finds that nobody disturbs, and how many requests it takes.
func undisturbed(t *testing.T, web *fakeweb.Server) (*e2e.Results, int) {
	t.Helper()
	s := newServer(t, web)
	p := s.start(t)
	s.ready(t, p)
	createWorkflow(t, s, 0)
	_, err := s.api.Run(t.Context(), "kill-0", workflow.Overrides{})
	harness.Check(t, err)
	harness.Until(t, patience, "the undisturbed execution to end", func() bool {
		x, err := s.api.Execution(t.Context(), executionOf(0))
		harness.Check(t, err)
		return x.State.Ended()
	})
	calm := readResults(t, filepath.Join(s.dir, "executions", string(executionOf(0))))
	judge(t, s, executionOf(0), calm)
	requests := len(s.entries())
	p.kill(t)
	s.settle(t)
	return calm, requests
}

func createWorkflow(t *testing.T, s *server, i int) {
	t.Helper()
	job := jobFor(s.web)
	job.ID, job.AllowPrivate = crawl.JobID(fmt.Sprintf("kill-%d", i)), true
	job.Politeness.Delay, job.Retry.SlowMax = crawl.Duration(hostDelay), crawl.Duration(200*time.Millisecond)
	source, err := jobfile.Marshal(job)
	harness.Check(t, err)
	_, err = s.api.CreateWorkflow(t.Context(), api.NewWorkflow{Slug: string(job.ID), Source: string(source)})
	harness.Check(t, err)
}

// instant is when the server is killed.
type instant struct {
	name  string
	due   func(*fakeweb.Server, *listener, int) bool // with the requests before it all; nil: while it starts
	pause time.Duration
}

// instants are spread over the starts of the server and of executions, their course, what is wished of them, and their
// ends. All of them come about.
func instants(r *rand.Rand, n, requests int) (out []instant) {
	events := []string{"execution.draining", "execution.wished", "execution.starting", "execution.pausing",
		"execution.stopping", "execution.draining", "execution.reopened", "execution.started"}
	for i := range n {
		pause := time.Duration(r.IntN(40)) * time.Millisecond
		switch {
		case i%7 == 3:
			out = append(out, instant{"start", nil, 8 * pause})
		case i%2 == 0:
			target := r.IntN(requests*7/10) + 1
			out = append(out, instant{fmt.Sprintf("request %d", target), func(w *fakeweb.Server, _ *listener, before int) bool {
				return w.Log().Count()-before >= target
			}, pause})
		default:
			kind, nth := events[i/2%len(events)], r.IntN(3)+1
			if kind == "execution.draining" {
				nth = r.IntN(executions) + 1
			}
			out = append(out, instant{fmt.Sprintf("%s %d", kind, nth), func(_ *fakeweb.Server, l *listener, _ int) bool {
				return l.count(kind) >= nth
			}, pause})
		}
	}
	return out
}

// killAt kills the server at each of the instants, in the order in which they come about, and starts it again.
func (s *server) killAt(t *testing.T, all []instant, l *listener, w *crawltest.Wisher) (killed []string) {
	t.Helper()
	p, before := s.lives[0], s.web.Log().Count()
	for len(all) > 0 {
		next := slices.IndexFunc(all, func(i instant) bool { return i.due == nil && len(killed)%3 == 2 })
		if next < 0 {
			if !s.ready(t, p) {
				t.Fatalf("the server ended by itself: %v\n%s", p.err, p.out.String())
			}
			p.poll(t, "the next instant", func() bool {
				next = slices.IndexFunc(all, func(i instant) bool { return i.due != nil && i.due(s.web, l, before) })
				return next >= 0 || w.Over()
			})
		}
		if next < 0 {
			next = 0 // all is over: what is left comes about now
		}
		time.Sleep(all[next].pause) // nobody waits for anything: it spreads the instants
		if !p.kill(t) {
			t.Fatalf("the server ended by itself: %v\n%s", p.err, p.out.String())
		}
		killed = append(killed, fmt.Sprintf("%s, %v", all[next].name, time.Since(p.began).Round(time.Millisecond)))
		all = slices.Delete(all, next, next+1)
		p = s.start(t)
	}
	if !s.ready(t, p) {
		t.Fatalf("the server ended by itself: %v\n%s", p.err, p.out.String())
	}
	return killed
}

// judge compares an execution that has ended with an undisturbed one.
func judge(t *testing.T, s *server, id crawl.JobID, calm *e2e.Results) {
	t.Helper()
	x, err := s.api.Execution(t.Context(), id)
	harness.Check(t, err)
	if x.State != workflow.Succeeded || x.Audit == nil || !x.Audit.OK || x.Stats == nil || x.Stats.Open != 0 {
		t.Errorf("%s is %s (%s), its audit %+v, its figures %+v", id, x.State, x.Reason, x.Audit, x.Stats)
	}
	harness.Report(t, string(id)+": audit", auditOf(t, s, id))
	got := readResults(t, filepath.Join(s.dir, "executions", string(id)))
	harness.Report(t, string(id)+": results",
		slices.Concat(got.Untrue(s.web.Web()), got.Unsound(), got.Differs(calm, s.web.Web())))
}

func auditOf(t *testing.T, s *server, id crawl.JobID) []string {
	t.Helper()
	r, err := s.api.View(id).Audit(t.Context())
	harness.Check(t, err)
	faults := slices.Concat(r.Faults, r.Doubts())
	if r.Open > 0 || r.Queued > 0 || r.DeadLetters > 0 {
		faults = append(faults, fmt.Sprintf("%d URLs are open, %d queued, %d in dead letters", r.Open, r.Queued,
			r.DeadLetters))
	}
	return faults
}

// controls shows that what was not found above would have been: a record that is missing, and a host that is hurried.
func (s *server) controls(t *testing.T, calm *e2e.Results) {
	t.Helper()
	dir := filepath.Join(s.dir, "executions", string(executionOf(0)))
	file := filepath.Join(dir, "pages.jsonl")
	data, err := os.ReadFile(file)
	harness.Check(t, err)
	line := strings.IndexByte(string(data), '\n') + 1
	harness.Check(t, os.WriteFile(file, data[line:], 0o600))
	got := readResults(t, dir)
	if len(got.Differs(calm, s.web.Web())) == 0 || len(got.Untrue(s.web.Web())) == 0 {
		t.Error("a record that is missing is not found")
	}
	if len(auditOf(t, s, executionOf(0))) == 0 {
		t.Error("a record that is missing is not found by the audit")
	}
	entries := s.entries()
	last := map[string]int{}
	for i, e := range entries {
		if before, known := last[e.Host]; known {
			entries[i].Start = entries[before].End + int64(hostDelay/2)
			break
		}
		last[e.Host] = i
	}
	if len(fakeweb.CheckPoliteness(entries, s.web.Web().Rules(hostDelay, 0, 0))) == 0 {
		t.Error("a host that is hurried is not found")
	}
}
