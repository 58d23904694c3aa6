package browser

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// serveFunc answers a page's request.
type serveFunc func(context.Context, render.Sub) render.Answer

// rendering is one render in a tab.
type rendering struct {
	tab    *tab
	req    render.Request
	limits render.Limits
	serve  serveFunc
	site   string // the registrable domain of the page
	own    string // the page's URL, as the browser writes it

	ctx  context.Context
	stop context.CancelCauseFunc
	// enough ends where a limit is met: nothing more is waited for, and the page is taken as it is.
	enough context.Context
	cut    context.CancelFunc
	// serving counts the calls of serve, and who gives their answers.
	serving sync.WaitGroup
	asking  chan struct{} // there are asks; buffered
	open    chan struct{} // closed when the page's time goes on: only then its requests are answered

	expired chan struct{} // a budget of virtual time has run out
	loaded  chan struct{} // the load event; buffered
	began   time.Time

	mu         sync.Mutex
	asks       []*asked // that wait for their answers, in their order
	result     render.Result
	bytes      int64
	starvation time.Duration // that the machine had no time for the render
	inFlight   int           // requests that have no answer yet
	lastEvent  time.Time     // when something was told last
	rests      int           // looks in a row at which the processor was neither used nor waited for
	documents  int           // of the main frame, asked for
	committed  int           // of the main frame, shown
	followed   bool          // the page has loaded itself again
	repeated   bool          // and the time of the document that it led to has passed, or it led to none
	states     []string      // addresses that the page gave itself
	arriving   map[string]arriving
	silent     map[string]bool // documents of frames whose links are not to be followed, by their requests
	workers    int             // that the page has made
	begin      sync.Once
	passing    []string // links that were seen before the end
	passed     map[string]bool
	forgotten  int // links of them that the page has no more
	views      int // behind a hash, that were gone to; each adds to the limits

	// Only for who drives the page:
	frameless bool          // a frame was waited for in vain
	longest   time.Duration // that the next frame is waited for; 0: not at all
}

// render renders one page. An error means that the tab is not to be used again, and nothing of the page.
func (t *tab) render(ctx context.Context, req render.Request, serve serveFunc) (render.Result, error) {
	limits := req.Limits.Filled()
	longest := (starving+2)*limits.Wall + mostRoutes*limits.Wall/shareOfView
	ctx, cancelWall := context.WithTimeoutCause(ctx, longest, ends(render.Hang, "not settled after %s", longest))
	defer cancelWall()
	ctx, stop := context.WithCancelCause(ctx)
	enough, cut := context.WithCancel(ctx)
	defer cut()
	r := &rendering{tab: t, req: req, limits: limits, serve: serve, site: siteOf(req.URL),
		ctx: ctx, stop: stop, enough: enough, cut: cut, asking: make(chan struct{}, 1), open: make(chan struct{}),
		began: time.Now(), lastEvent: time.Now(), expired: make(chan struct{}, 1), loaded: make(chan struct{}, 1),
		arriving: map[string]arriving{}, passed: map[string]bool{}, silent: map[string]bool{}}
	t.pages++
	handled := make(chan struct{})
	go func() { defer close(handled); r.handle() }()
	r.serving.Go(r.answer)
	cpu := make(chan time.Duration, 1)
	go func() { cpu <- r.meter() }()
	err := r.drive()
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	t.frameless = r.frameless
	stop(err)
	<-handled
	r.serving.Wait()
	r.result.CPU = <-cpu
	t.works = r.workers > 0 || r.result.CPU > r.allowed(limits.CPU)
	r.result.Wall = time.Since(r.began)
	return r.end(err)
}

// end says what came of the render.
func (r *rendering) end(err error) (render.Result, error) {
	var v *verdictError
	switch {
	case err == nil && r.result.Verdict == "":
		r.result.Verdict = render.Done
	case err == nil:
	case errors.As(err, &v):
		r.result.Verdict, r.result.Detail = v.verdict, v.detail
	case errors.Is(err, errLost):
		r.result.Verdict, r.result.Ended, r.result.Detail = render.Crash, true, "the browser ended"
	default:
		return render.Result{}, err
	}
	if r.result.Verdict != render.Done && r.result.Verdict != render.Limit {
		r.result.HTML, r.result.Links, r.result.Screenshot, r.result.Settled = nil, nil, nil, ""
	}
	return r.result, nil
}

