// Package browser drives a Chromium that has no network: it runs in an empty network namespace behind a proxy that is
// not there, and each request of a page is paused and answered from here. Its duties: start a browser and end it with
// all its processes; give each page a tab that keeps nothing of the page before; answer requests in their order; tell
// when a page has settled, by its own time; take what it has become; and end what hangs, grows or dies. It must never
// let a page reach anything but the function that serves it.
package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// Chromium renders pages with one browser at a time, which is started anew now and then.
type Chromium struct {
	cfg   Config
	modes []mode
	slots *semaphore.Weighted // one a page; all of them to start and end the browser

	mu       sync.Mutex
	p        *process
	idle     []*tab
	virtual  bool
	aTab     int  // see process.aTab
	worn     bool // the browser is to be started anew
	troubles int  // renders in a row that ended badly
	failures int  // starts in a row, or browsers, that failed
	rests    time.Time
	failed   error
	closed   bool
}

var _ render.Browser = (*Chromium)(nil)

var errClosed = errors.New("the browser is closed")

// New starts a browser and tries it. Its errors are ErrNoBrowser, an UnavailableError where trying again is of no use,
// or what may be different the next time.
func New(ctx context.Context, cfg Config) (*Chromium, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	modes, err := modes(cfg)
	if err != nil {
		return nil, err
	}
	c := &Chromium{cfg: cfg, modes: modes, slots: semaphore.NewWeighted(int64(cfg.Tabs))}
	p, err := start(ctx, cfg, modes)
	if err != nil {
		return nil, err
	}
	c.p, c.modes = p, []mode{p.mode}
	if err := c.selfTest(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("trying the browser %s: %w", cfg.Path, err), c.Close())
	}
	cfg.Logger.Info("pages are rendered", "browser", cfg.Path, "mode", p.mode.String(), "virtual_time", c.virtual)
	return c, nil
}

// Mode says how the browser is kept from the network and from the machine, for people: namespace, proxy, user, sandbox.
func (c *Chromium) Mode() string { return c.modes[0].String() }

// selfTest finds out whether virtual time works: then a timer of 3 s does not take 3 s.
func (c *Chromium) selfTest(ctx context.Context) error {
	c.p.virtual = true
	req := render.Request{URL: "http://self.test/", Limits: render.Limits{Wall: startTimeout},
		Body: []byte("<script>setTimeout(()=>document.body.innerHTML='<a href=/found>a</a>',3000)</script><body>")}
	t, err := openTab(ctx, c.p, "self.test")
	if err != nil {
		return err
	}
	got, err := t.render(ctx, req, func(context.Context, render.Sub) render.Answer { return render.Answer{Fail: blocked} })
	c.aTab = len(c.p.renderers(ctx))
	t.dispose()
	if err != nil {
		return err
	}
	c.virtual = (got.Settled == byTime || got.Settled == frameless) && len(got.Links) == 1
	c.p.virtual, c.p.aTab = c.virtual, c.aTab
	if got.Verdict != render.Done {
		return fmt.Errorf("the test page: %s: %s", got.Verdict, got.Detail)
	}
	return nil
}

// Render implements render.Browser.
func (c *Chromium) Render(ctx context.Context, req render.Request,
	serve func(context.Context, render.Sub) render.Answer) (render.Result, error) {
	t, err := c.tab(ctx, hostOf(req.URL))
	if err != nil {
		return render.Result{}, err
	}
	defer c.slots.Release(1)
	result, err := t.render(ctx, req, serve)
	c.done(ctx, t, result, err)
	if err != nil {
		return render.Result{}, fmt.Errorf("rendering %s: %w", req.URL, err)
	}
	return result, nil
}

// tab waits for a free slot in a browser that is fit, and returns a tab for a host.
func (c *Chromium) tab(ctx context.Context, host string) (*tab, error) {
	for {
		if err := c.slots.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		p, t, err := c.take(host)
		if err == nil && p != nil {
			if t, err = c.fit(ctx, p, t, host); err == nil {
				return t, nil
			}
			c.broken(ctx, err)
		}
		c.slots.Release(1)
		if err == nil {
			err = c.renew(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

// take returns the browser, where it is fit, and an idle tab: of the host, where there is one.
func (c *Chromium) take(host string) (*process, *tab, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errClosed
	}
	if c.p == nil || c.worn || !c.p.alive() {
		return nil, nil, nil
	}
	if len(c.idle) == 0 {
		return c.p, nil, nil
	}
	i := max(0, slices.IndexFunc(c.idle, func(t *tab) bool { return t.host == host }))
	t := c.idle[i]
	c.idle = slices.Delete(c.idle, i, i+1)
	return c.p, t, nil
}

// fit returns a tab for a host: the idle one, if it is the host's; otherwise that gives way.
func (c *Chromium) fit(ctx context.Context, p *process, idle *tab, host string) (*tab, error) {
	if idle != nil && idle.host == host {
		return idle, nil
	}
	if idle != nil {
		idle.dispose()
	}
	return openTab(ctx, p, host)
}

// done takes a tab back, or what is left of it.
func (c *Chromium) done(ctx context.Context, t *tab, result render.Result, err error) {
	good := err == nil && (result.Verdict == render.Done || result.Verdict == render.Limit ||
		result.Verdict == render.Stop)
	keep := good && !t.works && t.pages < pagesAContext && t.reset(context.WithoutCancel(ctx)) == nil
	worn := !keep && !t.destroy()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.p.renders++
	if keep {
		c.idle = append(c.idle, t)
	}
	if err == nil {
		c.troubles++
	}
	if good {
		c.troubles, c.failures = 0, 0
	}
	if worn || c.troubles >= 2 || t.p.renders >= rendersABrowser || t.p.renders%10 == 0 && t.p.pss() > maxPSS {
		c.worn = true
	}
}

// broken notes that the browser failed, and how long it is left alone after that.
func (c *Chromium) broken(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.worn, c.failed = true, err
	rest := firstRest << min(c.failures, 10)
	c.failures++
	c.rests = time.Now().Add(min(rest, longestRest))
}

// renew ends the browser, when all its renders are over, and starts another.
func (c *Chromium) renew(ctx context.Context) error {
	if err := c.slots.Acquire(ctx, int64(c.cfg.Tabs)); err != nil {
		return err
	}
	defer c.slots.Release(int64(c.cfg.Tabs))
	c.mu.Lock()
	old, fit := c.p, c.p != nil && !c.worn && c.p.alive()
	resting, failed, closed := c.rests, c.failed, c.closed
	if !fit {
		c.p, c.idle = nil, nil
	}
	c.mu.Unlock()
	if closed {
		return errClosed
	}
	if fit {
		return nil // another was quicker
	}
	if old != nil {
		old.end()
	}
	if time.Now().Before(resting) {
		return &RestingError{resting, failed}
	}
	p, err := start(ctx, c.cfg, c.modes)
	if err != nil {
		c.broken(ctx, err)
		return err
	}
	c.cfg.Logger.Debug("the browser was started anew", "mode", p.mode.String())
	p.virtual, p.aTab = c.virtual, c.aTab
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p, c.worn, c.troubles = p, false, 0
	return nil
}

// Close waits for the renders under way, and ends the browser.
func (c *Chromium) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	_ = c.slots.Acquire(context.Background(), int64(c.cfg.Tabs)) // without an end it cannot fail
	defer c.slots.Release(int64(c.cfg.Tabs))
	c.mu.Lock()
	p := c.p
	c.p, c.idle = nil, nil
	c.mu.Unlock()
	if p != nil {
		p.end()
	}
	return nil
}
