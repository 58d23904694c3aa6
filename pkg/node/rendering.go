package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/browser"
)

// lazyBrowser starts the browser when the first page is to be rendered: most crawls render none.
type lazyBrowser struct {
	cfg browser.Config
	log *slog.Logger

	mu     sync.Mutex
	opened *browser.Chromium
	never  error // why there is no browser here, now and later
	failed error // why it could not be started, until then
	until  time.Time
	pause  time.Duration
	closed bool
	// crashed is how near pages are to being given up: at 1 they are.
	crashed map[string]float64
}

var _ render.Browser = (*lazyBrowser)(nil)

// The pauses between two tries to start a browser.
const (
	firstStart   = 5 * time.Second
	longestStart = 10 * time.Minute
)

func newLazyBrowser(cfg browser.Config, log *slog.Logger) *lazyBrowser {
	cfg.Logger = log
	return &lazyBrowser{cfg: cfg, log: log}
}

// restingError says that the browser is tried again after a while.
type restingError struct {
	err  error
	rest time.Duration
}

func (e *restingError) Error() string       { return e.err.Error() }
func (e *restingError) Unwrap() error       { return e.err }
func (e *restingError) Rest() time.Duration { return e.rest }

// Missing says why no page can be rendered here; nil: nothing is known against it.
func (l *lazyBrowser) Missing() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.never == nil && l.opened == nil {
		if _, err := browser.Find(l.cfg.Path); err != nil {
			l.giveUp(err)
		}
	}
	return l.never
}

// giveUp notes that there is no browser, and says so once. mu is held.
func (l *lazyBrowser) giveUp(err error) {
	l.never = err
	l.log.Warn("pages are not rendered", "why", err)
}

// Render implements render.Browser.
func (l *lazyBrowser) Render(ctx context.Context, req render.Request,
	serve func(context.Context, render.Sub) render.Answer) (render.Result, error) {
	b, err := l.open(ctx)
	if err != nil {
		return render.Result{}, err
	}
	res, err := b.Render(ctx, req, serve)
	if err == nil && res.Verdict == render.Crash && l.triesAgain(req.URL, res.Ended) {
		return render.Result{}, &restingError{fmt.Errorf("rendering %s: %s", req.URL, res.Detail), time.Second}
	}
	return res, l.kind(err)
}

// A page is given up when it has crashed so often. Pages seldom take the whole browser with them: where it ended, it
// was rather killed by somebody, or for want of memory.
const (
	mostCrashes = 4
	mostEnds    = 12
)

// triesAgain reports whether a page that crashed, or with which the browser ended, is rendered once more.
func (l *lazyBrowser) triesAgain(url string, ended bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.crashed == nil || len(l.crashed) > 10_000 {
		l.crashed = map[string]float64{}
	}
	if ended {
		l.crashed[url] += 1. / mostEnds
	} else {
		l.crashed[url] += 1. / mostCrashes
	}
	return l.crashed[url] < 0.99 // sums of fractions
}

// kind makes an error of the browser one that the stage knows.
func (l *lazyBrowser) kind(err error) error {
	var gone *browser.UnavailableError
	var rests *browser.RestingError
	switch {
	case errors.As(err, &gone) || errors.Is(err, browser.ErrNoBrowser):
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.never == nil {
			l.giveUp(err)
		}
		return fmt.Errorf("%w: %w", render.ErrUnavailable, err)
	case errors.As(err, &rests):
		return &restingError{err, time.Until(rests.Until)}
	}
	return err
}

// open starts the browser where it does not run.
func (l *lazyBrowser) open(ctx context.Context) (*browser.Chromium, error) {
	if err := l.Missing(); err != nil {
		return nil, fmt.Errorf("%w: %w", render.ErrUnavailable, err)
	}
	l.mu.Lock()
	switch {
	case l.opened != nil:
		defer l.mu.Unlock()
		return l.opened, nil
	case l.closed:
		defer l.mu.Unlock()
		return nil, errors.New("the browser is closed")
	case time.Now().Before(l.until):
		defer l.mu.Unlock()
		return nil, &restingError{l.failed, time.Until(l.until)}
	}
	b, err := browser.New(ctx, l.cfg) // others wait for it
	if err == nil {
		l.opened, l.pause = b, 0
	} else if ctx.Err() == nil {
		l.pause = min(max(2*l.pause, firstStart), longestStart)
		l.failed, l.until = err, time.Now().Add(l.pause)
	}
	l.mu.Unlock()
	if err == nil || ctx.Err() != nil {
		return b, err
	}
	if err = l.kind(err); !errors.Is(err, render.ErrUnavailable) {
		l.log.Warn("the browser could not be started; trying again", "error", err, "in", l.pause)
		err = &restingError{err, l.pause}
	}
	return nil, err
}

// Close implements render.Browser.
func (l *lazyBrowser) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}

// CheckBrowser says whether pages can be rendered here, without starting a browser: nil, or why not.
func CheckBrowser(path string) error {
	_, err := browser.Find(path)
	return err
}

// localRenders is the way to the renderer of the same process.
type localRenders struct {
	missing func() error
	held    func() int
	room    int
}

// Room implements contentseen.RenderQueue.
func (r localRenders) Room(context.Context) (refused string, full bool, err error) {
	if why := r.missing(); why != nil {
		return why.Error(), false, nil //nolint:nilerr // the reason is passed on as text
	}
	if n := r.held(); n >= r.room {
		return fmt.Sprintf("%d pages wait to be rendered", n), true, nil
	}
	return "", false, nil
}

// renderRoom is how many pages may wait to be rendered.
func renderRoom() int {
	t, _ := crawl.TopicNamed(crawl.TopicRender)
	return t.Room
}