// drive leads the page from its navigation to its result.
func (r *rendering) drive() error {
	if err := r.dress(); err != nil {
		return err
	}
	to, err := cdp.Call(r.ctx, r.tab.page, page.Navigate, page.NavigateParams{URL: r.req.URL})
	if err != nil {
		return err
	}
	if to.ErrorText != "" {
		return ends(render.Limit, "the browser does not show it: %s", to.ErrorText)
	}
	if err := r.settle(); err != nil {
		return err
	}
	if err := r.extract(); err != nil {
		return err
	}
	r.routes()
	r.addPassing()
	return nil
}

// dress sets what scripts are to see: the agent, and random numbers that are none.
func (r *rendering) dress() error {
	if err := r.tab.speak(r.ctx, r.req.UserAgent, r.req.Languages); err != nil {
		return err
	}
	if !r.req.Seed {
		return nil
	}
	script, err := cdp.Call(r.ctx, r.tab.page, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: world(&r.req) + frames()})
	if err != nil {
		return err
	}
	context.AfterFunc(r.ctx, func() {
		r.tab.page.tell(page.CommandRemoveScriptToEvaluateOnNewDocument,
			page.RemoveScriptToEvaluateOnNewDocumentParams(script))
	})
	return nil
}

// handle takes the tab's events in their order until the render ends.
func (r *rendering) handle() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.tab.page.wire.done:
			r.stop(errLost)
			return
		case <-r.tab.events.more:
		}
		for _, e := range r.tab.events.take() {
			r.see(e)
		}
	}
}

func (r *rendering) see(e event) {
	r.active()
	switch main := e.session == r.tab.page.id; e.method {
	case "Fetch.requestPaused":
		r.paused(e)
	case "Network.loadingFinished", "Network.loadingFailed", "Network.responseReceived":
		r.arrived(e)
	case "Page.javascriptDialogOpening":
		r.dialog(e)
	case "Emulation.virtualTimeBudgetExpired":
		if main {
			signal(r.expired)
		}
	case "Page.loadEventFired":
		if main {
			signal(r.loaded)
		}
	case "Page.frameNavigated":
		r.navigated(e)
	case "Page.navigatedWithinDocument":
		r.moved(e)
	case "Inspector.targetCrashed":
		if main {
			r.stop(ends(render.Crash, "the process that rendered it ended"))
		}
	case "Target.detachedFromTarget":
		var from target.EventDetachedFromTarget
		if decode(e.params, &from) == nil && from.SessionID == r.tab.page.id {
			r.stop(ends(render.Crash, "its tab was closed"))
		}
	case "Target.attachedToTarget":
		r.attached(e)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// dialog dismisses what a page shows; that it may be left, it is told.
func (r *rendering) dialog(e event) {
	var d page.EventJavascriptDialogOpening
	if decode(e.params, &d) == nil {
		session{r.tab.page.wire, e.session}.tell(page.CommandHandleJavaScriptDialog,
			page.HandleJavaScriptDialogParams{Accept: d.Type == page.DialogTypeBeforeunload})
	}
}

func (r *rendering) navigated(e event) {
	var to page.EventFrameNavigated
	if decode(e.params, &to) == nil && to.Frame.ParentID == "" && strings.HasPrefix(to.Frame.URL, "http") {
		r.mu.Lock()
		r.committed++
		r.mu.Unlock()
	}
}

// moved notes where a script says that the page is now, as a router does that leads on: to a crawler that is a link.
func (r *rendering) moved(e event) {
	var to page.EventNavigatedWithinDocument
	if decode(e.params, &to) != nil || string(to.FrameID) != string(r.tab.target) {
		return
	}
	at, _, _ := strings.Cut(to.URL, "#")
	if strings.HasPrefix(at, "http") && at != r.req.URL && r.isNewState(at) {
		r.note(at)
	}
}

// Addresses that a page gives itself: so many in all, and so many that only the query tells apart. One that notes the
// time, or how far somebody read, would lead the crawl into pages without end.
const (
	mostStates  = 64
	mostQueries = 8
)

// isNewState reports whether an address that the page gives itself is taken, and counts it.
func (r *rendering) isNewState(at string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	path, _, _ := strings.Cut(at, "?")
	alike := 0
	for _, had := range r.states {
		if had == at {
			return false
		}
		if p, _, _ := strings.Cut(had, "?"); p == path {
			alike++
		}
	}
	if len(r.states) == mostStates || alike == mostQueries {
		return false
	}
	r.states = append(r.states, at)
	return true
}
