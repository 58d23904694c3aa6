package crawl

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// Version is the version of the program; it stands in the User-Agent.
const Version = "0.1.0"

// ProductToken is the name that robots.txt files know the crawler by (RFC 9309, 2.2.1).
const ProductToken = "whirlpool"

// Scope says which links of a page are followed.
type Scope string

// The scopes.
const (
	ScopeDomain Scope = "domain" // the seeds' registrable domains
	ScopeHost   Scope = "host"   // the seeds' hosts
	ScopePrefix Scope = "prefix" // URLs under the seeds' directories
	ScopeAny    Scope = "any"    // all
)

// Job is what a user asks for: a job file with the flags on top. The same file runs on one machine and on a cluster.
type Job struct {
	ID        JobID    `yaml:"id"`
	Seeds     []string `yaml:"seeds"`
	Scope     Scope    `yaml:"scope"`
	Include   []string `yaml:"include"`   // regular expressions (RE2); a URL must match one, if there are any. Seeds need not
	Exclude   []string `yaml:"exclude"`   // regular expressions (RE2); a URL must match none
	Blacklist string   `yaml:"blacklist"` // file with a host, registrable domain or URL prefix a line; # comments
	// BlacklistEntries are the lines of that file, for programs that do not have it: they win over it. nil: read the file.
	BlacklistEntries []string `yaml:"-"`

	MaxPages      int `yaml:"max_pages"`       // stop after so many pages; 0: no limit
	MaxDepth      int `yaml:"max_depth"`       // hops from a seed; 0: the seeds only; negative: no limit
	PagesPerLevel int `yaml:"pages_per_level"` // URLs a depth; 0: no limit
	PagesPerHost  int `yaml:"pages_per_host"`  // URLs a host; 0: no limit, but 10,000 with scope any
	// PagesPerDomain is the URLs a registrable domain; 0: no limit, but 50,000 with scope any.
	PagesPerDomain int `yaml:"pages_per_domain"`
	QueryVariants  int `yaml:"query_variants"` // URLs that differ only in the value of one query key; 0: no limit

	UserAgent     string `yaml:"user_agent"` // empty: Whirlpool/VERSION (+CONTACT)
	Contact       string `yaml:"contact"`    // URL or e-mail address
	IgnoreRobots  bool   `yaml:"ignore_robots"`
	IgnoreMeta    bool   `yaml:"ignore_nofollow"` // follow nofollow links and store noindex pages all the same
	Sitemaps      bool   `yaml:"sitemaps"`        // read sitemaps, and the feeds that pages name
	KeepParams    bool   `yaml:"keep_params"`     // do not strip session ids and tracking parameters
	NearDuplicate int    `yaml:"near_duplicate"`  // largest Hamming distance of 64 bits; negative: exact copies only

	Politeness Politeness `yaml:"politeness"`
	Retry      Retry      `yaml:"retry"`
	Limits     Limits     `yaml:"limits"`
	MediaTypes []string   `yaml:"media_types"` // accepted; "text/*" allowed
	Rules      []SiteRule `yaml:"rules"`
}

// Politeness bounds what a host has to bear.
type Politeness struct {
	Delay           Duration `yaml:"delay"`            // a host: from the end of a request to the start of the next; 0 turns waiting off
	IPDelay         Duration `yaml:"ip_delay"`         // an address; never more than Delay; 0: none
	HostConnections int      `yaml:"host_connections"` // requests at once to a host
	DownloadFactor  float64  `yaml:"download_factor"`  // wait at least so many times the last download (Mercator)
	MaxAdaptive     Duration `yaml:"max_adaptive"`     // bound of what DownloadFactor asks for
	MaxCrawlDelay   Duration `yaml:"max_crawl_delay"`  // a longer Crawl-delay parks the host
}

// Retry says how failures are repeated.
type Retry struct {
	Max     int      `yaml:"max"`      // attempts after the first
	Base    Duration `yaml:"base"`     // wait before the second attempt, doubled each time
	SlowMin Duration `yaml:"slow_min"` // a host's rest after 429 or 503 without Retry-After, doubled each time
	SlowMax Duration `yaml:"slow_max"` // its bound, and that of Retry-After
	Forgive Duration `yaml:"forgive"`  // quiet time after which a rest starts small again
}

// Limits bound a fetch and a page.
type Limits struct {
	MaxBody       Size     `yaml:"max_body"` // decoded bytes; a longer body is cut
	MaxHeader     Size     `yaml:"max_header"`
	Redirects     int      `yaml:"redirects"`
	Connect       Duration `yaml:"connect"`
	TLSHandshake  Duration `yaml:"tls_handshake"`
	FirstByte     Duration `yaml:"first_byte"`
	Idle          Duration `yaml:"idle"`  // between two reads
	Total         Duration `yaml:"total"` // a whole fetch
	MinRate       Size     `yaml:"min_rate"`
	MinRateWindow Duration `yaml:"min_rate_window"` // bytes a second over this window
	LinksPerPage  int      `yaml:"links_per_page"`
	MaxText       Size     `yaml:"max_text"` // of a page's main text in its record
}

// SiteRule extracts records from the pages it matches and weighs their links.
type SiteRule struct {
	Name   string       `yaml:"name"`
	Host   string       `yaml:"host"`  // host or registrable domain; empty: any
	Match  string       `yaml:"match"` // regular expression over the URL; empty: any
	Fields []FieldRule  `yaml:"fields"`
	Links  []LinkWeight `yaml:"links"`
}

