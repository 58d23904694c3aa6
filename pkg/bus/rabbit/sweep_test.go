package rabbit_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
)

// own lists the queues of a frontier besides those that are always there.
func own(t *testing.T, cfg rabbit.Config) (names []string) {
	t.Helper()
	b := rabbittest.OpenBus(t, cfg)
	for _, d := range must(b.Depths(within(t)))(t) {
		if slices.Contains([]string{"front.2.a-job", "back.1", "back.2", "back.3", "later.5"}, d.Queue) {
			names = append(names, d.Queue)
		}
	}
	slices.Sort(names)
	return names
}

// A frontier that runs for months deletes what ended jobs, hosts and retries leave behind: nothing that holds a task,
// or of which a task is held.
func TestQueuesThatNobodyUsesAreDeleted(t *testing.T) {
	cfg := rabbittest.Config(t)
	q := openQueues(t, cfg)
	for _, name := range []string{"front.2.a-job", "front.2", "back.1", "back.2", "back.3", "later.5"} {
		fill(t, q, name, 2)
	}
	for _, name := range []string{"front.2.a-job", "front.2", "back.3", "later.5"} {
		check(t, q.Settle(within(t), pull(t, q, name, 2)...))
	}
	held := pull(t, q, "back.1", 2)
	q.Reached()
	check(t, q.Sweep())
	if got := own(t, cfg); !slices.Equal(got, []string{"back.1", "back.2"}) {
		t.Errorf("left are %q, want back.1, whose tasks are held, and back.2, which has tasks", got)
	}
	fill(t, q, "back.3", 3) // they are made again when they are needed
	wantTasks(t, pull(t, q, "back.3", 9), 0, 1, 2)
	wantTasks(t, pull(t, q, "later.5", 9))
	check(t, q.Settle(within(t), held[0]))
	check(t, q.Close())
	next := openQueues(t, cfg)
	wantTasks(t, pull(t, next, "back.1", 9), 1)
	wantTasks(t, pull(t, next, "back.2", 9), 0, 1)
	wantTasks(t, pull(t, next, "back.3", 9), 0, 1, 2)
}

// Queues that are deleted while tasks are pushed and pulled lose none.
func TestASweepAmongPushesLosesNothing(t *testing.T) {
	q := openQueues(t, rabbittest.Config(t))
	const rounds, names = 60, 4
	var wg sync.WaitGroup
	seen := make([]map[string]bool, names)
	for i := range names {
		seen[i] = map[string]bool{}
		name := fmt.Sprint("back.", i+1)
		wg.Go(func() {
			for n := range rounds {
				if err := q.Push(within(t), crawl.Queued{Queue: name, Task: page(n).Event.(*crawl.Page).Task}); err != nil {
					t.Error(err)
				}
				if n%3 == 0 {
					continue // it lies there for a while
				}
				ds, err := q.Pull(within(t), name, 9)
				if err != nil {
					t.Error(err)
				}
				for _, d := range ds {
					seen[i][d.Task.URL.String()] = true
				}
				if err := q.Settle(within(t), ds...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for sweeping := true; sweeping; {
		check(t, q.Sweep())
		select {
		case <-done:
			sweeping = false
		default:
		}
	}
	for i := range names {
		for _, d := range pull(t, q, fmt.Sprint("back.", i+1), 99) {
			seen[i][d.Task.URL.String()] = true
		}
		if len(seen[i]) != rounds {
			t.Errorf("back.%d: %d tasks came, want %d", i+1, len(seen[i]), rounds)
		}
	}
	select {
	case <-q.Lost():
		t.Errorf("the receipts are void: %v", q.Cause())
	default:
	}
}
