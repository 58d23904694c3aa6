package frontier

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Waits of the dispatcher: after an error of a store or the bus, and at most between two looks.
const (
	errorPause = time.Second
	idlePause  = time.Second
)

// Run is the dispatcher: it draws, leases and releases retries until ctx is done. Errors of stores and bus are reported
// and tried again; nothing is lost by them.
func (f *Frontier) Run(ctx context.Context) error { return f.run.until(ctx) }

func (dp *dispatcher) until(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer dp.addresses.running.Wait()
	defer dp.looks.running.Wait()
	defer dp.book.Close(ctx)
	for ctx.Err() == nil {
		now := time.Now()
		busy, err := dp.step(ctx, now)
		wait := dp.pauseFor(now)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			dp.sayWhy(err)
			wait = errorPause
		case busy:
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-dp.wake:
		case <-timer.C:
		}
	}
	return nil
}

// sayWhy tells people why a round came to nothing.
func (dp *dispatcher) sayWhy(err error) {
	if bus.IsExpected(err) {
		dp.waits.Say(dp.deps.Log, "the frontier waits", "reason", err)
		return
	}
	dp.deps.Log.Warn("the frontier waits and tries again", "error", err)
}

// step does one round. It reports whether it did anything.
func (dp *dispatcher) step(ctx context.Context, now time.Time) (busy bool, err error) {
	for _, act := range []func(context.Context, time.Time) (bool, error){
		dp.spendTime, dp.beginLook, dp.leaseReady, dp.checkTrouble, dp.releaseLater, dp.revisit, dp.nextLevel, dp.rescore,
		dp.draw, dp.probe,
	} {
		did, err := act(ctx, now)
		busy = busy || did
		if err != nil {
			return busy, err
		}
	}
	return busy, dp.storeLeaving(ctx, busy)
}

// pauseFor is how long nothing will be due.
func (dp *dispatcher) pauseFor(now time.Time) time.Duration {
	dp.mu.Lock()
	defer dp.mu.Unlock()
	wait := min(idlePause, dp.book.Pause(now))
	if dp.paused || dp.trouble.on || now.Before(dp.trouble.files) {
		return wait
	}
	if at, ok := dp.stock.laterDue(); ok {
		wait = min(wait, at.Sub(now))
	}
	if dp.levelSoon {
		wait = min(wait, levelLook)
	}
	if at := dp.boundDue(); !at.IsZero() {
		wait = min(wait, at.Sub(now))
	}
	if dp.leases.len() < dp.cfg.Window {
		if at, ok := dp.bench.due(); ok {
			wait = min(wait, at.Sub(now))
		}
		if at := dp.paceDue(now); !at.IsZero() {
			wait = min(wait, at.Sub(now))
		}
		if at := dp.bestDue(now); !at.IsZero() {
			wait = min(wait, at.Sub(now))
		}
		if !dp.bench.pacer.ready(now) {
			wait = min(wait, dp.bench.pacer.until.Sub(now))
		}
	}
	return max(wait, 0)
}
