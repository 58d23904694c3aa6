package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// dawn is the first instant of a bucket.
var dawn = revisit.BucketStart(345_678)

// again is a page that is due so many minutes after dawn.
func again(u weburl.URL, visits uint32, minutes float64) crawl.Revisit {
	due := dawn.Add(time.Duration(minutes * float64(time.Minute))).Truncate(time.Second)
	return crawl.Revisit{URL: u, State: revisit.State{Visits: visits, Last: dawn.Add(-time.Hour), Due: due,
		Rate: revisit.Unknown(), Weight: 128, Sum: 9}}
}

// Revisits checks the promises of crawl.Revisits. open returns an empty store and what opens it once more, which may
// close the first.
func Revisits(t *testing.T, open func(t *testing.T) (r crawl.Revisits, reopen func() crawl.Revisits)) {
	for name, test := range map[string]func(*testing.T, crawl.Revisits, func() crawl.Revisits){
		"what is put is remembered and due in the order of its buckets": revisitsInOrder,
		"an older visit changes nothing, one told twice is stored once": revisitsToldTwice,
		"a page without a due time is remembered and not due":           revisitsTaken,
		"what is dropped is gone":                                       revisitsDropped,
		"jobs are apart":                                                revisitsOfJobs,
		"pages that become due sooner are found":                        revisitsSooner,
		"each of many writers' pages is due once":                       revisitsAtOnce,
		"what is another node's is passed over":                         revisitsOfNodes,
		"each page is told once in the order of the keys":               revisitsEach,
		"what was learned of hosts is kept":                             revisitsHabits,
	} {
		t.Run(name, func(t *testing.T) {
			r, reopen := open(t)
			test(t, r, reopen)
		})
	}
}

func revisitsInOrder(t *testing.T, r crawl.Revisits, reopen func() crawl.Revisits) {
	u := urls(t, "http://a.test/1", "http://a.test/2", "http://b.test/3", "http://c.test/4")
	pages := []crawl.Revisit{again(u[0], 1, 35), again(u[1], 1, 5), again(u[2], 1, 15), again(u[3], 1, 1e5)}
	check(t, r.Put(t.Context(), job, pages...))
	for range 2 {
		wantDue(t, r, job, dawn.Add(-10*time.Minute), 10)
		wantDue(t, r, job, dawn.Add(time.Minute), 10, pages[1])
		wantDue(t, r, job, dawn.Add(39*time.Minute), 10, pages[1], pages[2], pages[0])
		wantDue(t, r, job, dawn.Add(39*time.Minute), 2, pages[1], pages[2])
		wantDue(t, r, job, dawn.Add(39*time.Minute), 0)
		wantStates(t, r, job, []weburl.URL{u[3], u[0], u[3]}, pages[3].State, pages[0].State, pages[3].State)
		r = reopen()
	}
}

func revisitsToldTwice(t *testing.T, r crawl.Revisits, _ func() crawl.Revisits) {
	u := urls(t, "http://a.test/1")
	newer := again(u[0], 3, 50)
	check(t, r.Put(t.Context(), job, again(u[0], 2, 5)))
	check(t, r.Put(t.Context(), job, again(u[0], 1, 2), newer, again(u[0], 2, 5)))
	check(t, r.Put(t.Context(), job, newer))
	check(t, r.Put(t.Context(), job, again(u[0], 2, 5)))
	wantDue(t, r, job, dawn.Add(30*time.Minute), 10)
	wantDue(t, r, job, dawn.Add(time.Hour), 10, newer)
	same := newer
	same.Sum, same.Due = 77, dawn.Add(2*time.Hour)
	check(t, r.Put(t.Context(), job, same))
	wantDue(t, r, job, dawn.Add(time.Hour), 10)
	wantDue(t, r, job, dawn.Add(3*time.Hour), 10, same)
}

