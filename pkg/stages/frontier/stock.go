package frontier

import (
	"log/slog"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// stock counts the tasks that wait, in the queues and in memory. Frontier.mu guards it.
type stock struct {
	queued int64 // tasks in all queues and buffers
	held   int   // of them, those in buffers
	aside  int64 // of them, those that were set aside: see jobFronts
	fronts fronts
	levels levels
	later  map[int]*laterQueue // by number
	backs  backQueues
	log    *slog.Logger
}

// retrieve lets what was set aside of a job be drawn again: there may be room for it.
func (s *stock) retrieve(job crawl.JobID) {
	j := s.fronts.jobs(job)
	j.lengths[0] += j.aside
	s.aside -= j.aside
	j.aside = 0
}

// setAside counts tasks that were set aside.
func (s *stock) setAside(j *jobFronts, tasks int64) {
	j.aside += tasks
	s.aside += tasks
}

// took counts a task that left a buffer and the queues.
func (s *stock) took() {
	s.held--
	s.queued--
}

// queuedFronts counts tasks that were put into front queues. hungry: one of several jobs had none there before, and may
// have none anywhere.
func (s *stock) queuedFronts(items []crawl.Queued) (hungry bool) {
	for i := range items {
		if isLevel(items[i].Queue) {
			s.levels.of(items[i].Task.Job).add(items[i].Task.Depth, 1)
		} else {
			hungry = s.fronts.add(&items[i]) || hungry
		}
	}
	s.queued += int64(len(items))
	return hungry && len(s.fronts.all) > 1
}

// queuedLater counts tasks that were put into a queue of retries.
func (s *stock) queuedLater(number, tasks int) {
	q := s.later[number]
	if q == nil {
		q = &laterQueue{}
		s.later[number] = q
	}
	q.count += int64(tasks)
	s.queued += int64(tasks)
}

// laterDue returns when the first retry that was looked at is due; at once where one was not looked at.
func (s *stock) laterDue() (at time.Time, ok bool) {
	for _, q := range s.later {
		if due := q.due(); (q.count > 0 || q.more) && (!ok || due.Before(at)) {
			at, ok = due, true
		}
	}
	return at, ok
}

// dueLater returns the queues of retries that have a task which is due, or was not looked at.
func (s *stock) dueLater(now time.Time) (numbers []int) {
	for n, q := range s.later {
		if (q.count > 0 || q.more) && !q.due().After(now) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// setHeads notes the pulled tasks of a queue of retries that has so many tasks fewer.
func (s *stock) setHeads(q *laterQueue, ds []crawl.Delivery, gone int64) {
	q.heads = ds
	q.count -= gone
	s.queued -= gone
}

// waits adds up the tasks in queues of retries for people.
func (s *stock) waits(to *Stats, now time.Time) {
	for n, q := range s.later {
		if isShut(n) && len(q.heads) > 0 && q.heads[0].Task.NotBefore.After(now) {
			to.Shut += q.count
			if at := q.heads[0].Task.NotBefore; to.ShutUntil.IsZero() || at.Before(to.ShutUntil) {
				to.ShutUntil = at
			}
			continue
		}
		to.Waiting += q.count
	}
}

// concluded counts the queued tasks that the end of a crawl does not wait for: they were set aside, or have an outcome
// already.
func (s *stock) concluded() int64 {
	n := s.aside
	for number, q := range s.later {
		if isShut(number) {
			n += q.count
		}
	}
	return n
}

// recount makes the counts good where more came out of queues than was counted, and has all of them looked into. What
// hosts hold is not counted.
func (s *stock) recount() {
	s.queued = s.aside + s.levels.all() + s.fronts.recount()
	for _, q := range s.later {
		q.count = max(q.count, 0)
		q.more = true
		s.queued += q.count
	}
}

// drew notes that so many tasks were drawn from a front queue. Where these are more than were counted, they may be
// there twice.
func (s *stock) drew(front *jobFronts, priority int, ds []crawl.Delivery) {
	if len(ds) == 0 {
		front.more[priority] = false
		return
	}
	front.drewAgain(ds)
	if front.lengths[priority] -= int64(len(ds)); front.lengths[priority] < 0 {
		for i := range ds {
			ds[i].Task.Repeat = true
		}
	}
}

// A queue that was deleted or purged from outside, or that a policy shortens, gives fewer tasks than were put there.
// The counts are corrected then, so that the crawl does not wait for tasks that are gone. Their URLs are still open in
// the ledger: package recovery queues them again once nothing else is left to do.

// short says that a queue has lost tasks.
func (s *stock) short(queue string, tasks int64) {
	s.queued -= tasks
	s.log.Warn("a queue holds fewer tasks than were put there: somebody deleted or purged it, or a policy of the broker "+
		"drops messages", "queue", queue, "tasks", tasks)
}

// frontShort notes that a front queue was empty although n tasks had been counted there.
func (s *stock) frontShort(front *jobFronts, priority int, n int64) {
	if n = min(n, front.lengths[priority]); n > 0 {
		front.lengths[priority] -= n
		s.short(front.queue(priority), n)
	}
}

// laterShort notes that a queue of retries was empty although n tasks had been counted there.
func (s *stock) laterShort(number int, n int64) {
	q := s.later[number]
	q.more = false
	if n = min(n, q.count); n > 0 {
		q.count -= n
		s.short(laterName(number), n)
	}
}
