package browser

import (
	"context"
	"net/url"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
)

// The size of the window: a page of A4 at 155 dots an inch, so that lists fill it.
const (
	width  = 1280
	height = 1696
	// screenWidth is that of the screen around it, wider than high: the browser's own would be 800, a telephone's.
	screenWidth = 1920
)

// tab is a page of the browser in a context of its own, navigated again for each render.
type tab struct {
	p       *process
	context cdp.BrowserContextID
	target  target.ID
	page    session
	events  *queue
	host    string
	agent   string // that scripts see; "" the browser's own
	spoken  string // the languages that they see, as in Accept-Language; "" the browser's own
	pages   int
	// frameless says that the browser drew no frame of the tab's last page, as happens to new tabs on a busy machine.
	frameless bool
	// works says that the last page may work on when it is left: it made a worker, or used up its time of the processor.
	works bool
}

// Bounds for a browser that answers no more; a busy machine may take seconds.
const (
	closeTimeout   = 10 * time.Second
	reserveTimeout = time.Second / 2 // for all processes of a new tab
	leaveTimeout   = 2 * time.Second // to leave a page; a tab that takes longer is closed, and its processes end
)

const openTimeout = 30 * time.Second

// openTab makes a context and a page in it.
func openTab(ctx context.Context, p *process, host string) (*tab, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	made, err := cdp.Call(ctx, p.root, target.CreateBrowserContext,
		target.CreateBrowserContextParams{DisposeOnDetach: new(true)})
	if err != nil {
		return nil, err
	}
	t := &tab{p: p, context: made.BrowserContextID, events: newQueue(), host: host}
	if err := t.open(ctx); err != nil {
		t.dispose()
		return nil, err
	}
	return t, nil
}

func (t *tab) open(ctx context.Context) error {
	t.p.opening.Lock() // so that the process that is new then is known for the tab's
	defer t.p.opening.Unlock()
	before := t.p.renderers(ctx)
	_, err := cdp.Call(ctx, t.p.root, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: t.context})
	if err != nil {
		return err
	}
	created, err := cdp.Call(ctx, t.p.root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank",
		BrowserContextID: t.context, Width: width, Height: height, NewWindow: new(true)})
	if err != nil {
		return err
	}
	t.target = created.TargetID
	defer t.p.forget(t.target)
	select {
	case id := <-t.p.page(t.target):
		t.page = session{t.p.root.wire, id}
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.p.root.wire.done:
		return errLost
	}
	t.page.wire.route(t.page.id, t.events)
	if err := t.prepare(ctx); err != nil {
		return err
	}
	t.ownNew(ctx, before)
	return nil
}

// ownNew notes the processes of a new tab: those that are there now and were not before it. The browser starts one in
// reserve, too, which may come late on a busy machine, and would be taken for one of the next tab.
func (t *tab) ownNew(ctx context.Context, before map[int64]time.Duration) {
	for end := time.Now().Add(reserveTimeout); ; time.Sleep(reserveTimeout / 50) {
		found := 0
		for id := range t.p.renderers(ctx) {
			if _, old := before[id]; !old {
				t.p.own(id, t)
				found++
			}
		}
		if found >= t.p.aTab || ctx.Err() != nil || time.Now().After(end) {
			return
		}
	}
}

// prepare sets what holds for all pages of the tab, and lets it run. Its time stands until a page has it go on.
func (t *tab) prepare(ctx context.Context) error {
	for _, c := range []struct {
		method string
		params any
	}{
		{fetch.CommandEnable, fetch.EnableParams{}},
		{page.CommandEnable, page.EnableParams{}},
		{network.CommandEnable, network.EnableParams{MaxTotalBufferSize: new(int64(1)),
			MaxResourceBufferSize: new(int64(1))}},
		{inspector.CommandEnable, nil},
		{target.CommandSetAutoAttach, attach},
		{network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true}},
		{network.CommandSetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}},
		{emulation.CommandSetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: height, DeviceScaleFactor: 1,
			ScreenWidth: screenWidth, ScreenHeight: height}},
		{emulation.CommandSetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}},
		{emulation.CommandSetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"}},
		{runtime.CommandRunIfWaitingForDebugger, nil},
	} {
		if err := t.page.Call(ctx, c.method, c.params, &cdp.Empty{}); err != nil {
			return err
		}
	}
	return t.still(ctx)
}

// still has the page's time stand still, until a page has it go on.
func (t *tab) still(ctx context.Context) error {
	if !t.p.virtual {
		return nil
	}
	_, err := cdp.Call(ctx, t.page, emulation.SetVirtualTimePolicy,
		emulation.SetVirtualTimePolicyParams{Policy: emulation.VirtualTimePolicyPause})
	return err
}

// reset leaves the page, and nothing of it: neither a document nor what it stored.
func (t *tab) reset(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	// A budget of time that has not run out would run out on the next page.
	if err := t.still(ctx); err != nil {
		return err
	}
	if _, err := cdp.Call(ctx, t.page, page.Navigate, page.NavigateParams{URL: "about:blank"}); err != nil {
		return err
	}
	_, err := cdp.Call(ctx, t.page, storage.ClearDataForOrigin,
		storage.ClearDataForOriginParams{Origin: "*", StorageTypes: "all"})
	if err != nil {
		return err
	}
	_, err = cdp.Call(ctx, t.page, network.ClearBrowserCookies, cdp.Empty{})
	if err != nil {
		return err
	}
	err = t.left(ctx)
	t.events.take()
	return err
}

// left waits until the page is left: its process answers for the empty document. That the browser has gone to it proves
// nothing: the page may be told that it is left, and do anything then.
func (t *tab) left(ctx context.Context) error {
	for {
		got, err := cdp.Call(ctx, t.page, runtime.Evaluate, runtime.EvaluateParams{Expression: "location.href"})
		if err != nil || got.Result != nil && string(got.Result.Value) == `"about:blank"` {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(leaveTimeout / 1000):
		}
	}
}

// destroy ends the processes of a page that may not end by itself, and closes its tab. A page that loops, be it only
// when it is left, goes on when its tab is closed. It reports whether the browser closed the tab with its processes.
func (t *tab) destroy() bool {
	left := t.p.owned(t)
	t.page.tell(page.CommandCrash, nil)
	closed := t.dispose()
	return t.p.finish(left) && closed
}

// dispose closes the tab and its context with all that belongs to it. It reports whether the browser did so.
func (t *tab) dispose() bool {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, err := cdp.Call(ctx, t.p.root, target.DisposeBrowserContext,
		target.DisposeBrowserContextParams{BrowserContextID: t.context})
	t.p.disown(t)
	return err == nil
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
