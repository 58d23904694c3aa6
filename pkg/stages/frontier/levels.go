package frontier

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A job whose order is breadth is crawled level by level: no URL of depth d+1 is requested while one of depth d can
// still be fetched. Tasks that are deeper than the level which is being crawled wait in a queue of their job and depth,
// level.<depth>.<job>. The next level begins when all others of the job have ended: it has no URL without an outcome
// but those that wait for their level, nothing of it is leased, and no message is on its way that could name a URL of
// this level. Other jobs go on meanwhile, and have levels of their own.
//
// So a level waits for its retries, for hosts that asked for rest and for slow ones, as long as retry.max and
// retry.slow_max allow. It does not wait for URLs that have an outcome for the time being and are tried again an hour
// later (shut.go): these come out of their order.
//
// Only a frontier that can tell that no message is on its way (Deps.Quiet) holds levels back.

// levelLook is how often it is looked whether a level has ended of which nothing is left but messages.
const levelLook = 5 * time.Millisecond

// levels are the tasks that wait for their level, by job. Frontier.mu guards it.
type levels map[crawl.JobID]*jobLevels

// jobLevels are those of a job.
type jobLevels struct {
	waiting map[int]int64 // by depth
	all     int64
	reached int // tasks of this depth, and of lesser ones, wait for nothing
}

// of returns the levels of a job, which are made at first sight.
func (l levels) of(job crawl.JobID) *jobLevels {
	if l[job] == nil {
		l[job] = &jobLevels{waiting: map[int]int64{}}
	}
	return l[job]
}

// all is how many tasks wait.
func (l levels) all() (n int64) {
	for _, j := range l {
		n += j.all
	}
	return n
}

// forget forgets a job of which no task waits.
func (l levels) forget(job crawl.JobID) {
	if j := l[job]; j != nil && j.all == 0 {
		delete(l, job)
	}
}

// level is the queue that a task waits in until its level is reached; false: it need not wait.
func (f *Frontier) level(js *jobState, t *crawl.Task) (queue string, wait bool) {
	if js == nil || js.job.Order != crawl.OrderBreadth || f.deps.Quiet == nil || js.dead ||
		t.Depth <= f.stock.levels.of(t.Job).reached {
		return "", false
	}
	return levelName(t.Job, t.Depth), true
}

func levelName(job crawl.JobID, depth int) string {
	return crawl.QueueName{Kind: crawl.QueueLevel, Number: depth, Job: job}.String()
}

// add counts tasks of a depth that wait.
func (l *jobLevels) add(depth int, tasks int64) {
	if l.waiting[depth] += tasks; l.waiting[depth] <= 0 {
		tasks -= l.waiting[depth]
		delete(l.waiting, depth)
	}
	l.all += tasks
}

// isLevel reports whether a queue is that of a level.
func isLevel(queue string) bool { return strings.HasPrefix(queue, levelPrefix) }

const levelPrefix = string(crawl.QueueLevel) + "."

// next is the least depth of the tasks that wait.
func (l *jobLevels) next() (depth int, some bool) {
	for d := range l.waiting {
		if !some || d < depth {
			depth, some = d, true
		}
	}
	return depth, some
}

// nextLevel lets the tasks of the next level of a job be drawn, a batch at a time, when the one before has ended. It
// reports whether it did anything.
func (dp *dispatcher) nextLevel(ctx context.Context, _ time.Time) (bool, error) {
	dp.levelSoon = false
	if dp.deps.Quiet == nil {
		return false, nil
	}
	var waiting []crawl.JobID
	dp.mu.Lock()
	for job, l := range dp.stock.levels {
		if l.all > 0 && !dp.paused && !dp.jobs.holds[job] {
			waiting = append(waiting, job)
		}
	}
	dp.mu.Unlock()
	for _, job := range waiting {
		depth, reached, err := dp.levelOf(ctx, job)
		if err != nil {
			return false, err
		}
		if reached {
			return true, dp.release(ctx, job, depth)
		}
	}
	return false, nil
}

