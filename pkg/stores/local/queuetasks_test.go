package local

import (
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// However many tasks wait in queues of other jobs, a job's are listed at once: their queues are skipped.
func TestQueuesOfOtherJobsAreSkipped(t *testing.T) {
	s, ctx := openStore(t, t.TempDir()), t.Context()
	const others, mine, mixed = maxLooked + 1_000, 30, 20
	var items []crawl.Queued
	add := func(queue string, job crawl.JobID, n int) {
		for i := range n {
			items = append(items, crawl.Queued{Queue: queue,
				Task: crawl.Task{Job: job, URL: mustURL(t, fmt.Sprintf("https://a.test/%s/%d", queue, i))}})
		}
	}
	add("back.1", "other-1", mixed)
	add("back.1", "mine-1", mixed)
	add("front.3.other-1", "other-1", others)
	add("front.4.mine-1", "mine-1", mine)
	add("front.5.other-1", "other-1", 1)
	must(t, s.Queues().Push(ctx, items...))
	tasks, next, err := s.Queues().TasksOf(ctx, "mine-1", "", mixed+mine+1)
	must(t, err)
	if len(tasks) != mixed+mine || next != "" {
		t.Fatalf("%d tasks, next %q; want %d and no more", len(tasks), next, mixed+mine)
	}
	seen, calls := map[string]bool{}, 0
	for next = ""; calls == 0 || next != ""; calls++ {
		tasks, next, err = s.Queues().TasksOf(ctx, "mine-1", next, 7)
		must(t, err)
		for i := range tasks {
			seen[tasks[i].URL.String()] = true
		}
	}
	if len(seen) != mixed+mine || calls > (mixed+mine)/7+1 {
		t.Errorf("%d tasks in %d pages", len(seen), calls)
	}
	if tasks, next, err = s.Queues().TasksOf(ctx, "nobody-1", "", 10); len(tasks) != 0 || next != "" || err != nil {
		t.Errorf("of no job: %d tasks, next %q, %v", len(tasks), next, err)
	}
}
