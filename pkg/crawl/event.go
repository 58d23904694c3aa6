package crawl

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Event is what travels on the bus. Events are pointers. An event must not be changed after it is published.
type Event interface {
	// Topic names the queue that the event goes to.
	Topic() string
	// Key orders or shards events of one topic: mostly the host key.
	Key() string
}

// Subject is what an event is about, for people.
type Subject struct {
	Job  JobID
	URL  weburl.URL // zero where it is about several
	URLs int        // how many
}

// Subjected is implemented by events that are about URLs of a job.
type Subjected interface {
	Subject() Subject
}

// The topics, in the order of a URL's story.
const (
	TopicFetch        = "fetch"
	TopicParse        = "parse"
	TopicContentSeen  = "contentseen"
	TopicURLFilter    = "urlfilter"
	TopicHostSplitter = "hostsplit"
	TopicDUE          = "due"
	TopicFrontierIn   = "frontier.in"
	TopicOutcome      = "frontier.outcome"
)

// Fetch leases a task to the fetchers.
type Fetch struct {
	Task Task `cbor:"1,keyasint"`
	// Addr is the address that the frontier's politeness reckoned with; invalid where it knows none.
	Addr netip.Addr `cbor:"2,keyasint,omitempty"`
	// Tenure is the registration in the ring under which it was leased; 0: there is no ring. A fetcher makes no request
	// under another.
	Tenure uint64 `cbor:"3,keyasint,omitempty"`
	// FirstWait bounds the time to connect, and then the time until the answer begins. The frontier sets it for hosts
	// of which it knows little or nothing. The whole fetch may take three times as long. 0: only the job's limits
	// count.
	FirstWait time.Duration `cbor:"4,keyasint,omitempty"`
	// Bandwidth is how many bytes of bodies a second may come for the job at this node, over all its fetches; 0: no
	// bound.
	Bandwidth int64 `cbor:"45,keyasint,omitempty"`
}

// Page is an answer with status 2xx whose body lies in the body spool.
type Page struct {
	Task        Task      `cbor:"1,keyasint"`
	Status      int       `cbor:"2,keyasint"`
	FetchedAt   time.Time `cbor:"3,keyasint"`
	ContentType string    `cbor:"4,keyasint,omitempty"` // the Content-Type header, or what was sniffed
	Body        BodyRef   `cbor:"5,keyasint"`
	Bytes       int64     `cbor:"6,keyasint"`           // of the decoded body
	Digest      Digest    `cbor:"7,keyasint"`           // SHA-256 of the decoded body
	Truncated   string    `cbor:"8,keyasint,omitempty"` // why the body was cut; empty when whole
	// LinkHeaders and RobotsTags are the values of the Link and X-Robots-Tag headers.
	LinkHeaders []string `cbor:"9,keyasint,omitempty"`
	RobotsTags  []string `cbor:"10,keyasint,omitempty"`
	// Refresh is the value of the Refresh header: browsers treat it as a meta element.
	Refresh string `cbor:"15,keyasint,omitempty"`
	// Insecure is as in Outcome.
	Insecure bool `cbor:"45,keyasint,omitempty"`
	Plugged
	// Rendered says what a render made of the page; nil: this is the page as it was fetched.
	Rendered *Rendered `cbor:"90,keyasint,omitempty"`
	// LastModified is that header, in a continuous job; empty: there is none that can be kept.
	LastModified string `cbor:"75,keyasint,omitempty"`
	// Capture names the answer in the archive; empty: it is in none.
	Capture Capture `cbor:"140,keyasint,omitempty"`
}

