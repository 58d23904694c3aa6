package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
)

// toEnd scrolls to the end; other numbers are heights of what scrolls, from the top.
const toEnd = -1

// Lists that keep only what is in view are gone through: where so many links were there and went, from the top, by so
// much of the view each step, and for so much of the page's time. It ends after some steps that bring nothing.
const (
	mostForgotten = 4
	mostSteps     = 64
	step          = .9
	stepPart      = .03
	idleSteps     = 3
)

// scroll scrolls, and reports whether there is more below. That a page cannot be scrolled is no fault; where it takes
// too long, as on a busy machine, there may be more.
func (r *rendering) scroll(at float64) (more bool) {
	ctx, cancel := context.WithTimeout(r.enough, r.patient(otherTurn))
	defer cancel()
	arg := ""
	if at != toEnd {
		arg = fmt.Sprint(at)
	}
	if world, err := r.world(cdp.FrameID(r.tab.target)); err == nil {
		if r.evaluate(ctx, world, comment(scrollScript)+"("+arg+")", &more) != nil {
			return true
		}
	}
	return more
}

// walk goes through a list that forgets, for its links. It reports whether the wait is over altogether.
func (r *rendering) walk() (bool, error) {
	if !r.req.Scroll || r.forgets() < mostForgotten {
		return false, nil
	}
	for n, idle := 1, 0; n <= mostSteps && idle < idleSteps; n++ {
		links, _ := r.has()
		more := r.scroll(step * float64(n))
		if done, err := r.part(stepPart, 0); done || err != nil {
			return done, err
		}
		r.gather(r.ctx)
		if idle++; r.gained(links) {
			idle = 0
		}
		if !more {
			break
		}
	}
	return false, nil
}

// forgets is how many links were there and are not any more.
func (r *rendering) forgets() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forgotten
}
