package crawl

import (
	"fmt"
	"path"
	"regexp"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// TopicRender is the queue of pages that may gain by a browser.
const TopicRender = "render"

// TagResource is the tag of a link to what a page's scripts ask for: fetched for a render, no page.
const TagResource = "resource"

// RenderMode says which pages go through a browser besides.
type RenderMode string

// The modes.
const (
	RenderNever  RenderMode = "never"
	RenderAuto   RenderMode = "auto"   // where a test of a few says that it pays
	RenderAlways RenderMode = "always" // each page of HTML
)

// Rendering says which pages are rendered in a browser besides, and what a render may take.
type Rendering struct {
	// never, auto or always; empty: never
	Mode RenderMode `json:"mode,omitempty" yaml:"mode,omitempty"`
	// modes of some pages: the first that matches counts
	Rules []RenderRule `json:"rules,omitempty" yaml:"rules,omitempty"`
	// for one render
	Timeout Duration `json:"timeout,omitempty" yaml:"timeout,omitempty"`
	// that pass for the page's timers; they run as fast as the processor lets them
	Virtual Duration `json:"virtual,omitempty" yaml:"virtual,omitempty"`
	// scripts, API answers and frames that are fetched for one page
	Resources int `json:"resources,omitempty" yaml:"resources,omitempty"`
	// of the answers to one render
	Bytes Size `json:"bytes,omitempty" yaml:"bytes,omitempty"`
	// processor time that a new link is worth: a template that costs more is given up
	Worth Duration `json:"worth,omitempty" yaml:"worth,omitempty"`
	// keep a picture of each page that is rendered; style sheets, images and fonts are then fetched
	Screenshot bool `json:"screenshot,omitempty" yaml:"screenshot,omitempty"`
	// do not scroll to the end, as is done for lists that load as one reads
	NoScroll bool `json:"no_scroll,omitempty" yaml:"no_scroll,omitempty"`
}

// RenderRule is the mode of some pages.
type RenderRule struct {
	// host name, or a pattern such as *.example.org; empty: all
	Host string `json:"host,omitempty" yaml:"host,omitempty"`
	// regular expression that the URL's path and query must match; empty: all
	Match string `json:"match,omitempty" yaml:"match,omitempty"`
	// never, auto or always
	Mode RenderMode `json:"mode" yaml:"mode"`
}

// The defaults of Rendering, and its bounds.
const (
	DefaultRenderTimeout   = 8 * time.Second
	DefaultRenderVirtual   = 5 * time.Second
	DefaultRenderResources = 200
	DefaultRenderBytes     = 8 << 20
	DefaultRenderWorth     = 2 * time.Second
	MaxRenderTimeout       = 2 * time.Minute
	MaxRenderResources     = 1000
	// MaxRendered is the largest page, in octets, that is rendered.
	MaxRendered = 2 << 20
)

// Filled returns the settings with the defaults of those that are not set.
func (r Rendering) Filled() Rendering {
	if r.Mode == "" {
		r.Mode = RenderNever
	}
	if r.Timeout <= 0 {
		r.Timeout = Duration(DefaultRenderTimeout)
	}
	if r.Virtual <= 0 {
		r.Virtual = Duration(DefaultRenderVirtual)
	}
	if r.Resources <= 0 {
		r.Resources = DefaultRenderResources
	}
	if r.Bytes <= 0 {
		r.Bytes = DefaultRenderBytes
	}
	if r.Worth <= 0 {
		r.Worth = Duration(DefaultRenderWorth)
	}
	return r
}

// Wanted reports whether any page may be rendered.
func (r *Rendering) Wanted() bool {
	if r.Mode == RenderAuto || r.Mode == RenderAlways {
		return true
	}
	for i := range r.Rules {
		if r.Rules[i].Mode != RenderNever {
			return true
		}
	}
	return false
}

// Insists reports whether pages are to be rendered whatever that brings, so that a browser is needed.
func (r *Rendering) Insists() bool {
	if r.Mode == RenderAlways {
		return true
	}
	for i := range r.Rules {
		if r.Rules[i].Mode == RenderAlways {
			return true
		}
	}
	return false
}

func (m RenderMode) valid() bool { return m == RenderNever || m == RenderAuto || m == RenderAlways }

// check reports values that make no sense.
func (r *Rendering) check() (errs []error) {
	const modes = "want never, auto or always"
	if r.Mode != "" && !r.Mode.valid() {
		errs = append(errs, &KeyError{"render.mode", fmt.Sprintf("%q: %s", string(r.Mode), modes)})
	}
	for i := range r.Rules {
		at := fmt.Sprintf("render.rules[%d]", i)
		if m := r.Rules[i].Mode; !m.valid() {
			errs = append(errs, &KeyError{at + ".mode", fmt.Sprintf("%q: %s", string(m), modes)})
		}
		if _, err := regexp.Compile(r.Rules[i].Match); err != nil {
			errs = append(errs, &KeyError{at + ".match", fmt.Sprintf("%q: %v", r.Rules[i].Match, err)})
		}
		if _, err := path.Match(r.Rules[i].Host, "x"); err != nil {
			errs = append(errs, &KeyError{at + ".host",
				fmt.Sprintf("%q: want a host name, or a pattern such as *.example.org", r.Rules[i].Host)})
		}
	}
	return errs
}

// Render is a page that was fetched, parsed and stored, and may gain by a browser.
type Render struct {
	Page Page `cbor:"1,keyasint"` // as it was fetched; it carries no body
	// HTML is the page's body, compressed (DEFLATE), so that the event needs no spool: it may wait long.
	HTML []byte `cbor:"2,keyasint,omitempty"`
	// Template and Shape are the page's, as package marks names them.
	Template uint64 `cbor:"3,keyasint,omitempty"`
	Shape    string `cbor:"4,keyasint,omitempty"`
	Why      string `cbor:"5,keyasint,omitempty"` // one of the Why constants
	Before   Before `cbor:"6,keyasint"`
	Round    int    `cbor:"7,keyasint,omitempty"` // how often resources were missing and asked for
	// Wants are the resources that were asked for, by URL; Until is how long the render waits for them.
	Wants []string  `cbor:"8,keyasint,omitempty"`
	Until time.Time `cbor:"9,keyasint,omitempty"`
	// Charset is the encoding of HTML, as the parser found it; empty: a program of before sent it.
	Charset string `cbor:"10,keyasint,omitempty"`
}

// Why a page is rendered.
const (
	WhyAlways    = "always"    // by the job, or by people
	WhyCandidate = "candidate" // by its marks, if its template's test says so
	WhySample    = "sample"    // without marks, to find out whether those miss something
	WhyWeak      = "weak"      // by a script of its own alone: the first pages of a template are tried
)

// Before is what a page had as it was fetched.
type Before struct {
	Text  int      `cbor:"1,keyasint,omitempty"` // octets
	Links []uint64 `cbor:"2,keyasint,omitempty"` // hashes of the URLs of its links
}

// Candidate is what the parser saw of a page that may gain by a browser.
type Candidate struct {
	Score    int      `cbor:"1,keyasint,omitempty"`
	Marks    []string `cbor:"2,keyasint,omitempty"` // why: names of what was seen
	Template uint64   `cbor:"3,keyasint,omitempty"`
	Shape    string   `cbor:"4,keyasint,omitempty"`
}

// Rendered is what came of a page's render. The page that carries it has the rendered HTML as its body.
type Rendered struct {
	// of the rendered HTML
	Digest Digest        `cbor:"1,keyasint"`
	At     time.Time     `cbor:"2,keyasint"`
	Wall   time.Duration `cbor:"3,keyasint,omitempty"`
	// of the browser
	CPU time.Duration `cbor:"4,keyasint,omitempty"`
	// what told that the page had settled: virtual, frameless, idle or limit
	Settled string `cbor:"5,keyasint,omitempty"`
	// where scripts led, if elsewhere
	Final weburl.URL `cbor:"6,keyasint,omitempty"`
	// that the page made
	Requests int `cbor:"7,keyasint,omitempty"`
	// of them, those that no render makes: images, forms …
	Refused int `cbor:"8,keyasint,omitempty"`
	// of them, those that could not be had
	Missing  int    `cbor:"9,keyasint,omitempty"`
	Template uint64 `cbor:"10,keyasint,omitempty"`
	Shape    string `cbor:"11,keyasint,omitempty"`
	Why      string `cbor:"12,keyasint,omitempty"`
	Before   Before `cbor:"13,keyasint"`
	// the file of its picture, below the directory of the crawl
	Screenshot string `cbor:"140,keyasint,omitempty"`
	// that the document's own list has beside its HTML: of frames and shadow roots
	Links []string `cbor:"14,keyasint,omitempty"`
	// others that say nofollow, or that are in a frame which does
	Unfollowed []string `cbor:"15,keyasint,omitempty"`
}

// RenderMark travels with the links of a rendered page, so that the DUE can tell what was gained.
type RenderMark struct {
	Host     string `cbor:"1,keyasint"`
	Template uint64 `cbor:"2,keyasint"`
	By       uint64 `cbor:"3,keyasint"` // names the render: RenderKey
}

// RenderKey names the render of a page's visit among those of its template.
func RenderKey(t *Task) uint64 {
	id := t.ID()
	var n uint64
	for _, b := range id[:8] {
		n = n<<8 | uint64(b)
	}
	return n
}

// Topic implements Event.
func (*Render) Topic() string { return TopicRender }

// Key implements Event.
func (e *Render) Key() string { return e.Page.Key() }

// Subject implements Subjected.
func (e *Render) Subject() Subject { return e.Page.Subject() }

// Set implements the flag interface of the command line.
func (m *RenderMode) Set(s string) error {
	if !RenderMode(s).valid() {
		return fmt.Errorf("%q: want never, auto or always", s)
	}
	*m = RenderMode(s)
	return nil
}

// String implements the flag interface.
func (m *RenderMode) String() string { return string(*m) }

// Type implements the flag interface.
func (*RenderMode) Type() string { return "mode" }
