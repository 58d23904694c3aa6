package node_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// engineOptions are those of an engine below a directory, over a synthetic web.
func engineOptions(log *slog.Logger, dns, dir string) node.EngineOptions {
	opt := node.DefaultEngine(filepath.Join(dir, "crawl"), filepath.Join(dir, "executions"), log)
	opt.Node.Fetch.AllowPrivate, opt.DNS.Server = true, dns
	opt.Node.SetWindow(64)
	return opt
}

// runEngine runs an engine below a directory until the test ends, or stop is called.
func runEngine(t *testing.T, srv *fakeweb.Server, dir string) (e *node.Engine, stop func()) {
	t.Helper()
	return runEngineOf(t, engineOptions(logOf(t), srv.DNSAddr(), dir))
}

func logOf(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func runEngineOf(t *testing.T, opt node.EngineOptions) (e *node.Engine, stop func()) {
	t.Helper()
	e, err := node.OpenEngine(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error("Run:", err)
		}
		if err := e.Close(); err != nil {
			t.Error("Close:", err)
		}
	}
	t.Cleanup(stop)
	return e, stop
}

func submit(t *testing.T, e *node.Engine, jobs ...*crawl.Job) {
	t.Helper()
	for _, j := range jobs {
		if err := e.Submit(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
}

func stateOf(t *testing.T, e *node.Engine, id crawl.JobID) node.JobState {
	t.Helper()
	s, found, err := e.State(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("state of %s: found %v, %v", id, found, err)
	}
	return s
}

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Minute)
	for !so() {
		if time.Now().After(deadline) {
			t.Fatalf("still not so after ten minutes: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func awaitEnd(t *testing.T, e *node.Engine, ids ...crawl.JobID) {
	t.Helper()
	for _, id := range ids {
		await(t, string(id)+" has ended", func() bool { return stateOf(t, e, id).Ended })
	}
}

// sound audits a job of an engine.
func sound(t *testing.T, e *node.Engine, ids ...crawl.JobID) {
	t.Helper()
	for _, id := range ids {
		r, err := e.Store().AuditJob(t.Context(), id)
		if err != nil || len(r.Faults) > 0 || len(r.Unproven) > 0 || r.Open > 0 || r.Claimed == 0 {
			t.Errorf("audit of %s: %+v, %v", id, r, err)
		}
	}
}

// pace is what differs between two crawls of a web: when a page was fetched, and who named it first.
var pace = regexp.MustCompile(`"fetched_at":"[^"]*",?|"referrer":"[^"]*",?`)

// sortedPages are the lines of a pages.jsonl without what is a matter of pace.
func sortedPages(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, l := range lines(t, filepath.Join(dir, "pages.jsonl")) {
		out = append(out, string(pace.ReplaceAll(l, nil)))
	}
	slices.Sort(out)
	return out
}

// A job of an engine leaves what `whirlpool crawl` of the same job leaves, while another runs beside it.
func TestAJobOfAnEngineLeavesWhatACrawlOfItLeaves(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	srv := serve(t, fakeweb.Plain(12, 400))
	jobs := func(id crawl.JobID) *crawl.Job {
		j := jobFor(srv)
		j.ID, j.Order, j.MaxDepth, j.MaxPages = id, crawl.OrderBreadth, 4, 0
		return j
	}
	alone := t.TempDir()
	opt := optionsFor(t, srv, jobs("a-1"), alone)
	crawlAll(t, opt)
	dir := t.TempDir()
	e, stop := runEngine(t, srv, dir)
	other := jobFor(srv)
	other.ID = "b-1"
	submit(t, e, jobs("a-1"), other)
	awaitEnd(t, e, "a-1", "b-1")
	sound(t, e, "a-1", "b-1")
	stop()
	want, got := sortedPages(t, alone), sortedPages(t, filepath.Join(dir, "executions", "a-1"))
	if !slices.Equal(got, want) || len(want) < 100 {
		t.Errorf("%d pages, want the %d of a crawl alone", len(got), len(want))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("page %d is\n%.600s\nwant\n%.600s", i, got[i], want[i])
			}
		}
	}
	if n := len(sortedPages(t, filepath.Join(dir, "executions", "b-1"))); n < len(want) {
		t.Errorf("the other job has %d pages, want %d at least", n, len(want))
	}
}

// Two jobs on one host keep its delay between each other's requests.
func TestTwoJobsOnOneHostKeepItsDelay(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	const delay = 40 * time.Millisecond
	srv := serve(t, fakeweb.Plain(1, 60))
	e, _ := runEngine(t, srv, t.TempDir())
	for i := range 2 {
		j := jobFor(srv)
		j.ID, j.Politeness.Delay, j.Politeness.IPDelay, j.MaxPages = crawl.JobID(fmt.Sprintf("job-%d", i+1)),
			crawl.Duration(delay), crawl.Duration(delay), 30
		submit(t, e, j)
	}
	awaitEnd(t, e, "job-1", "job-2")
	sound := fakeweb.CheckPoliteness(srv.Log().Entries(), srv.Web().Rules(delay, delay, 3*time.Millisecond))
	for _, v := range sound {
		t.Error(v)
	}
	if n := srv.Log().Count(); n < 60 {
		t.Errorf("%d requests: the check proves little", n)
	}
	// Control: the same requests are too fast for a delay twice as long.
	if len(fakeweb.CheckPoliteness(srv.Log().Entries(), srv.Web().Rules(3*delay, 3*delay, 3*time.Millisecond))) == 0 {
		t.Error("control: the checker finds nothing against a delay that nobody kept")
	}
}

// A job that is stopped stays stopped over a restart, holds up nobody, and goes on when it is submitted again.
func TestAStoppedJobStaysStoppedAndGoesOnLater(t *testing.T) {
	srv := serve(t, fakeweb.Plain(6, 200))
	dir := t.TempDir()
	e, stop := runEngine(t, srv, dir)
	slow := jobFor(srv)
	slow.ID, slow.Politeness.Delay, slow.Politeness.IPDelay = "slow-1", crawl.Duration(30*time.Millisecond), 0
	submit(t, e, slow)
	await(t, "some pages", func() bool { return stateOf(t, e, "slow-1").Pages >= 5 })
	if err := e.Stop(t.Context(), "slow-1"); err != nil {
		t.Fatal(err)
	}
	await(t, "nothing is in flight", func() bool { return stateOf(t, e, "slow-1").InFlight == 0 })
	before := stateOf(t, e, "slow-1")
	if before.Queued == 0 || before.Ended {
		t.Fatalf("nothing is left to do: %+v", before)
	}
	stop()
	e, _ = runEngine(t, srv, dir)
	quick := jobFor(srv)
	quick.ID = "quick-1"
	submit(t, e, quick)
	awaitEnd(t, e, "quick-1")
	if after := stateOf(t, e, "slow-1"); !after.Stopped || after.Pages != before.Pages {
		t.Errorf("the stopped job went on: %+v, before %+v", after, before)
	}
	slow.Politeness.Delay = 0
	submit(t, e, slow)
	awaitEnd(t, e, "slow-1")
	sound(t, e, "slow-1", "quick-1")
	if a, b := stateOf(t, e, "slow-1").Pages, stateOf(t, e, "quick-1").Pages; a != b {
		t.Errorf("%d pages after all, want the %d of a job that nobody stopped", a, b)
	}
}

// A job that is discarded takes nothing of others with it, and its id may be used again.
func TestDiscardLeavesOtherJobsAlone(t *testing.T) {
	srv := serve(t, fakeweb.Plain(6, 150))
	dir := t.TempDir()
	e, stop := runEngine(t, srv, dir)
	for _, id := range []crawl.JobID{"keep-1", "drop-1", "half-1"} {
		j := jobFor(srv)
		j.ID = id
		submit(t, e, j)
	}
	if err := e.Discard(t.Context(), "drop-1", false); err == nil {
		t.Error("a job that runs was discarded")
	}
	await(t, "some pages", func() bool { return stateOf(t, e, "drop-1").Pages >= 5 })
	if err := e.Stop(t.Context(), "drop-1"); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, e, "keep-1", "half-1")
	read := func(id string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, "executions", id, "pages.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	kept, half := read("keep-1"), read("half-1")
	if e.Frontier().Stats().Queued == 0 {
		t.Error("nothing is queued of the job that is discarded: the test proves little")
	}
	for id, keep := range map[crawl.JobID]bool{"drop-1": false, "half-1": true} {
		if err := e.Discard(t.Context(), id, keep); err != nil {
			t.Fatal(err)
		}
		if _, found, _ := e.State(t.Context(), id); found {
			t.Errorf("%s is still there", id)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "executions", "drop-1")); !os.IsNotExist(err) {
		t.Errorf("the files of the discarded job are there: %v", err)
	}
	await(t, "the tasks of the discarded job left the queues", func() bool { return e.Frontier().Stats().Queued == 0 })
	for range 2 {
		if !bytes.Equal(read("keep-1"), kept) || !bytes.Equal(read("half-1"), half) {
			t.Error("the records of another job changed")
		}
		sound(t, e, "keep-1")
		stop()
		e, stop = runEngine(t, srv, dir)
	}
	again := jobFor(srv)
	again.ID = "drop-1"
	submit(t, e, again)
	awaitEnd(t, e, "drop-1")
	sound(t, e, "keep-1", "drop-1")
	if a, b := stateOf(t, e, "drop-1").Pages, stateOf(t, e, "keep-1").Pages; a != b || a == 0 {
		t.Errorf("%d pages of the new job, want %d", a, b)
	}
}

// A job whose files were deleted says so; the others go on, and it can be discarded.
func TestAJobWithoutItsFilesDoesNotStopTheOthers(t *testing.T) {
	srv := serve(t, fakeweb.Plain(6, 150))
	dir := t.TempDir()
	e, _ := runEngine(t, srv, dir)
	hurt, whole := jobFor(srv), jobFor(srv)
	hurt.ID, whole.ID = "hurt-1", "whole-1"
	hurt.Politeness.Delay = crawl.Duration(100 * time.Millisecond)
	submit(t, e, hurt)
	await(t, "some pages", func() bool { return stateOf(t, e, "hurt-1").Pages >= 3 })
	if err := os.Remove(filepath.Join(dir, "executions", "hurt-1", "pages.jsonl")); err != nil {
		t.Fatal(err)
	}
	await(t, "the loss is noticed", func() bool { return stateOf(t, e, "hurt-1").Fault != "" })
	submit(t, e, whole)
	awaitEnd(t, e, "whole-1")
	sound(t, e, "whole-1")
	if s := stateOf(t, e, "hurt-1"); s.Ended {
		t.Errorf("the job has ended without its records: %+v", s)
	}
	if s := stateOf(t, e, "whole-1"); s.Fault != "" {
		t.Errorf("the other job: %s", s.Fault)
	}
	if err := e.Stop(t.Context(), "hurt-1"); err != nil {
		t.Fatal(err)
	}
	if err := e.Discard(t.Context(), "hurt-1", false); err != nil {
		t.Fatal(err)
	}
}
