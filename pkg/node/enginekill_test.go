package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// victimFile names the file that tells a victim what to do.
const victimFile = "WHIRLPOOL_TEST_ENGINE_VICTIM"

// victimOrder is what a victim does.
type victimOrder struct {
	Dir, DNS string
	Seeds    []string
	Jobs     int
	Forget   bool        // the bus forgets what is under way: the control
	Discards bool        // further jobs come and are discarded all the time
	Ends     string      // the file of a list: jobs take their seeds from nodes, and write outputs
	Alone    bool        // a crawl in a directory
	Again    *againOrder // a continuous crawl in a directory
	Killed   func()      `json:"-"` // called behind each kill; nil: nobody wants to know
	Whole    int64       `json:"-"` // octets of the records in the end; 0: it does not matter how far a life comes
}

func TestMain(m *testing.M) {
	if file := os.Getenv(victimFile); file != "" {
		if err := victim(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// victimJob is the i-th job: all crawl the same web.
func victimJob(i int, seeds []string) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxPages, job.MaxDepth = crawl.JobID(fmt.Sprintf("kill-%d", i)), seeds,
		crawl.ScopeAny, 0, -1
	job.Politeness.Delay, job.Politeness.IPDelay = 0, 0
	job.Retry.Base, job.Retry.Max = crawl.Duration(20*time.Millisecond), 8
	return &job
}

// victim runs an engine until all its jobs have ended, or it is killed. The first one submits them.
func victim(file string) error {
	var o victimOrder
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		return err
	}
	if o.Ends != "" {
		node.SetOutputsEvery(5 * time.Millisecond)
		node.SetOutputPart(smallPart)
	}
	if o.Again != nil {
		return victimAgain(&o)
	}
	if o.Alone {
		return victimAlone(&o)
	}
	opt := engineOptions(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})), o.DNS,
		o.Dir)
	if o.Forget {
		opt.Bus.Journaled = nil
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	e, err := node.OpenEngine(ctx, opt)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	for i := range o.Jobs {
		job := victimJob(i, o.Seeds)
		if o.Ends != "" {
			withEnds(job, i, &o)
		}
		if _, known, err := e.State(ctx, job.ID); err != nil || known {
			continue
		}
		if err := e.Submit(ctx, job); err != nil {
			return err
		}
	}
	if o.Discards {
		for _, id := range comeAndGone(e) { // of the life before
			if err := gone(ctx, e, id); err != nil {
				return err
			}
		}
		go comeAndGo(ctx, e, o.Seeds)
	}
	for left := o.Jobs; left > 0; time.Sleep(10 * time.Millisecond) {
		left = 0
		for i := range o.Jobs {
			if s, _, err := e.State(ctx, victimJob(i, nil).ID); err != nil || !s.Ended {
				left++
			}
		}
	}
	stop()
	if err := <-ended; err != nil {
		return err
	}
	return e.Close()
}

// comeAndGo submits jobs and discards them until ctx is done.
func comeAndGo(ctx context.Context, e *node.Engine, seeds []string) {
	for n := 0; ctx.Err() == nil; n++ {
		job := victimJob(0, seeds)
		job.ID = crawl.JobID(fmt.Sprintf("gone-%d-%d", os.Getpid(), n))
		if e.Submit(ctx, job) != nil {
			return
		}
		time.Sleep(time.Duration(n%7) * 5 * time.Millisecond)
		if gone(ctx, e, job.ID) != nil {
			return
		}
	}
}

func gone(ctx context.Context, e *node.Engine, id crawl.JobID) error {
	if err := e.Stop(ctx, id); err != nil {
		return err
	}
	return e.Discard(ctx, id, false)
}

// comeAndGone are the jobs that were about to be discarded.
func comeAndGone(e *node.Engine) (ids []crawl.JobID) {
	for _, id := range e.Known() {
		if strings.HasPrefix(string(id), "gone-") {
			ids = append(ids, id)
		}
	}
	return ids
}

