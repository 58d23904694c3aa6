package browser

import (
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
)

// attached readies what a page has made: a worker or a frame in another process, whose requests pause like its own.
// Everything else is closed before it runs.
func (r *rendering) attached(e event) {
	var to target.EventAttachedToTarget
	if decode(e.params, &to) != nil {
		return
	}
	child := session{r.tab.page.wire, to.SessionID}
	if kind := to.TargetInfo.Type; kind != "worker" && kind != "iframe" {
		child.shut(to.TargetInfo)
		return
	}
	r.mu.Lock()
	r.workers++
	r.mu.Unlock()
	child.tell(fetch.CommandEnable, fetch.EnableParams{})
	child.tell(network.CommandEnable, network.EnableParams{})
	child.tell(target.CommandSetAutoAttach, attach)
	if r.req.Seed {
		child.tell(runtime.CommandEvaluate, runtime.EvaluateParams{Expression: world(&r.req)})
	}
	child.tell(runtime.CommandRunIfWaitingForDebugger, nil)
}
