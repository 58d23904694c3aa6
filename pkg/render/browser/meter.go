package browser

import (
	"context"
	"maps"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/systeminfo"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

const (
	metered = 100 * time.Millisecond // between two looks at the processor's time
	looking = 2 * time.Second        // for one look
	// starving is how many times Limits.Wall more a render may take where the machine lets the browser wait.
	starving = 3
	// slowest bounds how much longer waits get on a busy machine.
	slowest = 8
)

// meter watches the time, and the processor's time of the page's process, until the render ends. It returns the latter.
// What a look takes longer than it should, the machine had no time for the browser or for us: that does not count, else
// what a page becomes would hang on what else runs.
func (r *rendering) meter() time.Duration {
	tick := time.NewTicker(metered)
	defer tick.Stop()
	before, last := r.look(r.ctx), time.Duration(0)
	for at := time.Now(); ; at = time.Now() {
		select {
		case <-r.ctx.Done():
			return max(most(before, r.look(context.WithoutCancel(r.ctx))), last) // the last look may fail
		case <-tick.C:
			now := r.look(r.ctx)
			used := most(before, now)
			r.starved(time.Since(at) - metered)
			r.measured(used, time.Since(r.began)-r.starve())
			if used <= last {
				r.undialog()
			}
			r.looked(used > last || anyRuns(now))
			last = max(used, last)
		}
	}
}

func (r *rendering) look(ctx context.Context) map[int64]time.Duration {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	return r.tab.cpu(ctx)
}

// measured holds what a render took against its limits. Beyond them the page is taken as it is; where that takes too
// long as well it cannot be read.
func (r *rendering) measured(cpu, wall time.Duration) {
	if most := r.allowed(r.limits.CPU); cpu > most {
		const why = "%s of the processor used, %s are allowed"
		if r.limit(why, cpu.Round(time.Millisecond), most) {
			// A script that computes without end would keep us from reading what it made before. The tab is closed then.
			r.tab.page.tell(emulation.CommandSetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
			r.tab.page.tell(runtime.CommandTerminateExecution, nil)
		}
		if cpu > most+r.limits.CPU/2 {
			r.stop(ends(render.Hang, why, cpu.Round(time.Millisecond), most))
		}
	}
	if most := r.allowed(r.limits.Wall); wall > most {
		const why = "not settled after %s"
		r.limit(why, most)
		if wall > most+r.limits.Wall/4 {
			r.stop(ends(render.Hang, why, most))
		}
	}
}

// allowed is a limit of the page with the shares of its views behind a hash.
func (r *rendering) allowed(limit time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return limit + time.Duration(r.views)*limit/shareOfView
}

// starved notes time that the machine took from the render.
func (r *rendering) starved(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starvation += max(d-metered/10, 0)
}

func (r *rendering) starve() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return min(r.starvation, starving*r.limits.Wall)
}

// patient is a wait made longer as the machine is slower.
func (r *rendering) patient(wait time.Duration) time.Duration {
	passed := max(time.Since(r.began), metered)
	had := max(passed-r.starve(), passed/slowest)
	return time.Duration(float64(wait) * float64(passed) / float64(had))
}

// cpu returns the processor's time of the processes that may be the tab's.
func (t *tab) cpu(ctx context.Context) map[int64]time.Duration {
	used := t.p.renderers(ctx)
	maps.DeleteFunc(used, func(id int64, _ time.Duration) bool {
		owner := t.p.owner(id)
		return owner != nil && owner != t
	})
	return used
}

// renderers returns the processor's time of all processes that render, and forgets those that have ended.
func (p *process) renderers(ctx context.Context) map[int64]time.Duration {
	infos, err := cdp.Call(ctx, p.root, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		return nil
	}
	used := map[int64]time.Duration{}
	for _, info := range infos.ProcessInfo {
		if info.Type == "renderer" {
			used[info.ID] = time.Duration(info.CPUTime * float64(time.Second))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.owners, func(id int64, owner *tab) bool {
		_, lives := used[id]
		return owner == nobody && !lives
	})
	return used
}

// most returns the largest growth.
func most(before, after map[int64]time.Duration) (largest time.Duration) {
	for id, used := range after {
		largest = max(largest, used-before[id])
	}
	return largest
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
