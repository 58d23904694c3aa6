package frontier_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// silent never answers: the fetcher gives up after the time that the lease allows.
func silent(f *crawl.Fetch) reply {
	took := 30 * time.Second
	if f.FirstWait > 0 {
		took = min(took, f.FirstWait)
	}
	return reply{took: took, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonTimeout}}
}

// dripping answers at once and then hardly sends anything.
func dripping(f *crawl.Fetch) reply {
	if f.FirstWait > 0 {
		return reply{took: min(40*time.Second, 3*f.FirstWait), outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Status: 200}}
	}
	return reply{took: 40 * time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
}

// crowd is how hosts behave by their numbers; those from good on answer at once.
type crowd struct {
	name   string
	good   int
	least  float64 // of the pages that good hosts have alone
	behave func(host int, f *crawl.Fetch) reply
}

func crowds() []crowd {
	return []crowd{
		{"600 silent", 600, 0.9, func(_ int, f *crawl.Fetch) reply { return silent(f) }},
		{"500 silent, 100 slow, 100 dead", 700, 0.9, func(h int, f *crawl.Fetch) reply {
			switch {
			case h%7 == 0:
				return dripping(f)
			case h%7 == 1:
				return reply{outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonConnect}}
			}
			return silent(f)
		}},
		{"600 that answer once and then no more", 600, 0.8, func(_ int, f *crawl.Fetch) reply {
			if f.Task.URL.Path() == "/0" {
				return fine(nil, f)
			}
			return silent(f)
		}},
	}
}

// pagesInTime is how many pages of the good hosts, which come last, are asked for within a time.
func pagesInTime(t *testing.T, c crowd, good int, within time.Duration) (pages int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.answer = func(w *world, f *crawl.Fetch) reply {
			n := 0
			_, _ = fmt.Sscanf(f.Task.URL.HostKey(), "h%d.test", &n)
			if n >= c.good {
				return fine(w, f)
			}
			return c.behave(n, f)
		}
		w.begin()
		var tasks []crawl.Task
		for i := range 200 {
			for h := range c.good + good {
				if h >= c.good || i < 3 {
					tasks = append(tasks, page(t, "a", fmt.Sprintf("http://h%d.test/%d", h, i)))
				}
			}
		}
		w.add(tasks...)
		time.Sleep(within)
		w.stop()
		for _, r := range w.log {
			n := 0
			_, _ = fmt.Sscanf(r.host, "h%d.test", &n)
			if n >= c.good {
				pages++
			}
		}
	})
	return pages
}

// Hosts that answer keep their pace, however many others say nothing.
func TestSilentHostsAreInNobodysWay(t *testing.T) {
	for _, c := range crowds() {
		for _, good := range []int{1, 20} {
			t.Run(fmt.Sprintf("%d good beside %s", good, c.name), func(t *testing.T) {
				alone := pagesInTime(t, crowd{}, good, 90*time.Second)
				beside := pagesInTime(t, c, good, 90*time.Second)
				t.Logf("%d pages alone, %d beside", alone, beside)
				if float64(beside) < c.least*float64(alone) {
					t.Errorf("%d pages beside the others, %d alone: want %v of them at least", beside, alone, c.least)
				}
			})
		}
	}
}

// A host that needs longer than the first wait is heard in the end: each attempt waits longer, and the last as long
// as the job allows.
func TestAHostThatIsSlowAtFirstIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		var waits []time.Duration
		w.answer = func(w *world, f *crawl.Fetch) reply {
			waits = append(waits, f.FirstWait)
			if f.FirstWait > 0 {
				return silent(f)
			}
			return fine(w, f)
		}
		w.runAll(pages(t, "a", 1, 2)...)
		if got := fmt.Sprint(waits); got != "[5s 10s 20s 0s 0s]" {
			t.Errorf("the waits were %s", got)
		}
		if got := w.reasons()[""]; got != 2 {
			t.Errorf("%d pages, want 2", got)
		}
	})
}
