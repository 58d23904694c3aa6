package crawl

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Record is one line of pages.jsonl, or one document of the content store. A copy has DuplicateOf set and has no text,
// fields or links, and nothing extracted.
type Record struct {
	Job         JobID // whose crawl it belongs to; files of one job need not name it
	URL         weburl.URL
	FinalURL    weburl.URL // where the content came from; redirects are URLs of their own, so it equals URL
	Canonical   string     // rel=canonical, absolute; empty: none
	Status      int
	FetchedAt   time.Time
	Depth       int
	Referrer    weburl.URL
	ContentType string // media type
	Charset     string
	Bytes       int64
	Digest      Digest
	Simhash     uint64
	Title       string
	Lang        string
	Text        string
	Links       []Link
	Assets      []string
	Fields      []Field
	DuplicateOf weburl.URL
	Similarity  string // "exact" or "near" for a copy
	Truncated   string
	Cut         []string
	Epoch       uint32 // of the job's revision by which it was made; 0 is the first
	Visit       int    // which of the visits of the URL it is of; 0 is the first
	Insecure    bool   // the server's certificate is not valid
	Extracted
	Plugged
	Judged
	// Rendered says what a render added; nil: the page was not rendered. Digest and Bytes stay those of the page as it
	// was fetched.
	Rendered *RenderedPart
	Aged
}

// Aged is what visits after the one that a record is of made of it. All of it is zero in a crawl that visits once.
type Aged struct {
	// GoneAt is when the page was found to be gone for good. The record stays.
	GoneAt time.Time
	// WithdrawnAt is when the page asked not to be kept any more. The record has no content since.
	WithdrawnAt time.Time
	// MovedTo is where the page leads for good by now (301, 308). The record stays; what is there has one of its own.
	MovedTo weburl.URL
	// Versions are earlier contents, the newest first, where the job keeps them (Revisiting.History).
	Versions []PageVersion
}

// PageVersion is what a page was at an earlier visit.
type PageVersion struct {
	Visit     int
	FetchedAt time.Time
	Digest    Digest
	Title     string
	Text      string
}

// Version returns what the record keeps of its page for later versions.
func (r *Record) Version() PageVersion {
	return PageVersion{Visit: r.Visit, FetchedAt: r.FetchedAt, Digest: r.Digest, Title: r.Title, Text: r.Text}
}

// Withdraw takes the content out of a record whose page asks not to be kept.
func (r *Record) Withdraw(at time.Time) {
	*r = Record{Job: r.Job, URL: r.URL, FinalURL: r.FinalURL, Status: r.Status, FetchedAt: r.FetchedAt, Depth: r.Depth,
		Referrer: r.Referrer, ContentType: r.ContentType, Epoch: r.Epoch, Visit: r.Visit, Aged: Aged{WithdrawnAt: at}}
}

// RenderedPart is what a record says of its page's render.
type RenderedPart struct {
	Digest  Digest // of the rendered HTML
	At      time.Time
	Wall    time.Duration
	CPU     time.Duration // of the browser
	Settled string
	Final   weburl.URL // where scripts led; zero: nowhere else
	Links   int        // URLs that the page as fetched had not
	Text    int        // octets of text that it had not
	// Screenshot is the file of the page\'s picture, below the directory of the crawl; empty: there is none.
	Screenshot string
}

// LogLine is one line of crawl.log.
type LogLine struct {
	Job         JobID // as in Record
	At          time.Time
	URL         weburl.URL
	Kind        Kind
	Verdict     Verdict
	Status      int
	Reason      string
	Detail      string
	Bytes       int64
	Duration    time.Duration
	FirstByte   time.Duration
	Attempt     int
	Depth       int
	ContentType string
	Digest      Digest
	Addr        netip.Addr
	Referrer    weburl.URL
	Location    weburl.URL
	Epoch       uint32    // of the job's revision by which it was decided; 0 is the first
	Visit       int       // which of the visits of the URL it is of; 0 is the first
	Priority    int       // by which it was queued; 0 means DefaultPriority
	Finds       int       // how often it had been found again when its priority rose for that
	HostLinks   int       // from other hosts to its host, where they count
	Relevance   Relevance // of the page that linked to it, in a topical job
}

// Exchange is one request and its answer, for the archive.
type Exchange struct {
	Job            JobID // whose crawl it belongs to
	URL            weburl.URL
	Started        time.Time
	Duration       time.Duration
	Addr           netip.Addr
	Method         string
	RequestHeader  http.Header
	Proto          string // of the answer: "HTTP/1.1", "HTTP/2.0"
	Status         string // "200 OK"
	ResponseHeader http.Header
	Body           []byte // decoded
	Truncated      string // reason of a cut body: "length", "time", "disconnect"; empty when whole
	Digest         Digest // of Body
	Referrer       weburl.URL
	Depth          int
	NotModified    bool // a 304 to a conditional request: a revisit record
	// ID names the response among all records, at random; zero: the archive chooses one.
	ID Capture
	// Refers is the ID of the response that Body was made from, as by a render: the archive keeps it as a conversion of
	// that (WARC 1.1, 6.7), of the type that ResponseHeader has. Zero: this is an exchange.
	Refers Capture
}

// Capture names an answer in an archive: 16 octets; empty: it is in none.
type Capture []byte
