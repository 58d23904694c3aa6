package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Queues checks the promises of crawl.Queues. open returns empty queues, and a function that closes them and opens them
// again as the next start of the program would.
func Queues(t *testing.T, open func(t *testing.T) (q crawl.Queues, reopen func() crawl.Queues)) {
	run := func(name string, f func(t *testing.T, q crawl.Queues, reopen func() crawl.Queues)) {
		t.Run(name, func(t *testing.T) {
			q, reopen := open(t)
			f(t, q, reopen)
		})
	}
	run("tasks come out in the order they went in", queueOrder)
	run("a task comes back whole", queueWhole)
	run("one push may go to many queues", queueMany)
	run("a pulled task is not pulled again", queuePulled)
	run("an unsettled task comes back at the head after a restart, as a repeat", queueComesBack)
	run("what was pushed after the start is no repeat", queueNoRepeat)
	run("tasks settled out of order leave no gap", queueGaps)
	run("settling twice harms nobody", queueSettleTwice)
	run("an empty queue gives nothing and has no length", queueEmpty)
	run("names that start alike are apart", queueNames)
	run("200 workers at once lose and double nothing", queueAtOnce)
}

func queueOrder(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	push(t, q, "front.1", 0, 5)
	push(t, q, "front.1", 5, 300)
	wantPull(t, q, "front.1", 3, 0, 1, 2)
	wantPull(t, q, "front.1", 1, 3)
	wantPull(t, q, "front.1", 1000, seq(4, 300)...)
	wantPull(t, q, "front.1", 1)
	wantLengths(t, q, map[string]int64{"front.1": 300})
	q = reopen()
	wantPull(t, q, "front.1", 1000, seq(0, 300)...)
}

func queueWhole(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	u := urls(t, "https://user@a.test:8443/p%20a?q=ä#f", "http://b.test/")
	in := crawl.Task{Job: job, URL: u[0], Kind: crawl.KindSitemap, Priority: 4, Depth: 3, Redirects: 2, Referrer: u[1],
		Attempt: 1, NotBefore: aTime, Visit: 7, For: "http://b.test", Repeat: true, Seed: true, ETag: `"e"`,
		LastModified: "Thu, 01 Jan 1970"}
	check(t, q.Push(context.Background(), crawl.Queued{Queue: "back.0", Task: in}))
	for range 2 {
		got, err := q.Pull(context.Background(), "back.0", 1)
		check(t, err)
		if len(got) != 1 || got[0].Queue != "back.0" || !sameTime(got[0].Task.NotBefore, in.NotBefore) {
			t.Fatalf("got %+v", got)
		}
		got[0].Task.NotBefore = in.NotBefore
		if got[0].Task != in {
			t.Errorf("got %+v, want %+v", got[0].Task, in)
		}
		q = reopen()
	}
}

func queueMany(t *testing.T, q crawl.Queues, _ func() crawl.Queues) {
	var items []crawl.Queued
	for i := range 30 {
		items = append(items, crawl.Queued{Queue: fmt.Sprint("back.", i%3), Task: task(t, i)})
	}
	check(t, q.Push(context.Background(), items...))
	check(t, q.Push(context.Background()))
	wantLengths(t, q, map[string]int64{"back.0": 10, "back.1": 10, "back.2": 10})
	wantPull(t, q, "back.1", 100, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28)
}

func queuePulled(t *testing.T, q crawl.Queues, _ func() crawl.Queues) {
	push(t, q, "back.1", 0, 4)
	a := wantPull(t, q, "back.1", 2, 0, 1)
	wantLengths(t, q, map[string]int64{"back.1": 4})
	settle(t, q, a[1])
	wantLengths(t, q, map[string]int64{"back.1": 3})
	wantPull(t, q, "back.1", 5, 2, 3)
	settle(t, q, a[0])
	wantLengths(t, q, map[string]int64{"back.1": 2})
}

func queueComesBack(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	push(t, q, "back.1", 0, 6)
	ds := wantPull(t, q, "back.1", 4, 0, 1, 2, 3)
	settle(t, q, ds[0], ds[2])
	q = reopen()
	wantLengths(t, q, map[string]int64{"back.1": 4})
	back := wantPull(t, q, "back.1", 10, 1, 3, 4, 5)
	for _, d := range back[:2] {
		if !d.Task.Repeat {
			t.Errorf("%s came back but is not marked as a repeat", d.Task.URL)
		}
	}
}

func queueNoRepeat(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	push(t, q, "back.1", 0, 1)
	wantPull(t, q, "back.1", 1, 0)
	q = reopen()
	push(t, q, "back.1", 1, 2)
	push(t, q, "back.2", 2, 3)
	ds := slices.Concat(wantPull(t, q, "back.1", 9, 0, 1)[1:], wantPull(t, q, "back.2", 9, 2))
	for _, d := range ds {
		if d.Task.Repeat {
			t.Errorf("%s was pushed once since the start but is marked as a repeat", d.Task.URL)
		}
	}
}