// Document is a parsed page.
type Document struct {
	Page        Page     `cbor:"1,keyasint"`
	Title       string   `cbor:"2,keyasint,omitempty"`
	Text        string   `cbor:"3,keyasint,omitempty"` // main text, UTF-8
	Lang        string   `cbor:"4,keyasint,omitempty"` // BCP 47, lower case
	Charset     string   `cbor:"5,keyasint,omitempty"`
	ContentType string   `cbor:"6,keyasint,omitempty"` // media type without parameters
	Canonical   string   `cbor:"7,keyasint,omitempty"` // rel=canonical, absolute
	Fields      []Field  `cbor:"8,keyasint,omitempty"`
	Links       LinkList `cbor:"9,keyasint,omitempty"`
	NoIndex     bool     `cbor:"10,keyasint,omitempty"` // meta robots or X-Robots-Tag: do not store
	NoFollow    bool     `cbor:"11,keyasint,omitempty"` // meta robots or X-Robots-Tag: follow no link
	Cut         []string `cbor:"12,keyasint,omitempty"` // limits that were passed: "text", "links", "depth" …
	Assets      []string `cbor:"13,keyasint,omitempty"` // srcset and the like: recorded, not followed
	// Requisites are the links to what the page is made of, where the job fetches that (Job.Assets).
	Requisites LinkList `cbor:"65,keyasint,omitempty"`
	Extracted
	// Unkept says why the page has no record, and Why says it for people; empty: nothing speaks against one.
	Unkept string `cbor:"70,keyasint,omitempty"`
	Why    string `cbor:"71,keyasint,omitempty"`
	// Mark is set in events that bring no content, but say what is to be noted in the page's record; nil: it is a page.
	Mark *RecordMark `cbor:"72,keyasint,omitempty"`
	// Candidate says how a page may gain by a browser; nil: it is not to be rendered.
	Candidate *Candidate `cbor:"91,keyasint,omitempty"`
	Beyond
	Judged
}

// Field is a value that a site rule extracted: a string, float64, bool or a list of them; or what a policy selected: a
// list of map[string]any with such values.
type Field struct {
	Name  string `cbor:"1,keyasint" json:"name"`
	Value any    `cbor:"2,keyasint" json:"value"`
}

// Link is one link of a page.
type Link struct {
	URL    weburl.URL // resolved against the page's base; zero when it is no http(s) URL
	Raw    string     // as it was in the page, when URL is zero
	Rel    string
	Text   string // the link's text, white space folded, at most 200 bytes
	Tag    string // a, area, link, frame, iframe, meta, header, or one of the tags below
	Weight int    // 1 to 9 by a site rule or a plug-in; 0: none applied
	// Drop says that a plug-in dropped the link: the node and, after a blank, its reason. Empty: none did.
	Drop string
	// Fields are those that a page's script sets in its request for the link, one a line (NAME: VALUE); with TagResource.
	Fields string
	// Promise is how likely what the link leads to is about the topic, as far as its text says, where that is more than
	// the page says; 0: it is not, or there is no topic.
	Promise Relevance
	// Told is when a sitemap or a feed says that what the link leads to changed last, in a continuous job;
	// zero: it does not.
	Told time.Time
	// Beyond is how many links of the page are too many, where this is one of them; 0: it is not.
	Beyond int
}

// Tags of links that are more than a page's link to another page.
const (
	TagRedirect     = "redirect"      // the target of a redirect
	TagSitemap      = "sitemap"       // a page that a sitemap lists
	TagSitemapIndex = "sitemap-index" // a sitemap, named by robots.txt or by a sitemap index
	TagFeed         = "feed"          // an entry of an RSS or Atom feed
	TagFeedSource   = "feed-source"   // a feed that a page names: a source of links, no page
	TagAsset        = "asset"         // a requisite of a page or style sheet: an image, a script, a font …
	TagPlugin       = "plugin"        // a plug-in added it
)

// NoFollow reports whether the link asks not to be followed.
func (l *Link) NoFollow() bool { return hasToken(l.Rel, "nofollow") }

func hasToken(list, token string) bool {
	for f := range strings.FieldsSeq(list) {
		if strings.EqualFold(f, token) {
			return true
		}
	}
	return false
}

// Links are the links of a stored page on their way to the URL filter.
type Links struct {
	Task  Task     `cbor:"1,keyasint"` // the page's
	Links LinkList `cbor:"2,keyasint"`
	// Render says that they are those of a rendered page; nil: they are not.
	Render *RenderMark `cbor:"91,keyasint,omitempty"`
	// Relevance is the page's, in a topical job.
	Relevance Relevance `cbor:"120,keyasint,omitempty"`
}

// Judged is what models say of a page.
type Judged struct {
	Relevance Relevance `cbor:"120,keyasint,omitempty"` // of a topical job
	Classes   []string  `cbor:"121,keyasint,omitempty"` // those that are as likely as not, the likeliest first
}

