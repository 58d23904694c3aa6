package crawl

import (
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Verdict is what an attempt means for the URL.
type Verdict uint8

// The verdicts. All but VerdictRetry and VerdictInterrupted are final.
const (
	VerdictNone        Verdict = iota
	VerdictDone                // answered: a page (2xx), an unchanged page (304) or a redirect (3xx)
	VerdictRetry               // failed for now: again after a while
	VerdictGone                // there is no such page: 404, 410 and other 4xx
	VerdictBlocked             // the site does not want it fetched: robots.txt, 401, 403, 451
	VerdictRefused             // we do not want it: media type, private address, too many redirects, limits
	VerdictFailed              // retried as often as allowed, still failing
	VerdictExcluded            // never asked for: out of scope, over a budget, a trap
	VerdictInterrupted         // the attempt may not have been made, or its result was lost: lease it again
)

var verdictNames = [...]string{"none", "done", "retry", "gone", "blocked", "refused", "failed", "excluded",
	"interrupted"}

// String returns the verdict's name as it is in crawl.log.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "unknown"
}

// Final reports whether the URL's story ends with v.
func (v Verdict) Final() bool {
	return v != VerdictNone && v != VerdictRetry && v != VerdictInterrupted
}

// Outcome is what a fetcher reports about a lease: always exactly one. If the body is lost afterwards, the parser
// reports a second one, with VerdictInterrupted and ReasonBodyLost.
type Outcome struct {
	Task    Task    `cbor:"1,keyasint"`
	Verdict Verdict `cbor:"2,keyasint"`
	Status  int     `cbor:"3,keyasint,omitempty"` // HTTP status; 0 where there was no answer
	Reason  string  `cbor:"4,keyasint,omitempty"` // a short token, see the Reason constants; empty on success
	Detail  string  `cbor:"5,keyasint,omitempty"` // for people: what happened and what to do
	// Started and Ended bound the request as the fetcher saw it. If the host was not contacted, Ended is zero and the
	// politeness clock of the host does not move.
	Started   time.Time     `cbor:"6,keyasint,omitempty"`
	Ended     time.Time     `cbor:"7,keyasint,omitempty"`
	FirstByte time.Duration `cbor:"8,keyasint,omitempty"`
	// Slow is set when the whole host asks for rest (429, 500, 503, Retry-After), RetryAfter when it says for how long.
	Slow       bool          `cbor:"9,keyasint,omitempty"`
	RetryAfter time.Duration `cbor:"10,keyasint,omitempty"`
	Addr       netip.Addr    `cbor:"11,keyasint,omitempty"`
	Location   weburl.URL    `cbor:"12,keyasint,omitempty"` // where a redirect leads
	Bytes      int64         `cbor:"13,keyasint,omitempty"`
	// ContentType is the answer's media type; Digest the SHA-256 of its body.
	ContentType string         `cbor:"14,keyasint,omitempty"`
	Digest      Digest         `cbor:"15,keyasint,omitempty"`
	Robots      *RobotsOutcome `cbor:"16,keyasint,omitempty"`
	// Follows says, of a tracked task, that its links are on their way.
	Follows bool `cbor:"17,keyasint,omitempty"`
	// CrawlDelay is the Crawl-delay for the job's own agent, from the robots.txt of the page's origin. The job that
	// fetched the file may have another agent.
	CrawlDelay time.Duration `cbor:"18,keyasint,omitempty"`
	// ETag and LastModified are the validators of a page that was answered, where the server sent any of at most
	// MaxValidator octets; of a page that is unchanged (304), those that were asked with where it sent none.
	ETag         string `cbor:"19,keyasint,omitempty"`
	LastModified string `cbor:"20,keyasint,omitempty"`
	// Wire is how many bytes of the body came, before any Content-Encoding was undone.
	Wire int64 `cbor:"45,keyasint,omitempty"`
	// Insecure says that the server's certificate is not valid, and that the job fetches all the same.
	Insecure bool `cbor:"46,keyasint,omitempty"`
	// Observed is set in events that are no outcome of a lease, but tell what was found out about a page; nil: it is one.
	Observed *Observed `cbor:"47,keyasint,omitempty"`
	// Node is the node whose frontier waits for a robots.txt that a host of another node served; empty: this node. It
	// addresses the message and is not part of it.
	Node string `cbor:"-"`
}

// Destination implements Addressed.
func (e *Outcome) Destination() string { return e.Node }