func revisitsTaken(t *testing.T, r crawl.Revisits, reopen func() crawl.Revisits) {
	u := urls(t, "http://a.test/1", "http://a.test/2")
	taken, waits := again(u[0], 4, 5), again(u[1], 4, 5)
	check(t, r.Put(t.Context(), job, taken, waits))
	taken.Due = time.Time{}
	check(t, r.Put(t.Context(), job, taken))
	wantDue(t, r, job, dawn.Add(time.Hour), 10, waits)
	wantStates(t, reopen(), job, u, taken.State, waits.State)
	// The outcome may be told before the task is said to be taken.
	r = reopen()
	next := again(u[0], 5, 90)
	check(t, r.Put(t.Context(), job, next))
	check(t, r.Put(t.Context(), job, taken))
	wantDue(t, r, job, dawn.Add(2*time.Hour), 10, waits, next)
}

func revisitsDropped(t *testing.T, r crawl.Revisits, _ func() crawl.Revisits) {
	u := urls(t, "http://a.test/1", "http://a.test/2", "http://a.test/3")
	stays := again(u[1], 1, 5)
	check(t, r.Put(t.Context(), job, again(u[0], 7, 5), stays))
	for range 2 {
		check(t, r.Drop(t.Context(), job, u[0].Key(), u[2].Key()))
		wantDue(t, r, job, dawn.Add(time.Hour), 10, stays)
	}
	check(t, r.Drop(t.Context(), "nobody knows it", u[0].Key()))
	back := again(u[0], 1, 5)
	check(t, r.Put(t.Context(), job, back))
	wantStates(t, r, job, u, back.State, stays.State, revisit.State{})
}

func revisitsOfJobs(t *testing.T, r crawl.Revisits, _ func() crawl.Revisits) {
	u := urls(t, "http://a.test/1")
	one, other := again(u[0], 1, 5), again(u[0], 2, 15)
	check(t, r.Put(t.Context(), job, one))
	check(t, r.Put(t.Context(), "another", other))
	wantDue(t, r, job, dawn.Add(time.Hour), 10, one)
	wantDue(t, r, "another", dawn.Add(time.Hour), 10, other)
	wantDue(t, r, "nobody knows it", dawn.Add(time.Hour), 10)
	wantStates(t, r, "nobody knows it", u, revisit.State{})
}

// revisitsSooner takes from the front, and puts before it what a store that remembers the front may pass over.
func revisitsSooner(t *testing.T, r crawl.Revisits, _ func() crawl.Revisits) {
	u := manyURLs(t, 40, 2)
	for i := range u {
		check(t, r.Put(t.Context(), job, again(u[i], 1, float64(10*i+1000))))
	}
	for i := range 20 {
		wantDue(t, r, job, dawn.Add(9000*time.Minute), 1, again(u[i], 1, float64(10*i+1000)))
		check(t, r.Put(t.Context(), job, again(u[i], 2, 20_000)))
	}
	wantDue(t, r, job, dawn.Add(1100*time.Minute), 1)
	sooner := again(u[30], 2, 3)
	check(t, r.Put(t.Context(), job, sooner))
	wantDue(t, r, job, dawn.Add(9000*time.Minute), 2, sooner, again(u[20], 1, 1200))
}