// Batch is what the URL filter made of a page's links.
type Batch struct {
	Job        JobID         `cbor:"1,keyasint"`
	Tasks      TaskList      `cbor:"2,keyasint,omitempty"` // candidates, canonical, each URL once
	Exclusions ExclusionList `cbor:"3,keyasint,omitempty"` // links that were left out, each URL once
	// Page is the tracked page whose links they are; zero: none waits for them.
	Page weburl.URL `cbor:"4,keyasint,omitempty"`
	// Foreign are links with other schemes than http and https, each once. They are excluded like the Exclusions. They
	// are a list of their own because earlier versions cannot read their URLs. They have no host, so the owner of their
	// page's host gets them.
	Foreign ExclusionList `cbor:"15,keyasint,omitempty"`
	// Again says that the tracked page may have been fetched before, and that its links may have been lost on any part
	// of their way.
	Again bool `cbor:"6,keyasint,omitempty"`
	// Epoch is the revision of the job by which the links were judged; 0 is the first.
	Epoch uint32 `cbor:"7,keyasint,omitempty"`
	// Render is as in Links.
	Render *RenderMark `cbor:"91,keyasint,omitempty"`
	// Of is the visit that the links are of, in a continuous job; nil: nobody asks whether they are new.
	Of *PageVisit `cbor:"8,keyasint,omitempty"`
}

// Exclusion is a URL that is not to be fetched.
type Exclusion struct {
	URL      weburl.URL
	Reason   string // a short token: scope, exclude, robots, depth, trap-… ; see Reason constants
	Referrer weburl.URL
	Depth    int
	// Rule is the rule that excluded the URL, as the user wrote it: a pattern, "max_depth 3", a line of the blacklist.
	// It is empty if the reason says it all.
	Rule string
	// Epoch is the revision of the job that the rule is in; 0 is the first.
	Epoch uint32
	// What the task would have been, so that a later revision of the job can let it in: as in Task.
	Kind      Kind
	Priority  int
	Redirects int
	Feed      bool
	Relevance Relevance
	// more are fields of a newer version, as they came.
	more string
}

// Exclude returns the exclusion of a task.
func Exclude(t *Task, reason, rule string) Exclusion {
	return Exclusion{URL: t.URL, Reason: reason, Referrer: t.Referrer, Depth: t.Depth, Rule: rule, Epoch: t.Epoch,
		Kind: t.Kind, Priority: t.Priority, Redirects: t.Redirects, Feed: t.Feed, Relevance: t.Relevance}
}

// LeftOut returns what a store keeps of an exclusion.
func (x *Exclusion) LeftOut(job JobID) LeftOut {
	return LeftOut{Reason: x.Reason, Rule: x.Rule,
		Task: Task{Job: job, URL: x.URL, Referrer: x.Referrer, Depth: x.Depth, Epoch: x.Epoch,
			Kind: x.Kind, Priority: x.Priority, Redirects: x.Redirects, Feed: x.Feed, Relevance: x.Relevance}}
}

// plain reports whether the exclusion is that of a page of default priority, as nearly all are.
func (x *Exclusion) plain() bool {
	return x.Kind == KindPage && (x.Priority == 0 || x.Priority == DefaultPriority) && x.Redirects == 0 && !x.Feed
}

// Filtered is what the URL filter made of the links of a page, on its way to the host splitter.
type Filtered struct{ Batch }

// Claim is a batch on its way to the DUE of the node that owns its hosts.
type Claim struct {
	Batch
	// Node is the node it goes to; empty: this one. It addresses the message and is no part of it.
	Node string `cbor:"-"`
	// Share says which part of the links of Page it is; nil where none is tracked.
	Share *Share `cbor:"5,keyasint,omitempty"`
}

// Share is the part of a page's links that goes to one node. If a page is split again by a newer ring table, its shares
// change; the shares of the newest epoch count.
type Share struct {
	Epoch uint64 `cbor:"1,keyasint"` // of the table that the splitter used
	Index int    `cbor:"2,keyasint"` // 0 to Of-1
	Of    int    `cbor:"3,keyasint"`
}

