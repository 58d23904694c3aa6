package frontier_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A small job that comes later shares its hosts evenly with a large one: it does not wait behind what that has queued.
func TestJobsShareAHostEvenly(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("after a crash: %v", crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, aJob("a"), aJob("b"))
				w.begin()
				w.add(pages(t, "a", 3, 600)...)
				time.Sleep(10 * time.Second)
				var small []crawl.Task
				for i := range 40 {
					for h := range 3 {
						small = append(small, page(t, "b", fmt.Sprintf("http://h%d.test/b%d", h, i)))
					}
				}
				w.add(small...)
				if crash {
					time.Sleep(time.Second)
					w.crash()
					w.begin()
				}
				before := w.fetched()
				time.Sleep(30 * time.Second)
				w.stop()
				of := map[crawl.JobID]int{}
				for _, f := range w.fetches[before:] {
					of[f.Task.Job]++
				}
				t.Logf("leases: %v", of)
				if least := (of["a"] + of["b"]) * 2 / 5; of["a"] < least || of["b"] < least {
					t.Errorf("leases by job: %v; want them even", of)
				}
			})
		})
	}
}

// A job that may not go on does not keep its hosts from other jobs.
func TestAJobThatWaitsIsInNobodysWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"), aJob("b"))
		w.begin()
		w.add(pages(t, "a", 2, 1000)...)
		time.Sleep(5 * time.Second)
		w.f.Hold("a", true)
		before := w.fetched()
		for i := range 10 {
			w.add(page(t, "b", fmt.Sprintf("http://h%d.test/b%d", i%2, i)))
		}
		time.Sleep(20 * time.Second)
		w.stop()
		of := map[crawl.JobID]int{}
		for _, f := range w.fetches[before:] {
			of[f.Task.Job]++
		}
		if of["b"] != 10 || of["a"] > 2 {
			t.Errorf("leases by job: %v, want the 10 of b", of)
		}
	})
}

// fetched is how many leases were fetched so far.
func (w *world) fetched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.fetches)
}

// Two jobs share a host whose robots.txt fails at first. The one that asks again asks by its own revision, and does not
// wait for the other, which is paused meanwhile.
func TestRobotsAreAskedForByTheJobThatNeedsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := aJob("a"), aJob("b")
		a.IgnoreRobots, b.IgnoreRobots, b.Epoch = false, false, 2
		w := newWorld(t, 1, a, b)
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := reply{took: 100 * time.Millisecond, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
			switch {
			case f.Task.Kind == crawl.KindRobots && f.Task.Attempt == 0:
				r.outcome = crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: "timeout"}
			case f.Task.Kind == crawl.KindRobots:
				r.outcome.Robots = &crawl.RobotsOutcome{Expires: time.Now().Add(time.Hour)}
			}
			return r
		}
		w.begin()
		w.add(pages(t, "a", 1, 5)...)
		time.Sleep(500 * time.Millisecond)
		w.f.Hold("a", true)
		w.add(page(t, "b", "http://h0.test/b"))
		time.Sleep(10 * time.Minute)
		w.stop()
		fetched := 0
		for _, f := range w.fetches {
			if got, want := f.Task.JobEpoch(), crawl.EpochOf(w.jobs[f.Task.Job].Epoch); got != want {
				t.Errorf("%s of job %s is fetched by revision %d; the job's is %d", f.Task.URL, f.Task.Job, got, want)
			}
			if f.Task.Job == "b" && f.Task.Kind == crawl.KindPage {
				fetched++
			}
		}
		if fetched != 1 {
			t.Errorf("%d pages of b were fetched; want 1", fetched)
		}
	})
}
