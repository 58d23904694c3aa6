package engine

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs an engine over a synthetic web until the test ends.
func run(t *testing.T, srv *fakeweb.Server) *Engine {
	t.Helper()
	dir := t.TempDir()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	opt := node.DefaultEngine(filepath.Join(dir, "crawl"), filepath.Join(dir, "executions"), log)
	opt.Node.Fetch.AllowPrivate, opt.DNS.Server = true, srv.DNSAddr()
	e, err := Open(t.Context(), opt)
	check(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func jobOver(srv *fakeweb.Server, id crawl.JobID) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxPages, job.Politeness.Delay = id, srv.Web().Seeds(), crawl.ScopeAny, 0, 0
	return &job
}

func awaitEnd(t *testing.T, e *Engine, id crawl.JobID) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		p, err := e.Progress(t.Context(), id)
		check(t, err)
		if p.Ended {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not end: %+v", id, p)
		}
	}
}

// What is said of one of two jobs is of that one.
func TestFiguresAreThoseOfTheJob(t *testing.T) {
	cfg := fakeweb.Plain(5, 120)
	cfg.ExactDuplicates = 0.1
	srv, err := fakeweb.Serve(t.Context(), fakeweb.New(cfg), fakeweb.Options{})
	check(t, err)
	defer func() { check(t, srv.Close()) }()
	e, ctx := run(t, srv), t.Context()
	if p, err := e.Progress(ctx, "whole-1"); p.Known || err != nil {
		t.Errorf("before it is submitted: %+v, %v", p, err)
	}
	part := jobOver(srv, "part-1")
	part.MaxPages = 20
	check(t, e.Submit(ctx, part))
	check(t, e.Submit(ctx, jobOver(srv, "whole-1")))
	awaitEnd(t, e, "part-1")
	awaitEnd(t, e, "whole-1")
	whole, err := e.Stats(ctx, "whole-1")
	check(t, err)
	few, err := e.Stats(ctx, "part-1")
	check(t, err)
	if few.Bound != "max_pages 20" || few.Open == 0 || whole.Bound != "" {
		t.Errorf("the part is bound by %q with %d URLs open, the whole by %q", few.Bound, few.Open, whole.Bound)
	}
	if few.Pages != 20 || whole.Pages < 100 || whole.Open != 0 || whole.Hosts != 5 || whole.Bytes == 0 ||
		whole.Copies == 0 || few.Records != 20 || sum(whole.Depths) != whole.Pages || whole.DurationS <= 0 {
		t.Errorf("whole: %+v; part: %+v", whole, few)
	}
	for _, id := range []crawl.JobID{"part-1", "whole-1"} {
		a, err := e.Audit(ctx, id)
		if err != nil || !a.OK {
			t.Errorf("audit of %s: %+v, %v", id, a, err)
		}
		v, err := e.View(ctx, id)
		check(t, err)
		st, err := v.Status(ctx)
		if err != nil || st.State != report.StateFinished || st.Job != id || st.Directory != e.JobDir(id) {
			t.Errorf("status of %s: %+v, %v", id, st, err)
		}
		x, err := v.Explain(ctx, srv.Web().Seeds()[0])
		if err != nil || len(x.Attempts) == 0 {
			t.Errorf("%s tells nothing of its seed: %+v, %v", id, x, err)
		}
	}
	if v, err := e.View(ctx, "nobody-1"); err == nil || !crawl.IsPermanent(err) {
		t.Errorf("a job that nobody knows is viewed: %v, %v", v, err)
	}
}

func sum(m map[int]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}

// While a job runs, its queued tasks, leases and hosts can be listed.
func TestALiveJobIsListed(t *testing.T) {
	srv, err := fakeweb.Serve(t.Context(), fakeweb.New(fakeweb.Plain(4, 200)), fakeweb.Options{})
	check(t, err)
	defer func() { check(t, srv.Close()) }()
	e, ctx := run(t, srv), t.Context()
	job := jobOver(srv, "live-1")
	job.Politeness.Delay = crawl.Duration(50 * time.Millisecond)
	check(t, e.Submit(ctx, job))
	check(t, e.Submit(ctx, jobOver(srv, "other-1")))
	live := e.Live()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		s, err := live.Counts(ctx, "live-1")
		check(t, err)
		if s.Queued > 50 && s.Pages > 3 && s.Bytes > 0 && s.Class2 > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("counts: %+v", s)
		}
	}
	check(t, e.Hold(ctx, "live-1", true)) // so that the lists stand still
	awaitEnd(t, e, "other-1")
	for n := 1; n > 0; time.Sleep(5 * time.Millisecond) {
		flying, err := live.InFlight(ctx, "live-1")
		check(t, err)
		n = len(flying)
	}
	seen, after := map[string]bool{}, ""
	for more := true; more; more = after != "" {
		var tasks []crawl.Task
		tasks, after, err = live.Queued(ctx, "live-1", after, 7)
		check(t, err)
		for i := range tasks {
			if tasks[i].Job != "live-1" {
				t.Errorf("a task of %s is listed", tasks[i].Job)
			}
			seen[tasks[i].URL.String()] = true
		}
	}
	s, err := live.Counts(ctx, "live-1")
	check(t, err)
	if int64(len(seen)) != s.Queued || s.Queued != s.Known-s.Done {
		t.Errorf("%d tasks are listed; the counts are %+v", len(seen), s)
	}
	v, err := e.View(ctx, "live-1")
	check(t, err)
	if st, err := v.Status(ctx); err != nil || st.State != report.StatePaused || st.Queued != s.Queued {
		t.Errorf("status %+v, %v", st, err)
	}
	check(t, e.Hold(ctx, "live-1", false))
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		hosts, err := live.Hosts(ctx, "live-1")
		if err == nil && len(hosts) > 0 && hosts[0].Why != "" && hosts[0].Key != "" &&
			hosts[0].Queued+int64(hosts[0].InFlight) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("hosts %+v, %v", hosts, err)
		}
	}
	awaitEnd(t, e, "live-1")
}

// A revision and further seeds reach a job that runs.
func TestARunningJobIsRevisedAndSeeded(t *testing.T) {
	srv, err := fakeweb.Serve(t.Context(), fakeweb.New(fakeweb.Plain(4, 80)), fakeweb.Options{})
	check(t, err)
	defer func() { check(t, srv.Close()) }()
	e, ctx := run(t, srv), t.Context()
	seeds := srv.Web().Seeds()
	job := jobOver(srv, "rev-1")
	job.Seeds, job.Scope, job.Politeness.Delay = seeds[:1], crawl.ScopeHost, crawl.Duration(100*time.Millisecond)
	check(t, e.Submit(ctx, job))
	n, err := e.Seeds(ctx, "rev-1", append(seeds[:1:1], seeds[1]))
	if n != 1 || err != nil {
		t.Fatalf("%d new seeds, %v; want 1", n, err)
	}
	current, err := e.Store().Jobs().Job(ctx, "rev-1")
	check(t, err)
	next := *current
	next.Politeness.Delay = 0
	changes, err := e.Revise(ctx, &next)
	if err != nil || len(changes) != 1 {
		t.Fatalf("changes %v, %v", changes, err)
	}
	awaitEnd(t, e, "rev-1")
	s, err := e.Stats(ctx, "rev-1")
	if err != nil || s.Hosts != 2 {
		t.Errorf("%+v, %v; want two hosts", s, err)
	}
	revisions, err := e.Store().Jobs().Revisions(ctx, "rev-1")
	if err != nil || len(revisions) != 3 {
		t.Errorf("%d revisions, %v", len(revisions), err)
	}
}
