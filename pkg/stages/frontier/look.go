package frontier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A look tells an audit which URLs of a job the frontier holds. While it lasts, the frontier notes every task that it
// pulls or pushes; at its begin the dispatcher notes what is in memory, and then all queues are looked through, one
// after the other. So whatever the frontier holds at the begin is noted, wherever it goes meanwhile: it is in memory
// then, or in a queue; and there it is seen, or it was pulled before.
//
// A queue is not pulled from while it is looked into. Nothing is consumed, and nothing changes its place.

// Bounds of a look.
const (
	// lookMost is how many tasks of a queue are looked at: the broker holds them meanwhile.
	lookMost = 250_000
	// noteMost is how many URLs wait to be taken from a look; the queues are read no faster.
	noteMost = 20_000
	// lookLong is the length of a queue from which on nobody waits until it was looked into, but does something else.
	lookLong = 2_000
)

// ErrLooking says that another look is under way.
var ErrLooking = errors.New("the frontier looks through its queues for another audit already")

// errLooked lets a host wait whose back queue is looked into.
var errLooked = errors.New("frontier: the queue is looked into")

var errNoLooker = errors.New("frontier: its queues cannot be looked into")

// looks is the look that is under way.
type looks struct {
	now     atomic.Pointer[Look]
	running sync.WaitGroup

	mu      sync.Mutex
	turn    sync.Cond // of mu
	looked  string    // the queue that is looked into
	long    bool      // that takes a while
	pulling string    // the queue that the dispatcher pulls from
}

// Look is a look under way: see Frontier.BeginLook.
type Look struct {
	f   *Frontier
	job crawl.JobID
	end context.CancelFunc
	ctx context.Context //nolint:containedctx // of the look

	mu     sync.Mutex
	room   sync.Cond // of mu
	held   []crawl.HeldURL
	begun  bool
	read   bool
	unread int64
	err    error
}

// BeginLook begins a look for the URLs of a job, until End is called or ctx is done. There is one at a time.
func (f *Frontier) BeginLook(ctx context.Context, job crawl.JobID) (*Look, error) {
	l := &Look{f: f, job: job}
	l.room.L = &l.mu
	l.ctx, l.end = context.WithCancel(ctx)
	context.AfterFunc(l.ctx, l.wake)
	if !f.looks.now.CompareAndSwap(nil, l) {
		l.end()
		return nil, ErrLooking
	}
	f.signal()
	return l, nil
}

// Take returns what was noted since it was called last, and whether all queues were looked through. The error is that
// of the look: there is no more to come then.
func (l *Look) Take() (held []crawl.HeldURL, read bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held, l.held = l.held, nil
	l.room.Broadcast()
	return held, l.read, l.err
}

// Begun reports whether all that was in memory is noted.
func (l *Look) Begun() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}

// Unread is how many tasks were not looked at, because their queues are too long.
func (l *Look) Unread() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unread
}

// End ends the look: nothing is noted any more.
func (l *Look) End() {
	l.end()
	l.f.looks.now.CompareAndSwap(l, nil)
}

// wake wakes those that wait for room.
func (l *Look) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.room.Broadcast()
}

// note notes a task, if it is one of the job's URLs.
func (l *Look) note(t *crawl.Task, how crawl.Holding) {
	if t.Job == l.job && t.Kind != crawl.KindRobots {
		l.held = append(l.held, crawl.HeldURL{Key: t.URL.Key(), How: how})
	}
}

// moved notes tasks that were pulled.
func (s *looks) moved(ds []crawl.Delivery) {
	if l := s.now.Load(); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range ds {
			l.note(&ds[i].Task, crawl.HeldQueued)
		}
	}
}

// pushed notes tasks that were pushed. It is called when they are in their queues: one that was before the look begins
// is seen there.
func (s *looks) pushed(items []crawl.Queued) {
	if l := s.now.Load(); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range items {
			l.note(&items[i].Task, crawl.HeldQueued)
		}
	}
}

// in reports whether a queue is looked into for so long that it is not to be waited for.
func (s *looks) in(queue string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.long && s.looked == queue
}