// FieldRule is one field of a record.
type FieldRule struct {
	Name  string `yaml:"name"`
	CSS   string `yaml:"css"`   // a selector; or
	XPath string `yaml:"xpath"` // an expression
	Attr  string `yaml:"attr"`  // an attribute instead of the text
	Regex string `yaml:"regex"` // its first group, or the whole match
	List  bool   `yaml:"list"`  // all matches, not the first
	Type  string `yaml:"type"`  // string (default), number, integer, bool, date, html
}

// LinkWeight weighs the links whose URL matches: 9 is fetched first, 1 last.
type LinkWeight struct {
	Match  string `yaml:"match"`
	Weight int    `yaml:"weight"` // 1 to 9
}

// DefaultJob returns the defaults of docs/design/defaults.md.
func DefaultJob() Job {
	const s = Duration(time.Second)
	return Job{
		Scope: ScopeDomain, MaxPages: 10_000, MaxDepth: 20, QueryVariants: 1_000, Sitemaps: true, NearDuplicate: 3,
		Politeness: Politeness{Delay: s, IPDelay: s / 2, HostConnections: 1, DownloadFactor: 5, MaxAdaptive: 30 * s,
			MaxCrawlDelay: 300 * s},
		Retry: Retry{Max: 3, Base: 5 * s, SlowMin: 60 * s, SlowMax: 86_400 * s, Forgive: 1_800 * s},
		Limits: Limits{MaxBody: 10 << 20, MaxHeader: 256 << 10, Redirects: 10, Connect: 10 * s, TLSHandshake: 10 * s,
			FirstByte: 30 * s, Idle: 30 * s, Total: 180 * s, MinRate: 1 << 10, MinRateWindow: 30 * s, LinksPerPage: 6_000,
			MaxText: 1 << 20},
		MediaTypes: []string{"text/html", "application/xhtml+xml"},
	}
}

// Agent returns the User-Agent header.
func (j *Job) Agent() string {
	switch {
	case j.UserAgent != "":
		return j.UserAgent
	case j.Contact != "":
		return "Whirlpool/" + Version + " (+" + j.Contact + ")"
	default:
		return "Whirlpool/" + Version
	}
}

// SeedURLs parses the seeds. A seed without scheme is taken for http.
func (j *Job) SeedURLs() ([]weburl.URL, error) {
	urls := make([]weburl.URL, 0, len(j.Seeds))
	for _, s := range j.Seeds {
		u, err := parseSeed(s)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

var schemeLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(//|[^0-9])`)

func parseSeed(s string) (weburl.URL, error) {
	raw := s
	if !schemeLike.MatchString(s) {
		raw = "http://" + s
	}
	u, err := weburl.Parse(raw)
	if err != nil {
		return u, fmt.Errorf("seed %q: %w; a seed is an http or https URL", s, err)
	}
	return u, nil
}

// Validate reports everything that is wrong with the job, a line each.
func (j *Job) Validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(!jobID.MatchString(string(j.ID)), "id %q: want 1 to 64 characters of a-z, 0-9 and -", j.ID)
	bad(len(j.Seeds) == 0, "seeds: name at least one URL")
	if _, err := j.SeedURLs(); err != nil {
		errs = append(errs, err)
	}
	switch j.Scope {
	case ScopeDomain, ScopeHost, ScopePrefix, ScopeAny:
	default:
		bad(true, "scope %q: want domain, host, prefix or any", j.Scope)
	}
	bad(!printable(j.UserAgent), "user_agent %q: want one line of ASCII characters", j.UserAgent)
	bad(!printable(j.Contact), "contact %q: want one line of ASCII characters", j.Contact)
	bad(j.MaxPages < 0, "max_pages %d: want 0 (no limit) or more", j.MaxPages)
	bad(j.PagesPerDomain < 0, "pages_per_domain %d: want 0 (no limit) or more", j.PagesPerDomain)
	bad(j.NearDuplicate > 7, "near_duplicate %d: want at most 7 bits of 64", j.NearDuplicate)
	bad(j.Politeness.HostConnections < 1, "politeness.host_connections %d: want at least 1", j.Politeness.HostConnections)
	bad(j.Politeness.Delay < 0, "politeness.delay %v: want 0 or more", j.Politeness.Delay)
	bad(j.Politeness.IPDelay < 0, "politeness.ip_delay %v: want 0 or more", j.Politeness.IPDelay)
	bad(j.Retry.Max < 0, "retry.max %d: want 0 or more", j.Retry.Max)
	bad(j.Limits.MaxBody < 1, "limits.max_body %d: want at least 1 byte", j.Limits.MaxBody)
	bad(j.Limits.Redirects < 0, "limits.redirects %d: want 0 or more", j.Limits.Redirects)
	bad(j.Limits.Total <= 0, "limits.total %v: want more than 0", j.Limits.Total)
	for _, re := range append(append([]string{}, j.Include...), j.Exclude...) {
		if _, err := regexp.Compile(re); err != nil {
			errs = append(errs, fmt.Errorf("pattern %q: %w", re, err))
		}
	}
	return errors.Join(errs...)
}

// printable reports whether s may stand in a header field.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

var jobID = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