// revisitsAtOnce lets pages be put, found and taken at the same time: each is taken once, none is passed over.
func revisitsAtOnce(t *testing.T, r crawl.Revisits, _ func() crawl.Revisits) {
	const writers, each = 8, 60
	u := manyURLs(t, writers*each, 4)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each { // from late to soon: before what is looked at
				if err := r.Put(context.Background(), job, again(u[w*each+i], 1, float64(6000-100*i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	taken := map[string]int{}
	take := func() {
		found, err := r.Due(t.Context(), job, dawn.Add(7000*time.Minute), 16, nil)
		check(t, err)
		for i := range found {
			taken[found[i].URL.String()]++
			found[i].Due = time.Time{}
		}
		check(t, r.Put(t.Context(), job, found...))
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
			take()
		}
	}
	for range writers * each / 16 {
		take()
	}
	take()
	wantVisitedOnce(t, taken, len(u))
}

// revisitsOfNodes hides some pages that are due behind others', of one bucket and of many.
func revisitsOfNodes(t *testing.T, r crawl.Revisits, _ func() crawl.Revisits) {
	u := manyURLs(t, 900, 7)
	pages := make([]crawl.Revisit, len(u))
	for i := range u {
		pages[i] = again(u[i], 1, float64(i/3))
	}
	check(t, r.Put(t.Context(), job, pages...))
	hidden := map[string]bool{u[0].String(): true, u[450].String(): true, u[899].String(): true}
	for _, n := range []int{1, 2, 3, 10} {
		got, err := r.Due(t.Context(), job, dawn.Add(400*time.Minute), n,
			func(u weburl.URL) bool { return hidden[u.String()] })
		check(t, err)
		if len(got) != min(n, 3) {
			t.Errorf("%d pages of 3 where %d were asked for", len(got), n)
		}
		for i, want := range []weburl.URL{u[0], u[450], u[899]}[:len(got)] {
			if got[i].URL != want {
				t.Errorf("page %d is %s, want %s", i, got[i].URL, want)
			}
		}
	}
	got, err := r.Due(t.Context(), job, dawn.Add(400*time.Minute), 900, nil) // what was passed over is still due
	check(t, err)
	if len(got) != len(u) {
		t.Errorf("%d pages of %d are due", len(got), len(u))
	}
}

func revisitsEach(t *testing.T, r crawl.Revisits, _ func() crawl.Revisits) {
	u := manyURLs(t, 200, 5)
	want := map[weburl.Key]revisit.State{}
	for i := range u {
		p := again(u[i], uint32(i), float64(i))
		if i%3 == 0 {
			p.Due = time.Time{}
		}
		check(t, r.Put(t.Context(), job, p))
		want[u[i].Key()] = p.State
	}
	check(t, r.Put(t.Context(), "another", again(u[0], 7, 1)))
	var last weburl.Key
	check(t, r.Each(t.Context(), job, func(k weburl.Key, s revisit.State) error {
		if bytes.Compare(last[:], k[:]) >= 0 {
			t.Errorf("%s comes after %s", k, last)
		}
		if s != want[k] {
			t.Errorf("%s: %+v, want %+v", k, s, want[k])
		}
		delete(want, k)
		last = k
		return nil
	}))
	if len(want) > 0 {
		t.Errorf("%d pages were not told", len(want))
	}
	stop := errors.New("stop")
	if err := r.Each(t.Context(), job, func(weburl.Key, revisit.State) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Each ended with %v, want the function's error", err)
	}
}

func wantVisitedOnce(t *testing.T, taken map[string]int, pages int) {
	t.Helper()
	for _, n := range taken {
		if n != 1 {
			t.Fatalf("a page was taken %d times", n)
		}
	}
	if len(taken) != pages {
		t.Errorf("%d pages of %d were due", len(taken), pages)
	}
}

func wantDue(t *testing.T, r crawl.Revisits, job crawl.JobID, by time.Time, n int, want ...crawl.Revisit) {
	t.Helper()
	got, err := r.Due(t.Context(), job, by, n, nil)
	check(t, err)
	if text := fmt.Sprint; text(got) != text(want) && (len(got) > 0 || len(want) > 0) {
		t.Errorf("due by %v: %+v\nwant %+v", by, got, want)
	}
}

func wantStates(t *testing.T, r crawl.Revisits, job crawl.JobID, u []weburl.URL, want ...revisit.State) {
	t.Helper()
	keys := make([]weburl.Key, len(u))
	for i := range u {
		keys[i] = u[i].Key()
	}
	got, err := r.States(t.Context(), job, keys...)
	check(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("job %s: %+v\nwant %+v", job, got, want)
	}
}