// levelOf is the next level of a job. reached: its tasks need not wait any more.
func (dp *dispatcher) levelOf(ctx context.Context, job crawl.JobID) (depth int, reached bool, err error) {
	js, err := dp.jobOf(ctx, job)
	if crawl.IsPermanent(err) {
		return 0, false, nil // nobody knows it
	}
	if err != nil {
		return 0, false, err
	}
	dp.mu.Lock()
	l := dp.stock.levels.of(job)
	depth, some := l.next()
	free := js.dead || js.job.Order != crawl.OrderBreadth || depth <= l.reached
	still := js.pace.under == 0
	leases := js.leases
	dp.mu.Unlock()
	if !some || free || !still {
		return depth, some && free, nil
	}
	if ended, err := dp.levelEnded(ctx, job); err != nil || !ended {
		return depth, false, err
	}
	dp.levelSoon = true
	if !dp.deps.Quiet(job) {
		return depth, false, nil
	}
	if ended, err := dp.levelEnded(ctx, job); err != nil || !ended { // a message may have brought something meanwhile
		return depth, false, err
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	if js.leases != leases {
		return depth, false, nil
	}
	depth, _ = l.next()
	l.reached = depth
	return depth, true, nil
}

// levelEnded reports whether nothing is left of the level of a job that is crawled but messages: its URLs without an
// outcome all wait for their level, or nothing of any job is queued besides.
func (dp *dispatcher) levelEnded(ctx context.Context, job crawl.JobID) (bool, error) {
	tally, err := dp.deps.Ledger.Tally(ctx, job)
	if err != nil {
		return false, fmt.Errorf("frontier: level of job %s: %w", job, err)
	}
	open := tally.Claimed
	for _, n := range tally.Verdicts {
		open -= n
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	return open <= dp.stock.levels.of(job).all || dp.leases.len() == 0 &&
		dp.stock.queued-dp.stock.concluded() <= dp.stock.levels.all(), nil
}

// release moves a batch of a level's tasks to the front queues.
func (dp *dispatcher) release(ctx context.Context, job crawl.JobID, depth int) error {
	ds, err := dp.pull(ctx, levelName(job, depth), dp.cfg.Batch)
	if err != nil {
		return fmt.Errorf("frontier: level %d of job %s: %w", depth, job, err)
	}
	dp.mu.Lock()
	l := dp.stock.levels.of(job)
	l.reached = max(l.reached, depth)
	if n := l.waiting[depth]; len(ds) == 0 && n > 0 {
		l.add(depth, -n)
		dp.stock.short(levelName(job, depth), n)
	}
	l.add(depth, -min(int64(len(ds)), l.waiting[depth]))
	dp.mu.Unlock()
	return dp.queueAnew(ctx, ds)
}

// queueAnew moves tasks that were pulled to the queues where they belong now.
func (dp *dispatcher) queueAnew(ctx context.Context, ds []crawl.Delivery) error {
	if len(ds) == 0 {
		return nil
	}
	if err := dp.enqueue(ctx, false, tasksIn(ds)...); err != nil {
		dp.strays = append(dp.strays, ds...) // they may be queued all the same
		return err
	}
	dp.requeued(ds)
	return nil
}

// recoverLevel counts a queue of a level. Those of former versions named no job: their tasks are queued anew.
func (dp *dispatcher) recoverLevel(ctx context.Context, name string, q *crawl.QueueName, n int64) error {
	if q.Job != "" {
		dp.mu.Lock()
		defer dp.mu.Unlock()
		dp.stock.levels.of(q.Job).add(q.Number, n)
		return nil
	}
	for {
		ds, err := dp.pull(ctx, name, dp.cfg.Batch)
		if err != nil {
			return fmt.Errorf("frontier: queue %s: %w", name, err)
		}
		if len(ds) == 0 {
			return nil
		}
		if err := dp.queueAnew(ctx, ds); err != nil {
			return err
		}
	}
}
