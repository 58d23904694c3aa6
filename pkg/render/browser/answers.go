package browser

import (
	"time"

	"github.com/chromedp/cdproto/fetch"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// answer gives the answers in the order of the requests, each when the one before has arrived: answers that overtake
// each other would make each render another. It begins when the page's time goes on.
func (r *rendering) answer() {
	select {
	case <-r.open:
	case <-r.ctx.Done():
	}
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.asking:
		}
		r.mu.Lock()
		asks := r.asks
		r.asks = nil
		r.mu.Unlock()
		for _, a := range asks {
			r.give(a)
		}
	}
}

func (r *rendering) give(a *asked) {
	var answer render.Answer
	select {
	case <-r.ctx.Done():
		return
	case answer = <-a.answer:
	}
	if a.action.kind == leave {
		a.session.tell(fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: a.id})
		return
	}
	r.hear(a, &answer)
	arriving := r.expect(a.network)
	r.reply(a, answer)
	r.mu.Lock()
	r.inFlight--
	r.mu.Unlock()
	wait, unread := r.patient(untold), r.patient(unread)
	if a.session.id != r.tab.page.id || a.main {
		wait = unread // of a worker, and of a document, nothing may be told
	}
	select {
	case <-arriving.begun:
		wait = unread
	case <-arriving.ended:
		return
	case <-r.ctx.Done():
		return
	case <-time.After(wait):
		return
	}
	select {
	case <-arriving.ended:
	case <-r.ctx.Done():
	case <-time.After(wait):
	}
}

// How long an answer is waited for: where nothing is told of it, and where a page does not read what has come. Chosen:
// an answer from here is there in 1 to 5 ms.
const (
	untold = 300 * time.Millisecond
	unread = 30 * time.Millisecond
)

// arriving tells when an answer has reached the page: its header, and all of it.
type arriving struct{ begun, ended chan struct{} }

func (r *rendering) expect(id string) arriving {
	a := arriving{make(chan struct{}, 1), make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arriving[id] = a
	return a
}

func (r *rendering) arrived(e event) {
	var ev struct {
		RequestID string `json:"requestId"`
	}
	if decode(e.params, &ev) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.arriving[ev.RequestID]
	switch {
	case !ok:
	case e.method == "Network.responseReceived":
		signal(a.begun)
	default:
		signal(a.ended)
		delete(r.arriving, ev.RequestID)
	}
}