// queueGaps settles every other task, in an order of its own, with restarts between.
func queueGaps(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	const n = 60
	left := seq(0, n)
	push(t, q, "front.2", 0, n)
	for round := 0; len(left) > 0; round++ {
		ds := wantPull(t, q, "front.2", 1000, left...)
		var keep []int
		for i := len(ds) - 1; i >= 0; i-- {
			if (i+round)%3 == 0 || len(ds) == 1 {
				settle(t, q, ds[i])
			} else {
				keep = append(keep, left[i])
			}
		}
		slices.Reverse(keep)
		left = keep
		want := map[string]int64{"front.2": int64(len(left))}
		maps.DeleteFunc(want, func(string, int64) bool { return len(left) == 0 })
		wantLengths(t, q, want)
		q = reopen()
		wantLengths(t, q, want)
		if len(left) > 3 { // a pull that ends within the gaps
			wantPull(t, q, "front.2", 2, left[0], left[1])
			wantLengths(t, q, want)
			q = reopen()
		}
	}
}

func queueSettleTwice(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	push(t, q, "back.1", 0, 1)
	old := wantPull(t, q, "back.1", 1, 0)
	settle(t, q, old[0], old[0])
	wantLengths(t, q, map[string]int64{})
	push(t, q, "back.1", 1, 3)
	wantPull(t, q, "back.1", 1, 1)
	settle(t, q, old...)
	wantLengths(t, q, map[string]int64{"back.1": 2})
	q = reopen()
	wantPull(t, q, "back.1", 9, 1, 2)
}

func queueEmpty(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	wantPull(t, q, "back.7", 3)
	push(t, q, "back.7", 0, 1)
	wantPull(t, q, "back.7", 0)
	settle(t, q, wantPull(t, q, "back.7", 3, 0)...)
	wantPull(t, q, "back.7", 3)
	wantLengths(t, q, map[string]int64{})
	q = reopen()
	wantLengths(t, q, map[string]int64{})
	push(t, q, "back.7", 1, 2)
	wantPull(t, q, "back.7", 3, 1)
}

func queueNames(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	names := []string{"a", "a.b", "a-b", "a.b.c", "ab", "a0"}
	for i, name := range names {
		push(t, q, name, 10*i, 10*i+3)
	}
	for range 2 {
		for i, name := range names {
			wantPull(t, q, name, 100, 10*i, 10*i+1, 10*i+2)
		}
		q = reopen()
	}
}

// queueAtOnce lets workers push, pull and settle on few queues. Every task must be settled once.
func queueAtOnce(t *testing.T, q crawl.Queues, reopen func() crawl.Queues) {
	const workers, each = 200, 5
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			ctx, name := context.Background(), fmt.Sprint("back.", w%3)
			for i := range each {
				if err := q.Push(ctx, crawl.Queued{Queue: name, Task: task(t, w*each+i)}); err != nil {
					t.Error(err)
				}
				ds, err := q.Pull(ctx, name, 1+w%4)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, d := range ds {
					seen[d.Task.URL.String()]++
				}
				mu.Unlock()
				if err := q.Settle(ctx, ds...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	q = reopen()
	for i := range 3 {
		ds, err := q.Pull(context.Background(), fmt.Sprint("back.", i), workers*each)
		check(t, err)
		for _, d := range ds {
			seen[d.Task.URL.String()]++
		}
	}
	if len(seen) != workers*each {
		t.Errorf("%d tasks were pulled, want %d", len(seen), workers*each)
	}
	for u, n := range seen {
		if n != 1 {
			t.Errorf("%s was pulled %d times", u, n)
		}
	}
}

func push(t *testing.T, q crawl.Queues, name string, from, to int) {
	t.Helper()
	var items []crawl.Queued
	for i := from; i < to; i++ {
		items = append(items, crawl.Queued{Queue: name, Task: task(t, i)})
	}
	check(t, q.Push(context.Background(), items...))
}

func wantPull(t *testing.T, q crawl.Queues, name string, n int, want ...int) []crawl.Delivery {
	t.Helper()
	got, err := q.Pull(context.Background(), name, n)
	check(t, err)
	if len(got) != len(want) {
		t.Fatalf("pull %d from %q: got %d tasks, want %d", n, name, len(got), len(want))
	}
	for i, d := range got {
		if w := task(t, want[i]); d.Task.URL != w.URL || d.Queue != name {
			t.Fatalf("pull %d from %q: task %d is %s, want %s", n, name, i, d.Task.URL, w.URL)
		}
	}
	return got
}

func settle(t *testing.T, q crawl.Queues, ds ...crawl.Delivery) {
	t.Helper()
	check(t, q.Settle(context.Background(), ds...))
}

func wantLengths(t *testing.T, q crawl.Queues, want map[string]int64) {
	t.Helper()
	got, err := q.Lengths(context.Background())
	check(t, err)
	if !maps.Equal(got, want) {
		t.Fatalf("lengths: got %v, want %v", got, want)
	}
}

func task(t *testing.T, i int) crawl.Task {
	return crawl.Task{Job: job, URL: urls(t, fmt.Sprintf("http://h%d.test/%d", i%10, i))[0], Depth: i}
}

func seq(from, to int) []int {
	var out []int
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}