// maxShares is more than a page has links.
const maxShares = 1 << 20

// Validate reports a share that there cannot be; its error is permanent.
func (s Share) Validate() error {
	if s.Index < 0 || s.Index >= s.Of || s.Of > maxShares || s.Epoch > math.MaxInt64 {
		return Permanent(fmt.Errorf("share %d of %d at epoch %d of the ring: there is no such share", s.Index, s.Of, s.Epoch))
	}
	return nil
}

// Fresh are tasks whose URLs were claimed for the first time.
type Fresh struct {
	Tasks TaskList `cbor:"1,keyasint"`
	// Node is the node whose frontier they go to; empty: this one's. It addresses the message and is no part of it.
	Node string `cbor:"-"`
}

// Addressed is implemented by events that may go to another node's broker.
type Addressed interface {
	Event
	// Destination names the node; empty: this one.
	Destination() string
}

// Doubted is implemented by events whose work may have been begun before, whatever their delivery says.
type Doubted interface {
	Event
	// Doubted reports whether it may.
	Doubted() bool
}

// Doubted implements Doubted: the URL was leased before, and what became of that is not known.
func (e *Fetch) Doubted() bool { return e.Task.Repeat }

// Destination implements Addressed.
func (e *Claim) Destination() string { return e.Node }

// Destination implements Addressed.
func (e *Fresh) Destination() string { return e.Node }

// Topic implements Event.
func (*Fetch) Topic() string { return TopicFetch }

// Key implements Event.
func (e *Fetch) Key() string { return e.Task.URL.HostKey() }

// Subject implements Subjected.
func (e *Fetch) Subject() Subject { return e.Task.subject() }

// Topic implements Event.
func (*Page) Topic() string { return TopicParse }

// Key implements Event.
func (e *Page) Key() string { return e.Task.URL.HostKey() }

// Subject implements Subjected.
func (e *Page) Subject() Subject { return e.Task.subject() }

// Topic implements Event.
func (*Document) Topic() string { return TopicContentSeen }

// Key implements Event.
func (e *Document) Key() string { return e.Page.Key() }

// Subject implements Subjected.
func (e *Document) Subject() Subject { return e.Page.Subject() }

// Topic implements Event.
func (*Links) Topic() string { return TopicURLFilter }

// Key implements Event.
func (e *Links) Key() string { return e.Task.URL.HostKey() }

// Subject implements Subjected: the page whose links they are.
func (e *Links) Subject() Subject { return e.Task.subject() }

// Topic implements Event.
func (*Filtered) Topic() string { return TopicHostSplitter }

// Topic implements Event.
func (*Claim) Topic() string { return TopicDUE }

// Key implements Event: the host of the first candidate.
func (b *Batch) Key() string {
	switch {
	case len(b.Tasks) > 0:
		return b.Tasks[0].URL.HostKey()
	case len(b.Exclusions) > 0:
		return b.Exclusions[0].URL.HostKey()
	case len(b.Foreign) > 0:
		return b.Foreign[0].Referrer.HostKey()
	}
	return ""
}

// Subject implements Subjected.
func (b *Batch) Subject() Subject {
	s := Subject{Job: b.Job, URLs: len(b.Tasks) + len(b.Exclusions) + len(b.Foreign)}
	switch {
	case s.URLs != 1:
	case len(b.Tasks) == 1:
		s.URL = b.Tasks[0].URL
	case len(b.Exclusions) == 1:
		s.URL = b.Exclusions[0].URL
	default:
		s.URL = b.Foreign[0].URL
	}
	return s
}

// Topic implements Event.
func (*Fresh) Topic() string { return TopicFrontierIn }

// Key implements Event.
func (e *Fresh) Key() string {
	if len(e.Tasks) == 0 {
		return ""
	}
	return e.Tasks[0].URL.HostKey()
}

// Subject implements Subjected. The job is the first task's.
func (e *Fresh) Subject() Subject {
	var s Subject
	if len(e.Tasks) > 0 {
		s = e.Tasks[0].subject()
	}
	if s.URLs = len(e.Tasks); s.URLs != 1 {
		s.URL = weburl.URL{}
	}
	return s
}