// killAndEnd runs victims, all but the last of which are killed, and least of them while there was work.
func killAndEnd(t *testing.T, o victimOrder, kills, least int) {
	t.Helper()
	file := orderFile(t, o)
	rng := rand.New(rand.NewPCG(1, uint64(os.Getpid())))
	killed, pages, more := 0, int64(0), 1.0
	for i := range kills + 1 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victimFile+"="+file)
		cmd.Stderr = t.Output()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		patience := 10 * time.Minute
		if i < kills {
			patience = time.Duration(more * float64(50*time.Millisecond+time.Duration(rng.Int64N(int64(250*time.Millisecond)))))
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("victim %d: %v", i, err)
			}
			t.Logf("victim %d had nothing left to do", i)
			if killed < least {
				t.Errorf("%d victims were killed: too few to prove much", killed)
			}
			return
		case <-time.After(patience):
		}
		_ = cmd.Process.Kill()
		<-ended
		if i == kills {
			t.Fatal("the last victim did not come to an end")
		}
		killed++
		if o.Killed != nil {
			o.Killed()
		}
		switch now := pagesBytes(o.Dir); {
		case now == pages: // a slow machine gets nowhere before it is killed: later the next time
			more = min(2*more, 64)
		case o.Whole > 0 && now-pages > o.Whole/10: // a fast one is done before it was killed often
			pages, more = now, more/2
		case more > 1:
			pages, more = now, max(more/2, 1)
		default:
			pages = now
		}
	}
}

// pagesBytes is how long the records of a directory's crawls are.
func pagesBytes(dir string) (n int64) {
	for _, pattern := range []string{"pages.jsonl", "executions/*/pages.jsonl"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			if info, err := os.Stat(name); err == nil {
				n += info.Size()
			}
		}
	}
	return n
}

// killInTheMiddle kills a victim while requests for pages are under way, however slow the machine is.
func killInTheMiddle(t *testing.T, srv *fakeweb.Server, o victimOrder) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimFile+"="+orderFile(t, o))
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		reached func() bool
		then    func()
	}{
		{func() bool { return srv.Log().Count() >= 300 }, srv.Hold}, // of them at most 200 are for robots.txt
		{func() bool { return srv.Held() >= 5 }, func() { _ = cmd.Process.Kill() }},
	} {
		for end := time.Now().Add(3 * time.Minute); !step.reached(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%d requests came, %d are held", srv.Log().Count(), srv.Held())
				break
			}
		}
		step.then()
	}
	_ = cmd.Wait() // it was killed
	srv.Release()
}

