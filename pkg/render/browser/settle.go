package browser

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/page"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// What tells that a page has settled: see render.Result.
const (
	byTime    = "virtual"
	frameless = "frameless"
	byRest    = "idle"
)

// Waits in real time.
const (
	quiet = 250 * time.Millisecond  // without a request after the load: settled, where there is no virtual time
	still = 1500 * time.Millisecond // without an event or work: virtual time does not go on
)

// restful is how many looks in a row find a page at rest that is at rest: those of the time that still is, but for a
// few that come late.
const restful = int(still/metered) - 3

func (r *rendering) settled(how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.result.Settled == "" {
		r.result.Settled = how
	}
}

// pass waits until a part of the page's time has passed, and reports whether the wait is over altogether.
func (r *rendering) pass() (bool, error) {
	tick := time.NewTicker(metered)
	defer tick.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return true, context.Cause(r.ctx)
		case <-r.expired:
			r.others()
			return r.limited(), nil
		case <-tick.C:
			if r.limited() {
				return true, nil
			}
			if r.stuck() {
				r.settled(byRest)
				return true, nil
			}
		}
	}
}

// others waits for the page's workers: they have their own time, and it is not the page's.
func (r *rendering) others() {
	for at := time.Now(); time.Since(at) < r.patient(quiet); {
		r.mu.Lock()
		alone := r.workers == 0
		r.mu.Unlock()
		if alone || r.ctx.Err() != nil || r.quietFor() > quiet/5 {
			return
		}
		time.Sleep(quiet / 25)
	}
}

func (r *rendering) limited() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result.Verdict == render.Limit
}

// active notes that the page has told something.
func (r *rendering) active() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastEvent = time.Now()
}

// looked notes whether the page used the processor, or waited for it, as it does on a busy machine.
func (r *rendering) looked(works bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rests++; works {
		r.rests = 0
	}
}

// undialog dismisses a dialog of which nothing was told, where the page does nothing. Without one it does nothing.
func (r *rendering) undialog() {
	r.mu.Lock()
	told := time.Since(r.lastEvent)
	r.mu.Unlock()
	if told > r.patient(still/3) {
		r.tab.page.tell(page.CommandHandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
	}
}

// stuck reports that the page's time does not go on: it tells nothing, waits for nothing from here, and either does
// nothing, or does so for half of what the render may take. That it does nothing takes looks, not only time: while this
// process and the browser get no time, nothing can be told.
func (r *rendering) stuck() bool {
	told, still, half := r.quietFor(), r.patient(still), r.patient(r.limits.Wall/2)
	r.mu.Lock()
	defer r.mu.Unlock()
	return told > still && r.rests >= restful || told > half
}

// quietFor says how long nothing has been seen and nothing was under way.
func (r *rendering) quietFor() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inFlight > 0 {
		return 0
	}
	return time.Since(r.lastEvent)
}

// again reports whether the page has gone to another document whose time has still to pass.
func (r *rendering) again() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := r.followed && !r.repeated
	r.repeated = r.followed
	return again
}

// idle waits for the load event and for a while without requests.
func (r *rendering) idle() error {
	tick := time.NewTicker(quiet / 5)
	defer tick.Stop()
	for loaded := false; ; {
		select {
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		case <-r.loaded:
			loaded = true
		case <-r.expired: // told where a limit was met
		case <-tick.C:
		}
		if r.limited() {
			return nil
		}
		if loaded && r.quietFor() >= quiet {
			r.settled(byRest)
			return nil
		}
	}
}
