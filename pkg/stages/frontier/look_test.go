package frontier_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Look implements crawl.QueueLooker. It takes its time, and holds what it shows: a pull meanwhile would not get it.
func (p *process) Look(ctx context.Context, queue string, most int, each func(*crawl.Task)) (unread int64, err error) {
	if err := p.enter(); err != nil {
		return 0, err
	}
	var shown []*stored
	for _, s := range p.disk.queues[queue] {
		if !s.pulled && len(shown) < most {
			s.pulled = true
			shown = append(shown, s)
		} else if !s.pulled {
			unread++
		}
	}
	p.leave()
	for _, s := range shown {
		time.Sleep(time.Millisecond)
		each(&s.task)
	}
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	for _, s := range shown {
		s.pulled, s.task.Repeat = false, true
	}
	return unread, ctx.Err()
}

// open are the tasks that have no outcome.
func (w *world) open(all []crawl.Task) map[weburl.Key]crawl.Task {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	out := map[weburl.Key]crawl.Task{}
	for _, t := range all {
		if w.disk.ledger[t.URL.Key()].State != crawl.StateDone {
			out[t.URL.Key()] = t
		}
	}
	return out
}

// look looks once, and returns how the URLs are held that were open all the time.
func (w *world) look(all []crawl.Task) (how map[crawl.Holding]int) {
	w.t.Helper()
	l, err := w.f.BeginLook(w.t.Context(), "a")
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.End()
	if _, err := w.f.BeginLook(w.t.Context(), "a"); !errors.Is(err, frontier.ErrLooking) {
		w.t.Errorf("a second look: %v", err)
	}
	for !l.Begun() {
		time.Sleep(10 * time.Millisecond)
	}
	before := w.open(all)
	held := map[weburl.Key]crawl.Holding{}
	take := func() bool {
		some, read, err := l.Take()
		if err != nil {
			w.t.Fatal(err)
		}
		for _, h := range some {
			if was, ok := held[h.Key]; !ok || h.How < was {
				held[h.Key] = h.How
			}
		}
		return read
	}
	for !take() {
		time.Sleep(10 * time.Millisecond)
	}
	after := w.open(all)
	take()
	how = map[crawl.Holding]int{}
	for k := range before {
		if _, still := after[k]; !still {
			continue
		}
		at, ok := held[k]
		if !ok {
			at = crawl.HeldNowhere
		}
		how[at]++
	}
	return how
}

// While everything moves, with retries, hosts that come and go, and tasks that go from queue to queue, each look finds
// every URL that is open all the time; and the crawl goes on as if nobody had looked.
func TestALookFindsEveryOpenURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3, aJob("a"))
		w.answer = stumbling
		w.cfg.Window, w.cfg.MaxHeld, w.cfg.MaxActive = 4, 8, 4
		w.begin()
		all := pages(t, "a", 12, 30)
		w.add(all...)
		looks, found := 0, 0
		for range 40 {
			time.Sleep(5 * time.Second)
			how := w.look(all)
			if n := how[crawl.HeldNowhere]; n > 0 {
				t.Errorf("%d URLs were not found: %v", n, how)
			}
			looks, found = looks+1, found+how[crawl.HeldQueued]
		}
		if found < 100 {
			t.Errorf("%d looks found %d open URLs: the test shows nothing", looks, found)
		}
		w.finish()
		w.stop()
		if len(w.late) > 0 {
			t.Errorf("leased after they were done: %q", w.late)
		}
	})
}

// What was taken from the queues is not found, and nothing else.
func TestALookDoesNotFindWhatWasPurged(t *testing.T) {
	for _, prefix := range []string{"front.", "back.", "later."} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 1, aJob("a"))
			w.answer = stumbling
			w.cfg.Window, w.cfg.MaxHeld, w.cfg.MaxActive = 4, 8, 4
			w.begin()
			all := pages(t, "a", 12, 30)
			w.add(all...)
			time.Sleep(20 * time.Second)
			w.f.Pause(true)
			time.Sleep(5 * time.Second)
			lost := w.disk.purge(prefix)
			if how := w.look(all); how[crawl.HeldNowhere] != lost || lost == 0 && prefix != "later." {
				t.Errorf("%s*: %d tasks were lost, and %v", prefix, lost, how)
			}
			w.stop()
		})
	}
}

// A lease whose message was deleted is said to be one, and to be overdue when no fetch takes as long.
func TestALookTellsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.Limits.Total = crawl.Duration(time.Minute)
		w := newWorld(t, 1, job)
		w.drop = func(*crawl.Fetch) bool { return true }
		w.begin()
		all := pages(t, "a", 1, 1)
		w.add(all...)
		time.Sleep(5 * time.Second)
		if how := w.look(all); how[crawl.HeldLeased] != 1 {
			t.Errorf("at first %v", how)
		}
		time.Sleep(2 * time.Minute)
		if how := w.look(all); how[crawl.HeldOverdue] != 1 {
			t.Errorf("later %v", how)
		}
		w.stop()
	})
}
