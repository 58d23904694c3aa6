// Package trial is the answer of a dry run: what each step of the pipeline made of one URL.
package trial

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ErrBusy says that as many dry runs are under way as may be at once.
var ErrBusy = errors.New("as many dry runs as may be are under way: try again in a moment")

// Trial is what became of one URL, in the order of its story. A part that was not come to is nil.
type Trial struct {
	Given   string     `json:"given"`
	URL     weburl.URL `json:"url"` // canonical
	Rules   Rules      `json:"rules"`
	Robots  *Robots    `json:"robots,omitempty"`
	Fetch   *Fetch     `json:"fetch,omitempty"`
	Parse   *Parse     `json:"parse,omitempty"`
	Sites   []Site     `json:"site_rules,omitempty"`
	Content *Content   `json:"content,omitempty"`
	Links   []Link     `json:"links,omitempty"`
	// Record is the line of pages.jsonl that would be stored; none: there would be none.
	Record json.RawMessage `json:"record,omitempty"`
	// Steps are all steps in their order, the nodes of plug-ins among them.
	Steps []Step `json:"steps"`
	// Kept is why the page would have no record; empty: it would have one.
	Kept string `json:"not_kept,omitempty"`
	Why  string `json:"not_kept_why,omitempty"` // the same for people; empty: Kept says it all
	// Stopped is what ended it before its time: a node of a plug-in, and why; empty: nothing did.
	Stopped string `json:"stopped,omitempty"`
	// Notes are what people should know of the trial besides.
	Notes []string `json:"notes,omitempty"`
	// Answer is all of it in a sentence.
	Answer string  `json:"answer"`
	Took   Seconds `json:"took_seconds"`

	body   []byte
	source []byte
}

// Body is the page's body as it was decoded; nil: there was none.
func (t *Trial) Body() []byte { return t.body }

// Source is the body in UTF-8, of a page that has fields; nil: there was none.
func (t *Trial) Source() []byte { return t.source }

// SetSource sets what Source returns.
func (t *Trial) SetSource(b []byte) { t.source = b }

// SetBody sets what Body returns.
func (t *Trial) SetBody(b []byte) { t.body = b }

// Seconds is a duration that JSON writes as a number of seconds.
type Seconds float64

// InSeconds is a duration as JSON has it.
func InSeconds(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// D returns s as a duration.
func (s Seconds) D() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// Rules is what the job's own rules say of the URL.
type Rules struct {
	Allowed bool    `json:"allowed"`
	Seed    bool    `json:"seed,omitempty"` // rules do not bind seeds
	Reason  string  `json:"reason,omitempty"`
	Rule    string  `json:"rule,omitempty"` // as the user wrote it
	Depth   int     `json:"depth"`
	Took    Seconds `json:"took_seconds"`
}

// Robots is what robots.txt says of the URL.
type Robots struct {
	URL        string  `json:"url"`
	Known      bool    `json:"known,omitempty"`   // the crawler has it already: it was not asked for
	Ignored    bool    `json:"ignored,omitempty"` // the job ignores robots.txt
	Status     int     `json:"status,omitempty"`
	Bytes      int64   `json:"bytes,omitempty"`
	Agent      string  `json:"agent,omitempty"` // the name that was looked for
	Allowed    bool    `json:"allowed"`
	Rule       string  `json:"rule,omitempty"` // that decided; empty: none matches
	Line       int     `json:"line,omitempty"`
	CrawlDelay Seconds `json:"crawl_delay_seconds,omitempty"`
	Detail     string  `json:"detail,omitempty"` // what went wrong
	Requests   int     `json:"requests"`
	Took       Seconds `json:"took_seconds"`
}

// Fetch is the request and its answer.
type Fetch struct {
	Verdict     string     `json:"verdict"`
	Status      int        `json:"status,omitempty"`
	Reason      string     `json:"reason,omitempty"`
	Detail      string     `json:"detail,omitempty"`
	Addr        string     `json:"address,omitempty"`
	ContentType string     `json:"content_type,omitempty"`
	Bytes       int64      `json:"bytes,omitempty"` // decoded
	Digest      string     `json:"digest,omitempty"`
	Truncated   string     `json:"truncated,omitempty"`
	Location    weburl.URL `json:"location,omitzero"`
	Waited      Seconds    `json:"waited_seconds,omitempty"` // for politeness, after the robots.txt
	FirstByte   Seconds    `json:"first_byte_seconds,omitempty"`
	Took        Seconds    `json:"took_seconds"`
}

// Parse is what the parser made of the body.
type Parse struct {
	Title       string        `json:"title"`
	Lang        string        `json:"lang,omitempty"`
	Charset     string        `json:"charset,omitempty"`
	ContentType string        `json:"content_type"`
	Canonical   string        `json:"canonical,omitempty"`
	Text        string        `json:"text"`
	Fields      []crawl.Field `json:"fields,omitempty"`
	Links       int           `json:"links"`
	Assets      int           `json:"assets"`
	NoIndex     bool          `json:"noindex,omitempty"`
	NoFollow    bool          `json:"nofollow,omitempty"`
	Cut         []string      `json:"cut,omitempty"`
	Took        Seconds       `json:"took_seconds"`
}

// Site is one of the job's site rules.
type Site struct {
	Name    string   `json:"name"`
	Matches bool     `json:"matches"`           // it is for the URL
	Missing []string `json:"missing,omitempty"` // fields that it would give and that found nothing
	Found   []Found  `json:"found,omitempty"`   // what its selectors match
}

// Found is what the selector of a field matches.
type Found struct {
	Field   string `json:"field"`
	Matches int    `json:"matches"`
	Values  []any  `json:"values,omitempty"` // the first ones
	Path    string `json:"path,omitempty"`   // of the element of the first, such as html > body > h1
}

// Content is what content-seen knows the page by.
type Content struct {
	Simhash string `json:"simhash"`
	Words   int    `json:"features"`
	// Judged says whether it was compared with what a crawl has stored. CopyOf is what the page would be a copy of:
	// exact or near, as Similarity says.
	Judged     bool       `json:"judged"`
	CopyOf     weburl.URL `json:"copy_of,omitzero"`
	Similarity string     `json:"similarity,omitempty"`
	Distance   int        `json:"distance,omitempty"` // of the simhashes, of a near copy
	Took       Seconds    `json:"took_seconds"`
}

// Link is a link of the page, with what the URL filter made of it.
type Link struct {
	URL      weburl.URL `json:"url"`
	Followed bool       `json:"followed"`
	Reason   string     `json:"reason,omitempty"` // why it is left out
	Rule     string     `json:"rule,omitempty"`   // as the user wrote it
	Kind     string     `json:"kind"`
	Depth    int        `json:"depth"`
	Priority int        `json:"priority,omitempty"`
	Text     string     `json:"text,omitempty"`
	State    string     `json:"state,omitempty"` // new, or what the execution knows of it already
}
