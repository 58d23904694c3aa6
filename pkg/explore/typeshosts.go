package explore

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Host is a host of an execution.
type Host struct {
	Key      string `json:"key"`
	Queued   int64  `json:"queued"`
	InFlight int    `json:"in_flight"`
	// somebody holds it
	Held bool `json:"held,omitempty"`
	// when it may be asked next
	Next time.Time `json:"next,omitzero"`
	// why it waits until then: delay, crawl-delay, retry-after, backoff, robots, address, held, window, idle
	Why string `json:"why,omitempty"`
	// the same for people
	Text string `json:"text,omitempty"`
	// of Why
	Until time.Time `json:"until,omitzero"`
	// its present rest
	Backoff float64 `json:"backoff_s,omitzero"`
	// ignored, unknown, rules, none or unavailable
	Robots string `json:"robots,omitempty"`
	//
	Address  string `json:"address,omitempty"`
	Requests int64  `json:"requests"`
	// hits: answered with 2xx, and not refused, as for their type
	Pages int64   `json:"pages"`
	Bytes int64   `json:"bytes"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	// answers by class: 2xx, 3xx, 4xx, 5xx, none
	Classes map[string]int64 `json:"classes"`
	// requests that brought no answer
	Failures int64 `json:"failures"`
	// URLs
	Failed int64 `json:"failed"`
	// URLs
	Excluded int64 `json:"excluded"`
	// of its deepest URL
	Depth int `json:"depth"`
	// request
	Last time.Time `json:"last,omitzero"`
}

// HostFilter picks and sorts hosts.
type HostFilter struct {
	Query string // part of the key
	Why   string
	// key, queued, in_flight, next, requests, pages, bytes, p50, p95, failures, failed, excluded, last; with - before it:
	// falling
	Sort string
}

// HostStory is a host with its last requests.
type HostStory struct {
	Host
	Line  []Request `json:"line"` // the oldest first, about 300
	Index *Index    `json:"index"`
}

// Request is one request to a host, for the picture of its pace.
type Request struct {
	Start   time.Time `json:"start"`
	MS      float64   `json:"ms"`
	FirstMS float64   `json:"first_byte_ms,omitempty"`
	Class   string    `json:"class"` // 2xx, 3xx, 4xx, 5xx or none
	Status  int       `json:"status,omitempty"`
	Verdict string    `json:"verdict"`
	Reason  string    `json:"reason,omitempty"`
	Kind    string    `json:"kind"`
	URL     string    `json:"url"`
	// GapMS is the rest before it, and Gap says why it was that long: first, delay, crawl-delay, adaptive, backoff,
	// retry-after, idle (there was nothing to ask for, or others had their turn).
	GapMS float64 `json:"gap_ms,omitempty"`
	Gap   string  `json:"gap,omitempty"`
}

// Whirl is the shape of an execution: rings are depths, sectors are hosts. Files that were asked for beside the pages,
// robots.txt and sitemaps, are not in it.
type Whirl struct {
	Depths  int      `json:"depths"`  // rings; the last holds all that lies deeper
	Sectors []Sector `json:"sectors"` // the largest hosts first; the last one may stand for all others
	Cells   []Cell   `json:"cells"`
	// Queued says of how many queued URLs the figures are, and QueuedAll how many there are.
	Queued    int64  `json:"queued"`
	QueuedAll int64  `json:"queued_all"`
	Index     *Index `json:"index"`
}

// Sector is a host of the whirl, or many small ones.
type Sector struct {
	Host   string `json:"host,omitempty"` // empty: those that are folded
	Hosts  int    `json:"hosts"`          // 1, or how many are folded
	Done   int64  `json:"done"`
	Queued int64  `json:"queued"`
}

// Cell is what a sector has in a ring. Cells that are empty are left out.
type Cell struct {
	Sector   int   `json:"s"`
	Depth    int   `json:"d"`
	Done     int64 `json:"done,omitempty"`
	Failed   int64 `json:"failed,omitempty"`
	Queued   int64 `json:"queued,omitempty"`
	Excluded int64 `json:"excluded,omitempty"`
}

// Sample is a moment of an execution.
type Sample struct {
	At       time.Time `json:"at"`
	Pages    int64     `json:"pages"` // so far, as all counters here
	Bytes    int64     `json:"bytes"`
	Known    int64     `json:"known"`
	Done     int64     `json:"done"`
	Queued   int64     `json:"queued"`
	InFlight int64     `json:"in_flight"`
	Waiting  int64     `json:"waiting_hosts"`
	Class2   int64     `json:"c2xx"`
	Class3   int64     `json:"c3xx"`
	Class4   int64     `json:"c4xx"`
	Class5   int64     `json:"c5xx"`
	None     int64     `json:"none"` // requests without an answer
}

// SampleOf is what the ledger counts of a job at a moment: of bytes, queues and hosts it knows nothing.
func SampleOf(tally crawl.Tally, at time.Time) Sample {
	s := Sample{At: at.UTC(), Pages: tally.Pages, Known: tally.Claimed}
	for _, n := range tally.Verdicts {
		s.Done += n
	}
	for status, n := range tally.Statuses {
		switch status / 100 {
		case 2:
			s.Class2 += n
		case 3:
			s.Class3 += n
		case 4:
			s.Class4 += n
		case 5:
			s.Class5 += n
		default:
			s.None += n
		}
	}
	return s
}

// Series are the samples of an execution in columns, oldest first. PagesS and the like are a second. Where nothing was
// sampled there is no row: Gaps holds the indexes of rows before which some are missing.
type Series struct {
	StepS    int       `json:"step_s"`
	At       []int64   `json:"at"` // seconds since 1970
	PagesS   []float64 `json:"pages_s"`
	BytesS   []float64 `json:"bytes_s"`
	Known    []int64   `json:"known"`
	Done     []int64   `json:"done"`
	Pages    []int64   `json:"pages"`
	Queued   []int64   `json:"queued"`
	InFlight []int64   `json:"in_flight"`
	Waiting  []int64   `json:"waiting_hosts"`
	Class2   []int64   `json:"c2xx"`
	Class3   []int64   `json:"c3xx"`
	Class4   []int64   `json:"c4xx"`
	Class5   []int64   `json:"c5xx"`
	None     []int64   `json:"none"`
	Gaps     []int     `json:"gaps"`
}
