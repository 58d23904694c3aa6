package crawl

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Observed is what was found out about a page of a continuous job after its outcome: what its content tells, or what
// links tell. It travels as an Outcome without a verdict, whose task names the page and the visit.
type Observed struct {
	// What says which of the fields below count.
	What ObservedWhat `cbor:"1,keyasint"`
	// At, Result, Sum and Near are those of revisit.Observation.
	At     time.Time      `cbor:"2,keyasint,omitempty"`
	Result revisit.Result `cbor:"3,keyasint,omitempty"`
	Sum    uint64         `cbor:"4,keyasint,omitempty"`
	Near   bool           `cbor:"5,keyasint,omitempty"`
	// Copy says that the page is a copy of another one.
	Copy bool `cbor:"6,keyasint,omitempty"`
	// Told is what lists and links tell of pages, those of Outcome.Task's node.
	Told []PageTold `cbor:"7,keyasint,omitempty"`
	// Modified is the Last-Modified of the answer; zero: it had none. Date compares it with that of the visit before.
	Modified time.Time `cbor:"8,keyasint,omitempty"`
	Date     DateMove  `cbor:"9,keyasint,omitempty"`
	// Lists is how many pages a sitemap or feed names.
	Lists int `cbor:"10,keyasint,omitempty"`
}

// DateMove says whether the Last-Modified of a page moved between two visits.
type DateMove uint8

// What Last-Modified did.
const (
	DateUnknown DateMove = iota // one of the two answers had none
	DateStayed
	DateMoved
)

// PageTold is what was told of a page that is visited again.
type PageTold struct {
	URL weburl.URL `cbor:"1,keyasint"`
	// At is when it changed, as a sitemap or a feed says; zero: a link leads to it.
	At time.Time `cbor:"2,keyasint,omitempty"`
}

// ObservedWhat says what was observed.
type ObservedWhat uint8

// What is observed.
const (
	ObservedContent  ObservedWhat = iota + 1 // what the page says
	ObservedNewLinks                         // a link of the page leads to a URL that was not known
	ObservedTold                             // what lists and links tell of pages: Observed.Told
)

// Observation returns the event that tells the owner of a page what was observed at a visit.
func Observation(t *Task, o Observed) *Outcome {
	return &Outcome{Task: Task{Job: t.Job, URL: t.URL, Kind: t.Kind, Depth: t.Depth, Visit: t.Visit, Epoch: t.Epoch,
		Seed: t.Seed, Feed: t.Feed},
		Observed: &o}
}

// RecordMark is what the frontier tells content-seen to note in the record of a page, which no content came for.
type RecordMark struct {
	GoneAt      time.Time `cbor:"1,keyasint,omitempty"` // the page is gone for good
	WithdrawnAt time.Time `cbor:"2,keyasint,omitempty"` // the page may not be kept any more
	// MovedTo is where it leads for good; a pointer, as the codec writes a URL that is empty.
	MovedTo *weburl.URL `cbor:"3,keyasint,omitempty"`
}

// PageVisit names a visit of a page.
type PageVisit struct {
	URL   weburl.URL `cbor:"1,keyasint"`
	Kind  Kind       `cbor:"2,keyasint,omitempty"`
	Visit int        `cbor:"3,keyasint,omitempty"`
}