// RobotsOutcome is what a KindRobots task brought, beside the record that the fetcher stored.
type RobotsOutcome struct {
	Origin     string        `cbor:"1,keyasint"` // whose rules they are
	Expires    time.Time     `cbor:"2,keyasint"`
	CrawlDelay time.Duration `cbor:"3,keyasint,omitempty"`
	Sitemaps   []string      `cbor:"4,keyasint,omitempty"`
	// Redirect is set when the rules are yet to be had from there.
	Redirect weburl.URL `cbor:"5,keyasint,omitempty"`
}

// Topic implements Event.
func (*Outcome) Topic() string { return TopicOutcome }

// Key implements Event.
func (e *Outcome) Key() string { return e.Task.URL.HostKey() }

// Subject implements Subjected.
func (e *Outcome) Subject() Subject { return e.Task.subject() }

// Contacted reports whether a request was sent.
func (e *Outcome) Contacted() bool { return !e.Ended.IsZero() }

// OurTrouble reports whether a reason is a fault of the crawler or of what it works with: no URL fails by it.
func OurTrouble(reason string) bool {
	switch reason {
	case ReasonOpenFiles, ReasonProxy, ReasonNoProxy, ReasonCertificate:
		return true
	}
	return false
}

// Reasons that are in outcomes, exclusions and crawl.log. Others may be made by the traps package (trap-…).
const (
	ReasonScope            = "scope"
	ReasonExclude          = "exclude"     // matched an exclude pattern
	ReasonInclude          = "not-include" // matched no include pattern
	ReasonBlacklist        = "blacklist"
	ReasonDepth            = "depth"
	ReasonLevelBudget      = "level-budget"
	ReasonHostBudget       = "host-budget"
	ReasonDomainBudget     = "domain-budget"
	ReasonSitemapBudget    = "sitemap-budget" // of its job, its domain or its host
	ReasonVariantBudget    = "query-variants"
	ReasonAssetBudget      = "asset-budget" // of its job or its host
	ReasonNoAssets         = "no-assets"    // an asset, and the job fetches none any more
	ReasonNotAsset         = "not-an-asset" // fetched as an asset, and a page: fetched again as one, or left out
	ReasonTopic            = "topic"        // met on a page that is off the topic, as the page before it is
	ReasonTopicHost        = "topic-host"   // its host is off the topic
	ReasonPageBudget       = "page-budget"
	ReasonNoFollow         = "nofollow"
	ReasonLinksPerPage     = "links-per-page" // beyond the first links of its page that the job reads
	ReasonNoFeeds          = "no-feeds"       // a feed, and the job reads neither sitemaps nor feeds
	ReasonSeedsOnly        = "seeds-only"     // a link, a sitemap or a feed, and the job fetches its seeds only
	ReasonScheme           = "scheme"
	ReasonPort             = "port"               // its port is none of the web, and no seed has it
	ReasonRobots           = "robots"             // a rule of robots.txt forbids it
	ReasonRobotsDown       = "robots-unavailable" // robots.txt could not be had: nothing may be fetched
	ReasonCrawlDelay       = "crawl-delay"        // robots.txt asks for more patience than the job has
	ReasonRedirects        = "too-many-redirects"
	ReasonRedirectTarget   = "bad-redirect" // no Location, or none that can be crawled
	ReasonMediaType        = "media-type"
	ReasonPrivateAddress   = "private-address"
	ReasonDNS              = "dns"
	ReasonNoSuchHost       = "no-such-host"
	ReasonConnect          = "connect"
	ReasonHostDown         = "host-down" // it failed so often that its other URLs are not tried
	ReasonTLS              = "tls"
	ReasonTimeout          = "timeout"
	ReasonTooSlow          = "too-slow"
	ReasonBroken           = "broken-answer" // not HTTP, or it ended early
	ReasonHeaderTooLarge   = "headers-too-large"
	ReasonEncoding         = "encoding" // a Content-Encoding that cannot be undone
	ReasonStatus           = "status"
	ReasonExtension        = "extension"   // its extension is not wanted: ext, skip_ext
	ReasonProxy            = "proxy"       // a proxy failed: our own trouble, and not the site's
	ReasonNoProxy          = "no-proxy"    // no proxy could be asked
	ReasonCertificate      = "certificate" // the client certificate cannot be used: our own trouble
	ReasonOpenFiles        = "open-files"  // the crawler itself could open no more files: nobody's fault but its own
	ReasonInterrupted      = "interrupted"
	ReasonBodyLost         = "body-lost"  // the page was fetched, and its body lost before it was parsed (ErrBodyLost)
	ReasonLeaseLost        = "lease-lost" // the message of its lease, or of its outcome, was deleted from the queues
	ReasonTruncatedMaxBody = "max-body"   // value of Page.Truncated
)
