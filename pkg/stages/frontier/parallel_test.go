package frontier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// atOnce is the greatest number of requests to hosts whose names begin with a prefix that were under way at once.
func (w *world) atOnce(prefix string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	type edge struct {
		at time.Time
		by int
	}
	var edges []edge
	for _, r := range w.log {
		if strings.HasPrefix(r.host, prefix) {
			edges = append(edges, edge{r.start, 1}, edge{r.end, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return a.by - b.by
	})
	n, top := 0, 0
	for _, e := range edges {
		n += e.by
		top = max(top, n)
	}
	return top
}

// No more requests of a job are under way than its parallelism allows, and as many are.
func TestParallelismBoundsTheLeasesOfAJob(t *testing.T) {
	for _, tc := range []struct{ parallelism, nodes, want int }{{1, 1, 1}, {8, 1, 8}, {8, 4, 2}, {2, 3, 1}, {0, 1, 60}} {
		t.Run(fmt.Sprintf("%d over %d nodes", tc.parallelism, tc.nodes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.Parallelism = tc.parallelism
				w := newWorld(t, 1, job)
				w.nodes = func() int { return tc.nodes }
				w.answer = answering(1, 3*time.Second)
				w.runAll(pages(t, "a", 60, 3)...)
				if got := w.atOnce("h"); got != tc.want || len(w.log) != 180 {
					t.Errorf("%d of 180 requests, up to %d at once, want %d", len(w.log), got, tc.want)
				}
			})
		})
	}
}

// The bound holds over a crash, and a revision that lifts it lets waiting hosts go at once.
func TestParallelismHoldsOverACrashAndIsRevised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.Parallelism = 3
		w := newWorld(t, 1, job)
		w.sends = true
		w.answer = answering(1, 3*time.Second)
		w.begin()
		w.add(pages(t, "a", 40, 3)...)
		for range 3 {
			time.Sleep(7 * time.Second)
			w.crash()
			w.begin()
		}
		time.Sleep(7 * time.Second)
		if got := w.atOnce("h"); got != 3 {
			t.Errorf("up to %d at once over crashes, want 3", got)
		}
		wider := *job
		wider.Parallelism, wider.Epoch = 20, 2
		w.crash() // nobody reads the jobs while they are changed
		w.jobs["a"] = &wider
		w.begin()
		w.finish()
		w.stop()
		if got := w.atOnce("h"); got != 20 {
			t.Errorf("up to %d at once after the revision, want 20", got)
		}
	})
}

// A job that has its leases slows no other down.
func TestParallelismIsOfOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, fast := aJob("slow"), aJob("fast")
		slow.Parallelism = 1
		w := newWorld(t, 1, slow, fast)
		w.answer = answering(1, 2*time.Second)
		w.begin()
		w.add(pages(t, "slow", 50, 4)...)
		var other []crawl.Task
		for i := range 40 {
			other = append(other, page(t, "fast", fmt.Sprintf("http://f%d.test/", i)))
		}
		w.add(other...)
		time.Sleep(20 * time.Second)
		w.stop()
		if got := w.atOnce("f"); got != 40 {
			t.Errorf("up to %d of the 40 hosts of the other job at once", got)
		}
		if got := w.atOnce("h"); got != 1 {
			t.Errorf("up to %d requests of the job at once, want 1", got)
		}
	})
}

// Failures that retry.on does not name are not repeated, and say so; an answer that it names is.
func TestOnlyNamedFailuresAreRepeated(t *testing.T) {
	failed := func(v crawl.Verdict, reason string, status int) crawl.Outcome {
		return crawl.Outcome{Verdict: v, Reason: reason, Status: status, Detail: "it failed"}
	}
	for name, tc := range map[string]struct {
		on       []string
		out      crawl.Outcome
		requests int
		verdict  crawl.Verdict
		says     bool
	}{
		"as today": {nil, failed(crawl.VerdictRetry, crawl.ReasonTimeout, 0), 3, crawl.VerdictFailed, false},
		"named": {[]string{"timeout"}, failed(crawl.VerdictRetry, crawl.ReasonTimeout, 0), 3, crawl.VerdictFailed,
			false},
		"not named": {[]string{"connect"}, failed(crawl.VerdictRetry, crawl.ReasonTimeout, 0), 1, crawl.VerdictFailed,
			true},
		"a status": {[]string{"status:5xx"}, failed(crawl.VerdictRetry, crawl.ReasonStatus, 503), 3, crawl.VerdictFailed,
			false},
		"another": {[]string{"status:429"}, failed(crawl.VerdictRetry, crawl.ReasonStatus, 503), 1, crawl.VerdictFailed,
			true},
		"a last word": {[]string{"status:404"}, failed(crawl.VerdictGone, crawl.ReasonStatus, 404), 3, crawl.VerdictGone,
			false},
		"not this one": {[]string{"status:404"}, failed(crawl.VerdictGone, crawl.ReasonStatus, 410), 1, crawl.VerdictGone,
			false},
		"forbidden": {[]string{"status:403"}, failed(crawl.VerdictBlocked, crawl.ReasonStatus, 403), 3,
			crawl.VerdictBlocked, false},
		"a certificate": {[]string{"tls"}, failed(crawl.VerdictRefused, crawl.ReasonTLS, 0), 1, crawl.VerdictRefused, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.Retry.Max, job.Retry.On, job.Retry.SlowMin = 2, tc.on, crawl.Duration(time.Second)
				w := newWorld(t, 1, job)
				w.answer = func(*world, *crawl.Fetch) reply { return reply{took: time.Second, outcome: tc.out} }
				var last crawl.LogLine
				w.begin()
				w.proc.appends = func(lines []crawl.LogLine) error {
					last = lines[len(lines)-1]
					return nil
				}
				w.add(page(t, "a", "http://h0.test/x"))
				w.finish()
				w.stop()
				if len(w.log) != tc.requests || last.Verdict != tc.verdict || strings.Contains(last.Detail, "retry.on") != tc.says {
					t.Errorf("%d requests, then %s (%s); want %d and %s", len(w.log), last.Verdict, last.Detail, tc.requests,
						tc.verdict)
				}
			})
		})
	}
}
