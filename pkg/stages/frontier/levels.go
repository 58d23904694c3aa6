package frontier

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A job whose order is breadth is crawled level by level: no URL of depth d+1 is requested while one of depth d can
// still be fetched. Tasks that are deeper than the level which is being crawled wait in a queue of their depth,
// level.<depth>. The next level begins when all others have ended: nothing is queued but what waits for its level,
// nothing is leased, and no message is on its way that could name a URL of this level.
//
// So a level waits for its retries, for hosts that asked for rest and for slow ones, as long as retry.max and
// retry.slow_max allow. It does not wait for URLs that have an outcome for the time being and are tried again an hour
// later (shut.go): these come out of their order.
//
// Only a frontier that can tell that no message is on its way (Deps.Quiet) holds levels back.
// levelLook is how often it is looked whether a level has ended of which nothing is left but messages.
const levelLook = 5 * time.Millisecond

// levels are the tasks that wait for their level. Frontier.mu guards it.
type levels struct {
	waiting map[int]int64 // by depth
	all     int64
	reached int // tasks of this depth, and of lesser ones, wait for nothing
}

// level is the queue that a task waits in until its level is reached; false: it need not wait.
func (f *Frontier) level(js *jobState, t *crawl.Task) (queue string, wait bool) {
	if js == nil || js.job.Order != crawl.OrderBreadth || f.deps.Quiet == nil || t.Depth <= f.stock.levels.reached || js.dead {
		return "", false
	}
	return levelName(t.Depth), true
}

func levelName(depth int) string {
	return crawl.QueueName{Kind: crawl.QueueLevel, Number: depth}.String()
}

// add counts tasks of a depth that wait.
func (l *levels) add(depth int, tasks int64) {
	if l.waiting == nil {
		l.waiting = map[int]int64{}
	}
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
func (l *levels) next() (depth int, some bool) {
	for d := range l.waiting {
		if !some || d < depth {
			depth, some = d, true
		}
	}
	return depth, some
}

// levelEnded reports whether nothing is left of the level that is crawled but messages.
func (p *parts) levelEnded() bool {
	return p.leases.len() == 0 && p.stock.queued-p.stock.concluded() == p.stock.levels.all
}

// nextLevel lets the tasks of the next level be drawn, a batch at a time, when the one before has ended. It reports
// whether it did anything.
func (dp *dispatcher) nextLevel(ctx context.Context, _ time.Time) (bool, error) {
	if dp.deps.Quiet == nil {
		return false, nil
	}
	dp.mu.Lock()
	l := &dp.stock.levels
	depth, some := l.next()
	reached := some && (depth <= l.reached || !dp.jobs.anyBreadth())
	ended := some && !reached && !dp.paused && dp.levelEnded()
	dp.mu.Unlock()
	if !some || !reached && (!ended || !dp.deps.Quiet()) {
		return false, nil
	}
	dp.mu.Lock()
	if !reached {
		if reached = dp.levelEnded(); reached { // no message came meanwhile
			depth, _ = l.next()
			l.reached = depth
		}
	}
	dp.mu.Unlock()
	if !reached {
		return true, nil
	}
	return true, dp.release(ctx, depth)
}

// release moves a batch of a level's tasks to the front queues.
func (dp *dispatcher) release(ctx context.Context, depth int) error {
	ds, err := dp.deps.Queues.Pull(ctx, levelName(depth), dp.cfg.Batch)
	if err != nil {
		return fmt.Errorf("frontier: level %d: %w", depth, err)
	}
	dp.mu.Lock()
	l := &dp.stock.levels
	l.reached = max(l.reached, depth)
	if n := l.waiting[depth]; len(ds) == 0 && n > 0 {
		l.add(depth, -n)
		dp.stock.short(levelName(depth), n)
	}
	l.add(depth, -min(int64(len(ds)), l.waiting[depth]))
	dp.mu.Unlock()
	if len(ds) == 0 {
		return nil
	}
	tasks := make([]crawl.Task, len(ds))
	for i := range ds {
		tasks[i] = ds[i].Task
	}
	if err := dp.enqueue(ctx, false, tasks...); err != nil {
		dp.strays = append(dp.strays, ds...) // they may be queued all the same
		return err
	}
	dp.mu.Lock()
	dp.stock.queued -= int64(len(ds))
	dp.mu.Unlock()
	dp.out.settle(ds...)
	return nil
}

// anyBreadth reports whether a job is crawled level by level, or none was met yet: after a restart what waits goes on
// waiting.
func (j *jobs) anyBreadth() bool {
	if len(j.byID) == 0 {
		return true
	}
	for _, js := range j.byID {
		if js.job.Order == crawl.OrderBreadth && !js.dead {
			return true
		}
	}
	return false
}
