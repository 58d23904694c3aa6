package frontier_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// visit is a guest: it waits for a turn of a host and makes a request, which the log of the world has, too.
func (w *world) visit(job *crawl.Job, host string, patience, took time.Duration, rude bool,
	shape func(*crawl.Outcome)) error {
	task := page(w.t, string(job.ID), "http://"+host+"/dry")
	v, err := w.f.Visit(context.Background(), frontier.Ask{Job: job, URL: task.URL, Patience: patience})
	if err != nil {
		return err
	}
	if rude { // hazard: the turn is given back before the request
		v.End(nil)
	}
	start := time.Now()
	time.Sleep(took)
	w.mu.Lock()
	w.log = append(w.log, request{host: host, addr: w.addr(host).String(), start: start, end: time.Now(),
		gap: job.Politeness.Delay.D()})
	w.mu.Unlock()
	out := &crawl.Outcome{Task: task, Verdict: crawl.VerdictDone, Status: 200, Started: start, Ended: time.Now()}
	if shape != nil {
		shape(out)
	}
	if !rude {
		v.End(out)
	}
	return nil
}

// Guests and the crawl ask the same hosts at the same time: no two requests to a host, or to an address, come closer
// than the delay, and the crawl ends.
func TestGuestsKeepTheirDistance(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			w, served := beside(t, seed, false)
			if len(w.log) != 8*12+served || served == 0 {
				t.Errorf("%d requests, %d of them guests'; want %d of the crawl", len(w.log), served, 8*12)
			}
			for _, c := range impolite(w.log, 500*time.Millisecond) {
				t.Error(c)
			}
		})
	}
}

// Guests that ask out of their turn must be noticed.
func TestNegativeControlGuests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := beside(t, 1, true)
		if len(impolite(w.log, 500*time.Millisecond)) == 0 {
			t.Error("nobody complained")
		}
	})
}

// beside crawls 96 pages of 8 hosts on 3 addresses while 24 guests come.
func beside(t *testing.T, seed uint64, rude bool) (w *world, served int) {
	t.Helper()
	w = newWorld(t, seed, aJob("a"))
	w.addrs = 3
	guest := aJob("guest")
	guest.Politeness.Delay = crawl.Duration(3 * time.Second)
	w.jobs[guest.ID] = guest
	w.begin()
	w.add(pages(t, "a", 8, 12)...)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for n := range 24 {
		wg.Go(func() {
			time.Sleep(time.Duration(w.roll(20_000)) * time.Millisecond)
			if w.visit(guest, fmt.Sprintf("h%d.test", n%8), time.Minute, 200*time.Millisecond, rude, nil) == nil {
				mu.Lock()
				served++
				mu.Unlock()
			}
		})
	}
	w.finish()
	wg.Wait()
	w.stop()
	return w, served
}

func TestAGuestWaitsNoLongerThanItsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.begin()
		defer func() { w.stop() }()
		guest := w.jobs["a"]
		slow := func(o *crawl.Outcome) {
			o.Verdict, o.Status, o.Slow, o.RetryAfter = crawl.VerdictRetry, 503, true, 10*time.Minute
		}
		if err := w.visit(guest, "h1.test", time.Second, time.Millisecond, false, slow); err != nil {
			t.Fatal(err)
		}
		var turn *frontier.TurnError
		if err := w.visit(guest, "h1.test", 20*time.Second, 0, false, nil); !errors.As(err, &turn) ||
			time.Until(turn.At) < 9*time.Minute {
			t.Errorf("a host that asked for ten minutes: %v", err)
		}
		w.add(page(t, "a", "http://h1.test/crawl"))
		began := time.Now()
		w.finish() // the crawl keeps to what a guest was told
		if took := time.Since(began); took < 9*time.Minute {
			t.Errorf("the crawl asked the host after %v", took)
		}
		w.f.HoldHost("h2.test", true)
		if err := w.visit(guest, "h2.test", time.Minute, 0, false, nil); !errors.As(err, &turn) {
			t.Errorf("a host that people hold: %v", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		u := page(t, "a", "http://h1.test/").URL
		if _, err := w.f.Visit(ctx, frontier.Ask{Job: guest, URL: u, Patience: time.Hour}); !errors.Is(err,
			context.Canceled) {
			t.Errorf("a guest that has gone: %v", err)
		}
		time.Sleep(20 * time.Minute)
		if err := w.visit(guest, "h1.test", time.Second, 0, false, nil); err != nil {
			t.Errorf("after guests that gave up: %v", err)
		}
	})
}

// Guests that never stop do not keep the crawl from a host.
func TestGuestsLeaveTheCrawlItsTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.begin()
		defer func() { w.stop() }()
		w.add(pages(t, "a", 1, 20)...)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_ = w.visit(w.jobs["a"], "h0.test", time.Minute, 50*time.Millisecond, false, nil)
				}
			})
		}
		began := time.Now()
		w.finish()
		cancel()
		wg.Wait()
		if took, alone := time.Since(began), 20*w.jobs["a"].Politeness.Delay.D(); took > 4*alone {
			t.Errorf("20 pages took %v beside guests, with a delay of %v", took, w.jobs["a"].Politeness.Delay.D())
		}
		for _, c := range impolite(w.log, 500*time.Millisecond) {
			t.Error(c)
		}
	})
}
