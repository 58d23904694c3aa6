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
func (f *Frontier) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer f.addresses.running.Wait()
	for ctx.Err() == nil {
		now := time.Now()
		busy, err := f.step(ctx, now)
		wait := f.pauseFor(now)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			f.sayWhy(err)
			wait = errorPause
		case busy:
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-f.wake:
		case <-timer.C:
		}
	}
	return nil
}

// sayWhy tells people why a round came to nothing.
func (f *Frontier) sayWhy(err error) {
	if bus.IsExpected(err) {
		f.waits.Say(f.deps.Log, "the frontier waits", "reason", err)
		return
	}
	f.deps.Log.Warn("the frontier waits and tries again", "error", err)
}

// step does one round. It reports whether it did anything.
func (f *Frontier) step(ctx context.Context, now time.Time) (busy bool, err error) {
	for _, act := range []func(context.Context, time.Time) (bool, error){f.leaseReady, f.checkTrouble, f.releaseLater, f.draw, f.probe} {
		did, err := act(ctx, now)
		busy = busy || did
		if err != nil {
			return busy, err
		}
	}
	return busy, f.storeLeaving(ctx, busy)
}

// pauseFor is how long nothing will be due.
func (f *Frontier) pauseFor(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait := idlePause
	if f.paused || f.trouble.on || now.Before(f.trouble.files) {
		return wait
	}
	if at, ok := f.stock.laterDue(); ok {
		wait = min(wait, at.Sub(now))
	}
	if f.leases.len() < f.cfg.Window {
		if at, ok := f.bench.due(); ok {
			wait = min(wait, at.Sub(now))
		}
		if !f.bench.pacer.ready(now) {
			wait = min(wait, f.bench.pacer.until.Sub(now))
		}
	}
	return max(wait, 0)
}
