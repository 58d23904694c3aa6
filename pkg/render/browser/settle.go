package browser

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/systeminfo"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// Waits in real time.
const (
	quiet   = 250 * time.Millisecond  // without a request after the load: settled, where there is no virtual time
	still   = 1500 * time.Millisecond // without an event or work: virtual time does not go on
	turn    = time.Second             // at most, for a frame to be drawn: one takes 17 ms, where there is no other work
	metered = 100 * time.Millisecond  // between two looks at the processor's time
)

// restful is how many looks in a row find a page at rest that is at rest: those of the time that still is, but for a
// few that come late.
const restful = int(still/metered) - 3

// parts are those of the page's time, between which frames are drawn. They end a little beside round times: whether a
// timer of that moment still runs would be by chance.
var parts = [...]float64{.1, .3, .6}

const odd = 33 // milliseconds

// settle lets the page's time pass until it has had its share.
func (r *rendering) settle() error {
	if !r.tab.p.virtual {
		close(r.open)
		return r.idle()
	}
	opened := false
	for again := true; again; again = r.again() {
		for i, part := range parts {
			_, err := cdp.Call(r.ctx, r.tab.page, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
				Policy: emulation.VirtualTimePolicyPauseIfNetworkFetchesPending, MaxVirtualTimeTaskStarvationCount: 100_000,
				Budget: new(part*float64(r.limits.Virtual.Milliseconds()) + [len(parts)]float64{odd}[i])})
			if err != nil {
				return err
			}
			if !opened {
				close(r.open)
				opened = true
			}
			if done, err := r.pass(); done || err != nil {
				return err
			}
			if err := r.turn(i == 1 && r.req.Scroll); err != nil {
				return err
			}
		}
	}
	r.settled("virtual")
	return nil
}

// turn has a frame drawn while the page's time stands: its time passes faster than frames are, and what waits for one,
// to be in view or to animate, would never be called. Before that it scrolls to the end, where that is wanted.
func (r *rendering) turn(scroll bool) error {
	ctx, cancel := context.WithTimeout(r.ctx, turn)
	defer cancel()
	script := turnScript
	if scroll {
		script = scrollScript + ";" + script
	}
	// A page that draws nothing has no frame: that it does not come is no fault.
	if world, err := r.world(cdp.FrameID(r.tab.target)); err == nil && r.evaluate(ctx, world, script, nil) == nil {
		return nil
	}
	return context.Cause(r.ctx)
}

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
				r.settled("idle")
				return true, nil
			}
		}
	}
}

// others waits for the page's workers: they have their own time, and it is not the page's.
func (r *rendering) others() {
	for at := time.Now(); time.Since(at) < quiet; {
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
	if told > still/3 {
		r.tab.page.tell(page.CommandHandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
	}
}

// stuck reports that the page's time does not go on: it tells nothing, waits for nothing from here, and either does
// nothing, or does so for half of what the render may take. That it does nothing takes looks, not only time: while this
// process and the browser get no time, nothing can be told.
func (r *rendering) stuck() bool {
	told := r.quietFor()
	r.mu.Lock()
	defer r.mu.Unlock()
	return told > still && r.rests >= restful || told > r.limits.Wall/2
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
			r.settled("idle")
			return nil
		}
	}
}

// meter watches the processor's time of the page's process until the render ends, and returns it.
func (r *rendering) meter() time.Duration {
	tick := time.NewTicker(metered)
	defer tick.Stop()
	before, last := r.tab.cpu(r.ctx), time.Duration(0)
	for {
		select {
		case <-r.ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), time.Second)
			defer cancel()
			return most(before, r.tab.cpu(ctx))
		case <-tick.C:
			now := r.tab.cpu(r.ctx)
			used := most(before, now)
			if used > r.limits.CPU {
				r.stop(ends(render.Hang, "%s of the processor used, %s are allowed", used.Round(time.Millisecond), r.limits.CPU))
			}
			if used <= last {
				r.undialog()
			}
			r.looked(used > last || anyRuns(now))
			last = used
		}
	}
}

// cpu returns the processor's time of the processes that may be the tab's.
func (t *tab) cpu(ctx context.Context) map[int64]time.Duration {
	infos, err := cdp.Call(ctx, t.p.root, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		return nil
	}
	used := map[int64]time.Duration{}
	for _, info := range infos.ProcessInfo {
		if owner := t.p.owner(info.ID); info.Type == "renderer" && (owner == nil || owner == t) {
			used[info.ID] = time.Duration(info.CPUTime * float64(time.Second))
		}
	}
	return used
}

// anyRuns reports whether one of the processes has something to do now, whether or not it is given the time for it.
func anyRuns(processes map[int64]time.Duration) bool {
	for pid := range processes {
		if runs(pid) {
			return true
		}
	}
	return false
}

// most returns the largest growth.
func most(before, after map[int64]time.Duration) (largest time.Duration) {
	for id, used := range after {
		largest = max(largest, used-before[id])
	}
	return largest
}
