package crawl

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Kind says what a URL is fetched for.
type Kind uint8

// The kinds of tasks.
const (
	KindPage     Kind = iota // a page: stored, its links followed
	KindRobots               // a robots.txt: kept with its origin (RFC 9309)
	KindSitemap              // a sitemap or feed: a source of links, not stored as a page
	KindAsset                // a requisite of a page (style sheet, image, script, font): archived, not stored as a page
	KindResource             // what a page's scripts ask for: kept for renders (Resources), in no ledger
	KindRender               // no task, but a line of crawl.log: what the render of a page brought
	kinds        = iota
)

// String returns the kind's name as it is in crawl.log.
func (k Kind) String() string {
	switch k {
	case KindRobots:
		return "robots"
	case KindSitemap:
		return "sitemap"
	case KindAsset:
		return "asset"
	case KindResource:
		return "resource"
	case KindRender:
		return "render"
	default:
		return "page"
	}
}

// InLedger reports whether the URLs of tasks of the kind are claimed and have an outcome in the ledger. A robots.txt
// belongs to its origin, a resource expires, and a render is of a page that has its outcome.
func (k Kind) InLedger() bool { return k != KindRobots && k != KindResource && k != KindRender }

// KindNamed returns the kind of a name.
func KindNamed(name string) (Kind, bool) {
	for k := range Kind(kinds) {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// Priorities of the frontier's front queues. A higher one is drawn more often.
const (
	MinPriority     = 1
	DefaultPriority = 2
	MaxPriority     = 5
)

// MaxTaskText bounds Task.Text in bytes.
const MaxTaskText = 80

// Task is a URL to fetch, as it lies in the frontier's queues. It is small: about 150 bytes encoded.
type Task struct {
	Job       JobID
	URL       weburl.URL
	Kind      Kind
	Priority  int        // MinPriority to MaxPriority; 0 means DefaultPriority
	Depth     int        // hops from a seed; redirects are no hops
	Redirects int        // redirects followed to get here
	Referrer  weburl.URL // the page, style sheet or redirect that named it; zero for a seed
	Attempt   int        // attempts that failed before this one
	NotBefore time.Time  // a retry waits until then
	Visit     int
	// For is the origin whose robots.txt this KindRobots task fetches: a redirect may have led elsewhere.
	For string
	// Repeat marks a task that may be queued twice because the message that queued it was delivered again. The frontier
	// asks the ledger before it leases the task.
	Repeat bool
	Seed   bool // named by the user
	// ETag and LastModified are the validators of the last visit, for a conditional request (RFC 9110, 13.1).
	ETag         string
	LastModified string
	// Lease tells the leases of one task apart. The frontier sets it in a Fetch and checks with it whether an outcome
	// belongs to the lease in flight. It is 0 in queues.
	Lease int64
	// Tracked asks every stage to send an event about the task's links even if there are none, up to the DUE, which
	// records them as claimed: see [Following]. The frontier of a node in a ring sets it.
	Tracked bool
	// Epoch is the revision of the job under which the task was claimed; once leased, the revision under which it is
	// handled. Everything that follows from the lease is judged by that revision. 0 means the first, as 1 does: see
	// [Task.JobEpoch].
	Epoch uint32
	// Feed marks a KindSitemap task whose URL a page named: scope and patterns bind it, as they bind pages.
	Feed bool
	// Paid says that the task was charged to its budgets before: it was excluded after that, and is let in again.
	Paid bool
	// Finds is how often the URL had been found again when its priority rose for that; 0: it did not. Such a task is a
	// second one of a URL that is queued already.
	Finds int
	// HostLinks is how many links from other hosts to the task's host were found when it was claimed; 0 where the job
	// does not ask for that (Politeness.Popularity).
	HostLinks int
	// Fields are those of the request that the script of a page has set, one a line (NAME: VALUE); only with KindResource.
	Fields string
	// Relevance is that of the page that linked to it, in a topical job; 0: there is none, as for a seed.
	Relevance Relevance
	// Promise is what the link itself promises, by its text or a site rule, where that is more than Relevance; 0: no more.
	Promise Relevance
	// Text is the beginning of the link's text, in a job that learns its topic: when that is known, it says what the task
	// promises. At most MaxTaskText bytes; empty in all other jobs.
	Text string
	// Sum identifies what the page said at the visit before (revisit.State.Sum); 0: that is not known. Restore says that
	// its record is to be written whether that changed or not: it was marked as gone or withdrawn.
	Sum     uint64
	Restore bool
	// Asked says that its redirects led back to it, and that it is asked again with the cookies that they set: if they do
	// so once more it is a loop.
	Asked bool
	// Copy says that the record of the visit before names another page as the one that has the content.
	Copy bool
	// Repeated are sums that many pages of the host have: a page with one of them may be a "not found" with status 200.
	// See SetRepeated and IsRepeated.
	Repeated string
	// Told is as in Link, on the way to the DUE; zero everywhere else.
	Told time.Time
	// more are fields of a newer version, as they came: a program of this version passes them on.
	more string
}

// JobEpoch is the revision of the job that the task belongs to, at least 1.
func (t *Task) JobEpoch() uint32 { return max(t.Epoch, 1) }

func (t *Task) subject() Subject { return Subject{Job: t.Job, URL: t.URL, URLs: 1} }

// ID is the id of the message that leases the task.
func (t *Task) ID() MessageID { return VisitID(t.Job, t.Kind, t.URL.Key(), t.Visit) }
