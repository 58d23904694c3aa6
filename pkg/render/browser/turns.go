package browser

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
)

// parts are those of the page's time, between which frames are drawn. They end a little beside round times: whether a
// timer of that moment still runs would be by chance.
var parts = [...]float64{.1, .3, .6}

const (
	odd = 33 // milliseconds
	// further is how many parts more a page gets whose last frame brought requests or links, or whose last part links, and
	// furtherPart how long each is: a list that loads what comes into view. The links of the part count since a request of
	// the frame before may be told of late. Its requests do not: some pages ask for the same again and again.
	further     = 5
	furtherPart = .1
)

// The longest waits for a frame to be drawn. One takes 17 ms where there is no other work, and much more on a busy
// machine; a page that draws nothing has none.
const (
	firstTurn = 3 * time.Second
	otherTurn = time.Second
	lostTurn  = 100 * time.Millisecond // after one that did not come
)

// settle lets the page's time pass until it has had its share.
func (r *rendering) settle() error {
	if !r.tab.p.virtual {
		close(r.open)
		return r.idle()
	}
	longest := firstTurn
	for again := true; again; again = r.again() {
		grew := false
		for i := 0; i < len(parts) || i < len(parts)+further && grew; i++ {
			links, _ := r.has()
			if done, err := r.part(i); done || err != nil {
				return err
			}
			r.gather(r.ctx)
			_, requests := r.has()
			drawn, err := r.turn(longest, i == 1 && r.req.Scroll)
			if err != nil {
				return err
			}
			if !drawn {
				longest, r.frameless = lostTurn, true
			} else if longest == firstTurn {
				longest = otherTurn
			}
			r.gather(r.ctx)
			l, n := r.has()
			grew = l > links || n > requests
		}
	}
	r.settled("virtual")
	return nil
}

// part lets a part of the page's time pass. It reports whether the wait is over altogether.
func (r *rendering) part(i int) (bool, error) {
	part, beside := furtherPart, 0
	if i < len(parts) {
		part = parts[i]
	}
	if i == 0 {
		beside = odd
	}
	_, err := cdp.Call(r.ctx, r.tab.page, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
		Policy: emulation.VirtualTimePolicyPauseIfNetworkFetchesPending, MaxVirtualTimeTaskStarvationCount: 100_000,
		Budget: new(part*float64(r.limits.Virtual.Milliseconds()) + float64(beside))})
	if err != nil {
		return false, err
	}
	r.begin.Do(func() { close(r.open) })
	return r.pass()
}

// turn has a frame drawn while the page's time stands: its time passes faster than frames are, and what waits for one,
// to be in view or to animate, would never be called. Before that it scrolls to the end, where that is wanted. It
// reports whether a frame was drawn.
func (r *rendering) turn(longest time.Duration, scroll bool) (bool, error) {
	ctx, cancel := context.WithTimeout(r.enough, r.patient(longest))
	defer cancel()
	world, err := r.world(cdp.FrameID(r.tab.target))
	if err != nil {
		return false, context.Cause(r.ctx)
	}
	script := turnScript
	if scroll {
		script = scrollScript + ";" + script
	}
	// That no frame comes is no fault.
	if r.evaluate(ctx, world, script, nil) != nil {
		return false, context.Cause(r.ctx)
	}
	return true, nil
}

// gather notes the links that the page has now: lists forget what leaves their view.
func (r *rendering) gather(ctx context.Context) {
	world, err := r.world(cdp.FrameID(r.tab.target))
	if err != nil {
		return
	}
	var got extracted
	if r.evaluate(ctx, world, fmt.Sprintf("%s(0)", strings.TrimSpace(comment(extractScript))), &got) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, link := range got.Links {
		if !r.passed[link] && len(r.passing) < mostPassing {
			r.passed[link] = true
			r.passing = append(r.passing, link)
		}
	}
}

// addPassing adds the links that were noted before the end to those of the end.
func (r *rendering) addPassing() {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := map[string]bool{}
	for _, link := range r.result.Links {
		known[link] = true
	}
	for _, link := range r.passing {
		if !known[link] {
			r.result.Links = append(r.result.Links, link)
		}
	}
}

// mostPassing bounds the links that are noted before the end.
const mostPassing = 20_000

// has counts the links and requests that were seen.
func (r *rendering) has() (links, requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.passing), r.result.Requests
}