// orderFile writes what victims do.
func orderFile(t *testing.T, o victimOrder) string {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "order.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// withoutPlace are the pages of a job, without what depends on the order of a crawl.
func withoutPlace(t *testing.T, dir string) []string {
	t.Helper()
	depth := regexp.MustCompile(`"depth":\d+,?`)
	out := sortedPages(t, dir)
	for i := range out {
		out[i] = depth.ReplaceAllString(out[i], "")
	}
	slices.Sort(out)
	return out
}

// Ten jobs at once, killed at twenty instants, end as one that nobody disturbed, and their audits find nothing.
func TestJobsOfAKilledEngineEndAsUndisturbed(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := fakeweb.Plain(200, 600)
	cfg.PageBytes = 4 << 10
	srv := serve(t, cfg)
	jobs, kills := 10, 20
	if testing.Short() {
		jobs, kills = 3, 5
	}
	alone := t.TempDir()
	crawlAll(t, optionsFor(t, srv, victimJob(0, srv.Web().Seeds()), alone))
	want := withoutPlace(t, alone)
	o := victimOrder{Dir: t.TempDir(), DNS: srv.DNSAddr(), Seeds: srv.Web().Seeds(), Jobs: jobs}
	killAndEnd(t, o, kills, kills/2)
	e, _ := runEngine(t, srv, o.Dir)
	for i := range jobs {
		id := victimJob(i, nil).ID
		sound(t, e, id)
		if got := withoutPlace(t, filepath.Join(o.Dir, "executions", string(id))); !slices.Equal(got, want) {
			t.Errorf("%s has %d pages, or others than the %d of an undisturbed crawl", id, len(got), len(want))
		}
	}
}

// Jobs that are discarded all the time, whatever is killed, leave nothing, and the others end as undisturbed.
func TestDiscardsThatAreKilledLeaveNothing(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := fakeweb.Plain(100, 500)
	cfg.PageBytes = 4 << 10
	srv := serve(t, cfg)
	alone := t.TempDir()
	crawlAll(t, optionsFor(t, srv, victimJob(0, srv.Web().Seeds()), alone))
	want := withoutPlace(t, alone)
	o := victimOrder{Dir: t.TempDir(), DNS: srv.DNSAddr(), Seeds: srv.Web().Seeds(), Jobs: 3, Discards: true}
	o.Whole = int64(o.Jobs) * pagesBytes(alone)
	killAndEnd(t, o, 12, 3)
	e, stop := runEngine(t, srv, o.Dir)
	for _, id := range comeAndGone(e) {
		if err := gone(t.Context(), e, id); err != nil {
			t.Error(err)
		}
	}
	stop()
	e, _ = runEngine(t, srv, o.Dir)
	for i := range o.Jobs {
		id := victimJob(i, nil).ID
		sound(t, e, id)
		if got := withoutPlace(t, filepath.Join(o.Dir, "executions", string(id))); !slices.Equal(got, want) {
			t.Errorf("%s has %d pages, or others than the %d of an undisturbed crawl", id, len(got), len(want))
		}
	}
	entries, err := os.ReadDir(filepath.Join(o.Dir, "executions"))
	if err != nil || len(entries) != o.Jobs || len(e.Known()) != o.Jobs {
		t.Errorf("%d directories and %d jobs are left, %v; want %d", len(entries), len(e.Known()), err, o.Jobs)
	}
	onlyTasksOf(t, e, o.Jobs)
}

// onlyTasksOf finds tasks of other jobs than the victims' in the queues. Of these, which have ended, a kill leaves
// second copies of tasks: their end does not wait for them.
func onlyTasksOf(t *testing.T, e *node.Engine, jobs int) {
	t.Helper()
	own, all := int64(0), int64(0)
	for i := range jobs {
		tasks, more, err := e.Store().Queues().TasksOf(t.Context(), victimJob(i, nil).ID, "", 10_000)
		if err != nil || more != "" {
			t.Fatal(more, err)
		}
		own += int64(len(tasks))
	}
	lengths, err := e.Store().Queues().Lengths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range lengths {
		all += n
	}
	if all > own {
		t.Errorf("%d tasks are in queues, %d of them of the jobs that are left: %v", all, own, lengths)
	}
}

// Control: a bus that forgets what is under way loses URLs, and the audit says so.
func TestControlAForgetfulEngineIsFound(t *testing.T) {
	cfg := fakeweb.Plain(200, 400)
	cfg.PageBytes = 4 << 10
	srv := serve(t, cfg)
	o := victimOrder{Dir: t.TempDir(), DNS: srv.DNSAddr(), Seeds: srv.Web().Seeds(), Jobs: 3, Forget: true}
	killInTheMiddle(t, srv, o)
	killAndEnd(t, o, 0, 0)
	e, _ := runEngine(t, srv, o.Dir)
	faults := 0
	for i := range o.Jobs {
		r, err := e.Store().AuditJob(t.Context(), victimJob(i, nil).ID)
		if err != nil {
			t.Fatal(err)
		}
		faults += len(r.Faults)
	}
	if faults == 0 {
		t.Error("no audit finds that messages were forgotten: the test above proves nothing")
	}
}
