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
		return reply{took: min(40*time.Second, 3*f.FirstWait),
			outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Status: 200}}
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
			switch h % 7 {
			case 0:
				return dripping(f)
			case 1:
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
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	for _, good := range []int{1, 20} {
		alone := pagesInTime(t, crowd{}, good, 90*time.Second)
		for _, c := range crowds() {
			t.Run(fmt.Sprintf("%d good beside %s", good, c.name), func(t *testing.T) {
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

// besideSilence crawls good hosts among silent ones, which come after them or before, and hands the good hosts'
// requests to each, by host and in the order of their times.
func besideSilence(t *testing.T, goodFirst, spread bool, each func(t *testing.T, began time.Time, requests []request)) {
	const good, silentHosts = 20, 700
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.Politeness.Delay = crawl.Duration(500 * time.Millisecond)
		job.Politeness.IPDelay = 0
		if spread {
			job.Politeness.IPDelay = 1 // the hosts come one after the other, as their addresses are found
		}
		w, began := newWorld(t, 1, job), time.Now()
		name := func(i int) string { return fmt.Sprintf("h%d.test", i) }
		known := map[string]bool{}
		for i := range good {
			known[name(i)] = true
		}
		w.answer = func(w *world, f *crawl.Fetch) reply {
			if known[f.Task.URL.HostKey()] {
				return fine(w, f)
			}
			return silent(f)
		}
		w.begin()
		var first, last []crawl.Task
		for i := range good * 40 {
			first = append(first, page(t, "a", fmt.Sprintf("http://%s/%d", name(i%good), i/good)))
		}
		for i := range silentHosts {
			last = append(last, page(t, "a", "http://"+name(good+i)+"/"))
		}
		if !goodFirst {
			first, last = last, first
		}
		w.add(append(first, last...)...)
		time.Sleep(20 * time.Second)
		w.stop()
		by := map[string][]request{}
		for _, r := range w.log {
			if known[r.host] {
				by[r.host] = append(by[r.host], r)
			}
		}
		if len(by) != good {
			t.Fatalf("%d hosts that answer were asked, want %d", len(by), good)
		}
		for _, requests := range by {
			each(t, began, requests)
		}
	})
}

// A host that answered, once or often, waits for none that says nothing: places are kept for it.
func TestAHostThatAnsweredWaitsForNoStranger(t *testing.T) {
	for _, v := range []struct{ first, spread bool }{{}, {true, false}, {false, true}, {true, true}} {
		t.Run(fmt.Sprintf("%+v", v), func(t *testing.T) {
			longest := time.Duration(0)
			besideSilence(t, v.first, v.spread, func(_ *testing.T, _ time.Time, requests []request) {
				for i := range requests[1:] {
					longest = max(longest, requests[i+1].start.Sub(requests[i].end))
				}
			})
			if longest > 600*time.Millisecond {
				t.Errorf("a host that answered waited %v for its next request, its delay is 500 ms", longest)
			}
		})
	}
}

// Places that no host needs which answered are the newcomers': of 720, the last is asked when the others had the least
// time that a first request gets three times over, for 256 are asked at once.
func TestNewcomersHaveThePlacesThatNobodyNeeds(t *testing.T) {
	for _, v := range []struct {
		spread bool
		bound  time.Duration
	}{{false, 3 * time.Second}, {true, 4500 * time.Millisecond}} { // to find the addresses takes 3.4 s
		latest := time.Duration(0)
		besideSilence(t, false, v.spread, func(_ *testing.T, began time.Time, requests []request) {
			latest = max(latest, requests[0].start.Sub(began))
		})
		if latest > v.bound {
			t.Errorf("a newcomer was first asked after %v, want %v at most (one after the other: %v)", latest, v.bound, v.spread)
		}
	}
}

// An answer that was cut off because it came too slowly is no proof that its host is prompt, however short its time
// was.
func TestASlowAnswerIsNoProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.answer = func(*world, *crawl.Fetch) reply {
			return reply{took: 3 * time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Status: 200,
				Reason: crawl.ReasonTimeout}}
		}
		w.begin()
		w.add(pages(t, "a", 300, 20)...)
		time.Sleep(time.Minute) // each was asked several times
		most := 0
		for range 30 {
			time.Sleep(time.Second)
			most = max(most, w.f.Stats().InFlight)
		}
		w.stop()
		if most > w.cfg.Window/4 {
			t.Errorf("hosts whose answers were all too slow hold %d of %d places", most, w.cfg.Window)
		}
	})
}
