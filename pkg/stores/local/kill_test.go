package local

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// victimDir names the directory that a victim works in.
const victimDir = "WHIRLPOOL_TEST_VICTIM_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		if err := victim(dir, os.Getenv(victimDir+"_ROUND")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// victim stores things as fast as it can and prints a line for each that it was promised, until it is killed.
func victim(dir, round string) error {
	opt := Default()
	if strings.HasPrefix(round, "resources") {
		opt.Resources = 256 << 10
	}
	s, err := Open(dir, opt)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	failed := make(chan error, 8)
	say := func(kind string, what any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(kind, what)
	}
	for w := range cap(failed) {
		wg.Go(func() {
			if strings.HasPrefix(round, "visits") {
				failed <- visitor(s, w, say)
				return
			}
			if strings.HasPrefix(round, "resources") {
				failed <- storer(s, w, say)
				return
			}
			for i := 0; ; i++ {
				u, err := weburl.Parse(fmt.Sprintf("http://w%d.test/%s/%d", w, round, i))
				if err == nil {
					err = storeAll(s, w, u, func(kind string) { say(kind, u) })
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	return <-failed
}

// storeAll stores a URL in every store and reports each promise that it was given.
func storeAll(s *Store, w int, u weburl.URL, promised func(kind string)) error {
	ctx, task := context.Background(), crawl.Task{Job: testJob, URL: u}
	queue := fmt.Sprint("back.", w)
	for _, step := range []struct {
		kind string
		run  func() error
	}{
		{"journal", func() error { // as the bus does, so that what is cut short is done again
			e := &crawl.Fetch{Task: task}
			_, err := s.Journal().Append(ctx, bus.Message{ID: task.ID(), Event: e})
			return err
		}},
		{"claim", func() error {
			_, err := s.URLs().Claim(ctx, testJob, task.ID(), []crawl.Task{task})
			return err
		}},
		{"queue", func() error {
			return s.Queues().Push(ctx, crawl.Queued{Queue: "front.1", Task: task}, crawl.Queued{Queue: queue, Task: task})
		}},
		{"", func() error { // settles the later of two, so that there are gaps
			ds, err := s.Queues().Pull(ctx, queue, 2)
			if err == nil && len(ds) > 0 {
				err = s.Queues().Settle(ctx, ds[len(ds)-1])
			}
			return err
		}},
		{"finish", func() error {
			return s.URLs().Finish(ctx, testJob, crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: 200})
		}},
		{"page", func() error {
			return s.Pages().Put(ctx, &crawl.Record{URL: u, FinalURL: u, Text: strings.Repeat("x", 3000)})
		}},
	} {
		if err := step.run(); err != nil {
			return err
		}
		if step.kind != "" {
			promised(step.kind)
		}
	}
	return nil
}

// TestNothingPromisedIsLostByKill kills a process at random instants, several times over the same directory, and then
// looks for everything that the process was promised.
func TestNothingPromisedIsLostByKill(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	t.Run("lines", func(t *testing.T) { nothingIsLostByKill(t, t.TempDir()) })
	t.Run("packed", func(t *testing.T) { nothingIsLostByKill(t, packedDir(t)) })
}

func nothingIsLostByKill(t *testing.T, dir string) {
	promised := map[string][]string{}
	for round := range killRounds() {
		kill(t, dir, fmt.Sprint(round), killAfter(), promised)
		s, err := Open(dir, Default())
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		checkPromises(t, s, promised)
		closeStore(t, s)
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
	}
	if len(promised["page"]) == 0 {
		t.Fatal("nothing was promised: the test proved nothing")
	}
	t.Logf("%d pages, %d claims promised", len(promised["page"]), len(promised["claim"]))
}

// killRounds is how often a store is killed.
func killRounds() int {
	if testing.Short() {
		return 2
	}
	return 5
}

// killAfter is how long a victim lives.
func killAfter() time.Duration { return time.Duration(50+rand.IntN(400)) * time.Millisecond }

// kill runs a victim, kills it a while after its first promise, and adds its promises.
func kill(t *testing.T, dir, round string, after time.Duration, promised map[string][]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimDir+"="+dir, victimDir+"_ROUND="+round)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	sc, first := bufio.NewScanner(out), true
	for sc.Scan() {
		if first {
			first = false
			defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
		}
		if kind, u, ok := strings.Cut(sc.Text(), " "); ok {
			promised[kind] = append(promised[kind], u)
		}
	}
	if err := cmd.Wait(); err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the victim ended by itself: %v", err)
	}
}

func checkPromises(t *testing.T, s *Store, promised map[string][]string) {
	t.Helper()
	ctx := context.Background()
	for kind, state := range map[string]crawl.State{"claim": crawl.StateOpen, "finish": crawl.StateDone} {
		for _, u := range promised[kind] {
			got, err := s.URLs().Lookup(ctx, testJob, mustURL(t, u).Key())
			if err != nil || got[0].State < state {
				t.Errorf("%s of %s: state %v, error %v", kind, u, got[0].State, err)
			}
		}
	}
	have := map[string]bool{}
	must(t, s.Journal().Load(ctx, func(_ uint64, m bus.Message) error {
		have["journal "+m.Event.(*crawl.Fetch).Task.URL.String()] = true
		return nil
	}))
	for _, r := range records(t, s.Pages()) {
		have["page "+r.URL.String()] = true
	}
	for u := range pullAll(t, s) {
		have["queue "+u] = true
	}
	for _, kind := range []string{"journal", "page", "queue"} {
		for _, u := range promised[kind] {
			if !have[kind+" "+u] {
				t.Errorf("%s of %s is lost", kind, u)
			}
		}
	}
	report, err := s.Audit(ctx)
	if err != nil || report.PageBytes != report.FileBytes || len(report.Faults) > 0 {
		t.Errorf("audit: %+v, error %v", report, err)
	}
}

// pullAll pulls every queue, checks its length, and returns the URLs in front.1.
func pullAll(t *testing.T, s *Store) map[string]bool {
	t.Helper()
	ctx, urls := context.Background(), map[string]bool{}
	lengths, err := s.Queues().Lengths(ctx)
	must(t, err)
	for name, n := range lengths {
		ds, err := s.Queues().Pull(ctx, name, 1<<30)
		must(t, err)
		if int64(len(ds)) != n {
			t.Errorf("queue %s holds %d tasks, its length says %d", name, len(ds), n)
		}
		for _, d := range ds {
			if !d.Task.Repeat {
				t.Errorf("%s in %s is not marked as a repeat", d.Task.URL, name)
			}
			if name == "front.1" {
				urls[d.Task.URL.String()] = true
			}
		}
	}
	return urls
}
