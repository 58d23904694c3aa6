package frontier

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A topical job is crawled best first. Its tasks wait in front queues by their level of promise (crawl.Task.Rank), are
// drawn from the highest, and lie in the buffers of their hosts in that order. Drawn tasks keep no others out: what is
// found later and promises more is drawn at once and put before them. And hosts wait for others: best.go.

// topicalBatch is how many tasks of a topical job are drawn at once: the fewer, the better they are.
const topicalBatch = 32

// topicalOrder is the order in which a topical job is drawn.
type topicalOrder struct {
	explore float64 // the part of the draws that explores
	// learns says that the job has no model yet. Its first pages stand for what is not its topic, so examples, and what is
	// near them, come later.
	learns bool
}

// topical reports whether a job has a topic, and in which order it is drawn.
func (j *jobs) topical(id crawl.JobID) (order topicalOrder, is bool) {
	js := j.byID[id]
	if js == nil || !js.job.Topical() {
		return topicalOrder{}, false
	}
	return topicalOrder{js.job.Topic.Exploring(), js.job.LearnsTopic()}, true
}

// pickTopical chooses the front queue of the highest rank that is not empty, or, for a part of the draws, any other: a
// crawl that only follows what looks good never learns better. -1: all are empty. best is the highest.
func pickTopical(random *rand.Rand, lengths []int64, explore float64) (number, best int) {
	best = -1
	var lesser []int
	for n, length := range lengths {
		switch {
		case length <= 0:
		case best < 0:
			best = n
		case crawl.RankOfFront(n) > crawl.RankOfFront(best):
			best, lesser = n, append(lesser, best)
		default:
			lesser = append(lesser, n)
		}
	}
	if len(lesser) == 0 || explore <= 0 || random.Float64() >= explore {
		return best, best
	}
	return lesser[random.IntN(len(lesser))], best
}

// most is how many tasks are drawn at once.
func (d *drawing) most(batch int) int {
	if d.topical {
		return min(batch, topicalBatch)
	}
	return batch
}

// chosen makes tasks that were drawn to explore as good as the best, whatever they promise.
func (d *drawing) chosen(ds []crawl.Delivery) []crawl.Delivery {
	if !d.topical || d.best == 0 || d.number == d.best {
		return ds
	}
	for i := range ds {
		if t := &ds[i].Task; t.Promising() {
			t.Promise = max(t.Promise, crawl.RelevanceOfLevel(min(crawl.RankOfFront(d.best), crawl.Levels-1)))
		}
	}
	return ds
}

// sort puts the next tasks in order where some of them promise something.
func (l *lane) sort() {
	if slices.ContainsFunc(l.buf, func(d crawl.Delivery) bool { return d.Task.Promising() }) {
		slices.SortStableFunc(l.buf, func(a, b crawl.Delivery) int { return b.Task.Rank() - a.Task.Rank() })
	}
}

// highest is the highest rank of the tasks in a job's front queues; -1: there are none.
func (j *jobFronts) highest() int {
	rank := -1
	for n, length := range j.waiting() {
		if length > 0 {
			rank = max(rank, crawl.RankOfFront(n))
		}
	}
	return rank
}

// stays reports whether nothing is drawn from a job's front queues for now: the job is held, or it is topical, and
// what its hosts hold is enough, and promises as much as all that was not drawn.
func (f *Frontier) stays(j *jobFronts, now time.Time) bool {
	id := f.stock.fronts.jobOf(j)
	if f.jobs.stays(id) {
		return true
	}
	js := f.jobs.of(id)
	if js == nil || !js.job.Topical() {
		return false
	}
	f.reckon(js, now)
	return js.best.stock >= f.cfg.Window && j.highest() <= js.best.rank
}

// better reports whether one of the tasks that were queued promises more than all that was drawn of its job.
func (f *Frontier) better(items []crawl.Queued) bool {
	for i := range items {
		if t := &items[i].Task; t.Promising() {
			if js := f.jobs.of(t.Job); js != nil && t.Rank() > js.best.rank {
				return true
			}
		}
	}
	return false
}
