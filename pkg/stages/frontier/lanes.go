package frontier

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// lane is the tasks of one job that wait at a host. The jobs of a host take turns, so that none waits for all tasks
// of another.
type lane struct {
	job     crawl.JobID
	queue   string           // its back queue; empty while all its tasks are in buf
	backlog int64            // tasks in the back queue that are not in buf; the dispatcher's
	buf     []crawl.Delivery // the next tasks, unsettled; the dispatcher changes it, with mu held
}

// before is the place of a task of a rank among the next ones: behind those that are as good.
func (l *lane) before(rank int) int {
	for i := range l.buf {
		if t := &l.buf[i].Task; t.Rank() < rank && t.Kind != crawl.KindRobots {
			return i
		}
	}
	return len(l.buf)
}

// passes reports whether a task of a topical job is of a higher rank than the last of the next ones, which it passes.
func (l *lane) passes(t *crawl.Task) bool {
	last := len(l.buf) - 1
	if last < 0 || !t.Promising() && !l.buf[last].Task.Promising() {
		return false
	}
	return t.Rank() > l.buf[last].Task.Rank()
}

func (l *lane) work() bool { return len(l.buf) > 0 || l.backlog > 0 }

// laneOf returns the job's lane, which is made at first sight.
func (h *host) laneOf(job crawl.JobID) *lane {
	if h.job == job {
		return &h.lane
	}
	for i := range h.others {
		if h.others[i].job == job {
			return &h.others[i]
		}
	}
	if !h.lane.work() && h.queue == "" {
		h.job = job
		return &h.lane
	}
	h.others = append(h.others, lane{job: job})
	return &h.others[len(h.others)-1]
}

// eachLane hands every lane of the host to do.
func (h *host) eachLane(do func(*lane)) {
	do(&h.lane)
	for i := range h.others {
		do(&h.others[i])
	}
}

// next makes it the next job's turn. Only the dispatcher may.
func (h *host) next() {
	if len(h.others) == 0 {
		return
	}
	former := h.lane
	h.lane = h.others[0]
	copy(h.others, h.others[1:])
	h.others[len(h.others)-1] = former
}

// turn makes it the turn of a job that has a task here that may be leased, if there is one; else of one that has a
// task.
func (dp *dispatcher) turn(h *host) {
	for range h.others {
		if h.lane.work() && !dp.jobs.spent(h.job) {
			return
		}
		h.next()
	}
	for range h.others {
		if h.lane.work() {
			return
		}
		h.next()
	}
}

// otherTurn is a job that has a task at the host which may be leased, although it is not its turn; nil: there is none.
func (f *Frontier) otherTurn(h *host) *jobState {
	for i := range h.others {
		if l := &h.others[i]; l.work() && !f.jobs.spent(l.job) {
			return f.jobs.of(l.job)
		}
	}
	return nil
}
