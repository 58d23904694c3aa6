// Package render says what a render is: what a browser gets, what it asks for, and what it gives back. The stage that
// renders pages knows only this; package browser drives a real one.
package render

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Browser renders pages. It has no network: whatever a page asks for is answered by serve, or fails.
type Browser interface {
	// Render loads a page and lets its scripts run. serve answers the requests of the page but for those that Policy
	// answers; it may be called by several goroutines at once, and not after Render has returned. Trouble of the page is
	// a Verdict; an error means that the browser itself could not be used.
	Render(ctx context.Context, req Request, serve func(context.Context, Sub) Answer) (Result, error)
	// Close ends the browser and waits until its processes are gone.
	Close() error
}

// ErrUnavailable says that no browser can be used here, now and later.
var ErrUnavailable = errors.New("no browser can be used")

// Request is a page to be rendered, as it was fetched.
type Request struct {
	URL        string
	Status     int
	Header     http.Header // of the answer
	Body       []byte
	UserAgent  string // that scripts see; empty: the browser's own
	Limits     Limits
	Screenshot bool   // make a picture; style sheets, images and fonts are then asked for
	Scroll     bool   // scroll to the end
	Nofollow   bool   // links that say nofollow are among Result.Links
	Agent      string // by which robots meta elements and headers call the crawler, beside robots
	Seed       bool   // random numbers are seeded by the URL: two renders give the same
	// Now is what scripts take for the time at their start, where Seed is set; zero: the time of the render.
	Now time.Time
	// Languages are those that scripts see, as in Accept-Language; empty: en-US. Numbers and dates are in the first.
	Languages string
}

// Limits bound a render. The zero value of a field is its default.
type Limits struct {
	// Wall is the time after which the page is taken as it is; a quarter more is there for that. Time for which the
	// machine lets the browser wait does not count, up to three times as much. 0: 8 s
	Wall    time.Duration
	Virtual time.Duration // that passes for the page's timers; 0: 5 s
	// CPU is the time of the process that renders the page after which it is taken as it is; half as much is there for
	// that. 0: 3 s
	CPU      time.Duration
	Requests int   // that the page may make and are not refused; 0: 500. Four times as many may be refused.
	Bytes    int64 // of the answers; 0: 8 MiB
	HTML     int   // octets of the result; 0: 10 MiB
}

// Filled returns the limits with their defaults.
func (l Limits) Filled() Limits {
	or := func(d, otherwise time.Duration) time.Duration {
		if d == 0 {
			return otherwise
		}
		return d
	}
	l.Wall, l.Virtual, l.CPU = or(l.Wall, 8*time.Second), or(l.Virtual, 5*time.Second), or(l.CPU, 3*time.Second)
	if l.Requests == 0 {
		l.Requests = 500
	}
	if l.Bytes == 0 {
		l.Bytes = 8 << 20
	}
	if l.HTML == 0 {
		l.HTML = 10 << 20
	}
	return l
}

// Sub is a request that a page makes.
type Sub struct {
	URL      string
	Method   string
	Type     string // as the Chrome DevTools Protocol names resource types: Script, XHR, Fetch, Document, …
	Referrer string
	// Header are fields that the page's script has set, without those that a browser or the fetcher sets.
	Header map[string]string
}

// Answer is what a page's request gets.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Fail is the reason why it fails instead, as the protocol's Network.ErrorReason names it; empty: it does not.
	Fail string
	// Stop ends the render: without this answer it makes no sense.
	Stop bool
}

// The ends of a render.
const (
	Done  = "done"  // the page has settled
	Hang  = "hang"  // it ran into Limits.Wall or Limits.CPU, and could not be read
	Crash = "crash" // the process that rendered it died
	Limit = "limit" // it ran into another limit
	Stop  = "stop"  // an Answer asked for that
)

// Result is what came of a render.
type Result struct {
	Verdict string
	Ended   bool   // with Crash: not the page's process alone died, but the browser
	Detail  string // for people; empty where Verdict is Done
	HTML    []byte // UTF-8, with open shadow roots; empty unless Verdict is Done or Limit
	Cut     bool   // HTML was larger than Limits.HTML
	// absolute URLs of the links in the document, its open shadow roots, and its frames of the same site
	Links []string
	// Unfollowed are others that say nofollow, or that are in a frame which does; none with Request.Nofollow
	Unfollowed []string
	Final      string // the document's URL in the end: scripts may change it
	// Settled says what told that the page has settled: virtual (its own time has passed), frameless (so it has, but the
	// browser drew no frame in time, and what waits for one is missing), idle (it did nothing more), or limit
	Settled    string
	Wall, CPU  time.Duration
	Requests   int      // that the page made
	Refused    int      // of them, those that Policy refused
	Failed     int      // of them, those that failed by their Answer
	Navigated  []string // URLs that the page wanted to go to instead
	Screenshot []byte   // WebP
}
