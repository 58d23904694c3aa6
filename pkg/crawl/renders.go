package crawl

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Resource is what a host answered to a request that a page's scripts need. Renders read it; no page record is made.
type Resource struct {
	URL    weburl.URL          `cbor:"-"`
	Status int                 `cbor:"1,keyasint,omitempty"` // of any class; 0 where Refused says why there is no answer
	Header map[string][]string `cbor:"2,keyasint,omitempty"` // what a browser heeds: Content-Type, Location, CORS, …
	Body   []byte              `cbor:"-"`
	Digest Digest              `cbor:"3,keyasint,omitempty"` // SHA-256 of Body
	At     time.Time           `cbor:"4,keyasint"`
	// Expires is when it is fetched again for the next render that asks for it.
	Expires time.Time `cbor:"5,keyasint"`
	// Refused is the reason why it was not or cannot be fetched: robots, scope, budget, dns …; empty: it was fetched.
	Refused string `cbor:"6,keyasint,omitempty"`
	// Took is how long the answer took, from the request to its last octet; 0: unknown.
	Took time.Duration `cbor:"7,keyasint,omitempty"`
}

// Resources keeps the resources that the renders of a job need, by URL, at most so many octets in all (oldest use
// first out). Nothing of it is needed to finish a crawl right: what is lost is fetched again.
type Resources interface {
	// Resource returns a resource that has not expired at now. Its use is noted, at most once in a minute.
	Resource(ctx context.Context, job JobID, u weburl.URL, now time.Time) (r Resource, found bool, err error)
	// PutResource stores a resource in the place of an earlier one of that URL, and ends the wants of that URL.
	PutResource(ctx context.Context, job JobID, r Resource) error
	// Want notes on behalf of message by that URLs are to be fetched, and answers for each in order: New where there
	// is neither a resource that holds nor a want younger than WantAgain, Repeat where this message's want stands,
	// Known otherwise. The answer is durable when Want returns.
	Want(ctx context.Context, job JobID, by MessageID, now time.Time, us []weburl.URL) ([]Claimed, error)
	// ForgetResources forgets all of a job.
	ForgetResources(ctx context.Context, job JobID) error
}

// WantAgain is after how long a resource that was wanted, and did not come, is wanted again: its task may be lost.
const WantAgain = 10 * time.Minute

// RenderTemplate is what is known of the renders of the pages of one template on a host. Package decide gives its
// fields their meaning; stores keep it as it is.
type RenderTemplate struct {
	Host     string `cbor:"1,keyasint" json:"host"`     // host key
	Template uint64 `cbor:"2,keyasint" json:"template"` // hash of Example's template; see package marks
	// Shape is the template for people: the path with its changing parts replaced.
	Shape   string `cbor:"3,keyasint,omitempty" json:"shape"`
	Example string `cbor:"4,keyasint,omitempty" json:"example"` // URL of the first page
	State   string `cbor:"5,keyasint,omitempty" json:"state"`   // sampling, keep or stop; empty: unknown
	// Switch is what people decided: always, never, or empty: the test decides.
	Switch  string    `cbor:"6,keyasint,omitempty" json:"switch,omitempty"`
	Since   time.Time `cbor:"7,keyasint,omitempty" json:"since,omitzero"` // of State
	Pages   int64     `cbor:"8,keyasint,omitempty" json:"pages"`          // candidates that were seen
	Sent    int64     `cbor:"9,keyasint,omitempty" json:"sent"`           // of them, those sent to be rendered
	Renders int64     `cbor:"10,keyasint,omitempty" json:"renders"`       // that ended, with or without gain
	Gained  int64     `cbor:"11,keyasint,omitempty" json:"gained"`        // renders with gain
	Failed  int64     `cbor:"12,keyasint,omitempty" json:"failed"`        // hang, crash, limit
	Links   int64     `cbor:"13,keyasint,omitempty" json:"links"`         // URLs claimed for the first time by a render
	Text    int64     `cbor:"14,keyasint,omitempty" json:"text"`          // octets of text gained
	CPU     int64     `cbor:"15,keyasint,omitempty" json:"cpu_ms"`        // ms of all renders
	Wall    int64     `cbor:"16,keyasint,omitempty" json:"wall_ms"`
	// Recent are the last samples, oldest first, so that a message that comes again is not counted again.
	Recent []RenderSample `cbor:"17,keyasint,omitempty" json:"-"`
	// Asked are the last pages that were to be rendered, so that the same page gets the same answer.
	Asked []RenderAsked `cbor:"18,keyasint,omitempty" json:"-"`
	// Doubt is the evidence against a template that is kept (CUSUM).
	Doubt float64 `cbor:"19,keyasint,omitempty" json:"-"`
	// Evidence is the log likelihood ratio of the sequential test.
	Evidence float64 `cbor:"20,keyasint,omitempty" json:"evidence"`
	// Tested is how many samples Evidence is of.
	Tested int `cbor:"21,keyasint,omitempty" json:"tested"`
}

// RenderSample is one render as the test counts it.
type RenderSample struct {
	By     uint64 `cbor:"1,keyasint"`           // hash of the page's key and visit
	Gained bool   `cbor:"2,keyasint,omitempty"` // new links or more text
	Failed bool   `cbor:"4,keyasint,omitempty"` // hang, crash, limit
}

// RenderAsked is a page that is rendered, or was.
type RenderAsked struct {
	By  uint64    `cbor:"1,keyasint"`
	Why string    `cbor:"2,keyasint,omitempty"` // one of the Why constants
	At  time.Time `cbor:"3,keyasint,omitempty"`
}

// RenderStats keeps what is known of the templates of a job.
type RenderStats interface {
	// Template returns what is stored of a template; found is false, and t has only its name, where nothing is.
	Template(ctx context.Context, job JobID, host string, template uint64) (t RenderTemplate, found bool, err error)
	// ChangeTemplate changes a template, or makes it, in one step that no other change comes between. change may be
	// called more than once, each time with what is stored. If it returns false nothing is stored. It returns what is
	// stored afterwards.
	ChangeTemplate(ctx context.Context, job JobID, host string, template uint64,
		change func(*RenderTemplate) bool) (RenderTemplate, error)
	// Templates returns all templates of a job, ordered by host and template.
	Templates(ctx context.Context, job JobID) ([]RenderTemplate, error)
	// ForgetTemplates forgets all of a job.
	ForgetTemplates(ctx context.Context, job JobID) error
}
