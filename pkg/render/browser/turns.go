package browser

import (
	"context"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
)

// parts are those of the page's time, between which the browser draws frames. They end a little beside round times:
// whether a timer of that moment still runs would be by chance.
var parts = [...]float64{.1, .3, .6}

const (
	odd = 33 // milliseconds
	// further is how many parts more a page gets whose last frame brought requests or links, or whose last part links, and
	// furtherPart how long each is: a list that loads what comes into view. The links of the part count since a request of
	// the frame before may be told of late. Its requests do not: some pages ask for the same again and again.
	further     = 5
	furtherPart = .1
)

// The longest waits for the browser's own frames, which little hangs on: see frames.js. One takes 17 ms where
// there is no other work; on a busy machine the first of a tab takes seconds, or does not come.
const (
	firstTurn = time.Second / 2
	otherTurn = 300 * time.Millisecond
	// lostTurn is for the first one in a tab that drew none before.
	lostTurn = 100 * time.Millisecond
)

// settle lets the page's time pass until it has had its share.
func (r *rendering) settle() error {
	if !r.tab.p.virtual {
		close(r.open)
		return r.idle()
	}
	r.longest = firstTurn
	if r.tab.frameless {
		r.longest = lostTurn
	}
	for again := true; again; again = r.again() {
		grew := false
		for i := 0; i < len(parts) || i < len(parts)+further && grew; i++ {
			links, _ := r.has()
			part, beside := furtherPart, 0
			if i < len(parts) {
				part = parts[i]
			}
			if i == 0 {
				beside = odd
			}
			if done, err := r.part(part, beside); done || err != nil {
				return err
			}
			r.gather(r.ctx)
			_, requests := r.has()
			if err := r.between(i == 1 || i > 1 && r.gained(links)); err != nil {
				return err
			}
			r.gather(r.ctx)
			l, n := r.has()
			grew = l > links || n > requests
		}
	}
	if done, err := r.walk(); done || err != nil {
		return err
	}
	if r.frameless {
		r.settled(frameless)
	}
	r.settled(byTime)
	return nil
}

// part lets a part of the page's time pass, and some milliseconds beside. It reports whether the wait is over
// altogether.
func (r *rendering) part(part float64, beside int) (bool, error) {
	began := r.unblock()
	_, err := cdp.Call(r.ctx, r.tab.page, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
		Policy: emulation.VirtualTimePolicyPauseIfNetworkFetchesPending, MaxVirtualTimeTaskStarvationCount: 100_000,
		Budget: new(part*float64(r.limits.Virtual.Milliseconds()) + float64(beside))})
	began()
	if err != nil {
		return false, err
	}
	r.opens()
	return r.pass()
}

// opens lets requests be answered from now on.
func (r *rendering) opens() { r.begin.Do(func() { close(r.open) }) }

// blocking is how long the page's time may take to begin before a request is thought to keep it from that. It takes
// some ms where nothing does.
const blocking = 250 * time.Millisecond

// resting is how many looks in a row find a page at rest that waits for an answer.
const resting = 2

// unblock opens the answers early where a script waits for one (XMLHttpRequest without async): the page does nothing
// else then, and its time cannot begin. Call what it returns when it has begun.
func (r *rendering) unblock() (began func()) {
	done := make(chan struct{})
	wait := r.patient(blocking)
	r.serving.Go(func() {
		tick := time.NewTicker(wait)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-r.ctx.Done():
				return
			case <-tick.C:
				if r.waits() {
					r.opens()
					return
				}
			}
		}
	})
	return func() { close(done) }
}

// waits reports whether an XMLHttpRequest waits for its answer, or a fetch, which is called one too, and the page does
// nothing meanwhile. One that computes has not begun its time for another reason.
func (r *rendering) waits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rests >= resting && slices.ContainsFunc(r.asks,
		func(a *asked) bool { return a.sub.Type == string(network.ResourceTypeXHR) })
}

// between does what is done between two parts of the page's time: it scrolls to the end, where that is due, and has the
// browser draw a frame, unless one did not come before.
func (r *rendering) between(scroll bool) error {
	if scroll && r.req.Scroll {
		r.scroll(toEnd)
	}
	if r.longest == 0 {
		return context.Cause(r.ctx)
	}
	drawn, err := r.turn(r.longest)
	r.longest = otherTurn
	if err == nil && !drawn {
		r.longest, r.frameless = 0, true
	}
	return err
}

// turn has the browser draw a frame while the page's time stands, for what only the browser tells at a frame: the ends
// of transitions, and changes of media. It reports whether one was drawn.
func (r *rendering) turn(longest time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(r.enough, r.patient(longest))
	defer cancel()
	world, err := r.world(cdp.FrameID(r.tab.target))
	if err != nil {
		return false, context.Cause(r.ctx)
	}
	// That no frame comes is no fault.
	if r.evaluate(ctx, world, turnScript, nil) != nil {
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
	if r.evaluate(ctx, world, r.extracting(0), &got) != nil {
		return
	}
	r.note(got.Links...)
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(got.Links)
	r.forgotten = len(r.passing) - len(slices.Compact(got.Links))
}

// note notes links that were seen before the end.
func (r *rendering) note(links ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, link := range links {
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

// gained reports whether links were noted since there were so many.
func (r *rendering) gained(since int) bool {
	links, _ := r.has()
	return links > since
}

// has counts the links and requests that were seen.
func (r *rendering) has() (links, requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.passing), r.result.Requests
}