// pull pulls from a queue when nobody looks into it.
func (dp *dispatcher) pull(ctx context.Context, queue string, n int) ([]crawl.Delivery, error) {
	dp.looks.enter(&dp.looks.pulling, &dp.looks.looked, queue)
	defer dp.looks.leave(&dp.looks.pulling)
	ds, err := dp.deps.Queues.Pull(ctx, queue, n)
	dp.looks.moved(ds)
	return ds, err
}

// enter waits until the other has left a queue, and notes that one is there.
func (s *looks) enter(one, other *string, queue string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for *other == queue {
		s.turn.Wait()
	}
	*one = queue
}

func (s *looks) setLong(long bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.long = long
}

func (s *looks) leave(one *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*one = ""
	s.turn.Broadcast()
}

// beginLook notes what is in memory, for a look that has just begun, and has the queues looked through.
func (dp *dispatcher) beginLook(ctx context.Context, now time.Time) (bool, error) {
	l := dp.looks.now.Load()
	if l == nil || l.Begun() {
		return false, nil
	}
	lengths, err := dp.deps.Queues.Lengths(ctx)
	if err != nil {
		return false, fmt.Errorf("frontier: lengths of the queues: %w", err)
	}
	dp.mu.Lock()
	l.mu.Lock()
	dp.noteHeld(l, now)
	l.begun = true
	l.mu.Unlock()
	dp.mu.Unlock()
	dp.looks.running.Go(func() { l.readAll(ctx, lengths) })
	return true, nil
}

// noteHeld notes the tasks in memory. A lease that could not be sent yet is a task in memory.
func (dp *dispatcher) noteHeld(l *Look, now time.Time) {
	notes := func(ds []crawl.Delivery) {
		for i := range ds {
			l.note(&ds[i].Task, crawl.HeldQueued)
		}
	}
	notes(dp.drawn)
	notes(dp.strays)
	for i := range dp.out.messages {
		if e, ok := dp.out.messages[i].Event.(*crawl.Fetch); ok {
			l.note(&e.Task, crawl.HeldQueued)
		}
	}
	for _, h := range dp.hosts.active {
		h.eachLane(func(lane *lane) { notes(lane.buf) })
	}
	for _, q := range dp.stock.later {
		notes(q.heads)
	}
	overdue := map[crawl.MessageID]bool{}
	for _, t := range dp.leases.overdue(&dp.jobs, now) {
		overdue[t.ID()] = true
		l.note(&t, crawl.HeldOverdue)
	}
	for id, lease := range dp.leases.byID {
		if !overdue[id] {
			l.note(&lease.task, crawl.HeldLeased)
		}
	}
}

// readAll looks through the queues that may hold tasks of the job.
func (l *Look) readAll(ctx context.Context, lengths map[string]int64) {
	stop := context.AfterFunc(ctx, l.end)
	defer stop()
	var err error
	var unread int64
	for _, name := range slices.Sorted(maps.Keys(lengths)) {
		var n int64
		if n, err = l.readQueue(name, lengths[name]); err != nil {
			break
		}
		unread += n
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read, l.unread, l.err = err == nil, unread, err
}

func (l *Look) readQueue(name string, length int64) (unread int64, err error) {
	looker, ok := l.f.deps.Queues.(crawl.QueueLooker)
	if !ok {
		return 0, errNoLooker
	}
	if q, err := crawl.ParseQueueName(name); err != nil || q.Job != "" && q.Job != l.job {
		return 0, err
	}
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	s := &l.f.looks
	s.enter(&s.looked, &s.pulling, name)
	s.setLong(length >= lookLong)
	defer s.leave(&s.looked)
	return looker.Look(l.ctx, name, lookMost, l.seen)
}

// seen notes a task that lies in a queue. It waits while too many are noted that nobody has taken.
func (l *Look) seen(t *crawl.Task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.held) >= noteMost && l.ctx.Err() == nil {
		l.room.Wait()
	}
	l.note(t, crawl.HeldQueued)
}
