package crawl

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Version is the version of the program; it stands in the User-Agent.
const Version = "0.1.0"

// ProductToken is the name that robots.txt files know the crawler by (RFC 9309, 2.2.1) where the job gives it none.
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

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{ScopeDomain, ScopeHost, ScopePrefix, ScopeAny} }

// Job is what a user asks for: a job file with the flags on top. The same file runs on one machine and on a cluster.
type Job struct {
	// Epoch is the number of the revision that this is, from 1. Stores set it; 0 where none was stored.
	Epoch uint32 `json:"-" yaml:"-"`
	// First is the epoch with which the job's present life began: what carries an older one is left of a job that was
	// deleted. 0 is 1. Stores set it.
	First uint32 `json:"-" yaml:"-"`

	ID         JobID    `json:"id" yaml:"id"`                         // name of the job: 1 to 64 of a-z, 0-9 and -; empty: made of the first seed's host
	Seeds      []string `json:"seeds" yaml:"seeds"`                   // URLs to start from; without a scheme http:// is meant
	SeedList   string   `json:"seed_list" yaml:"seed_list"`           // file, beside this one, with a further seed a line; "-": standard input
	SeedsOnly  bool     `json:"seeds_only" yaml:"seeds_only"`         // fetch the seeds, and where they redirect to; follow nothing
	Mode       JobMode  `json:"mode,omitempty" yaml:"mode,omitempty"` // once: each URL is visited once; continuous: pages are visited again, and the crawl goes on until it is stopped
	Order      Order    `json:"order" yaml:"order"`                   // which URLs come first
	Continuous []string `json:"continuous" yaml:"continuous"`         // regular expressions (RE2) of URLs whose pages keep bringing new URLs: priority 3 to 4, other pages 1 to 2
	Scope      Scope    `json:"scope" yaml:"scope"`                   // links to follow
	Include    []string `json:"include" yaml:"include"`               // regular expressions (RE2); a URL must match one, if there are any. Seeds need not
	Exclude    []string `json:"exclude" yaml:"exclude"`               // regular expressions (RE2); a URL must match none
	Blacklist  string   `json:"blacklist" yaml:"blacklist"`           // file, beside this one, with a host, registrable domain or URL prefix a line
	// BlacklistEntries are the lines of that file, for programs that do not have it: they win over it. nil: read the
	// file. No key of a job file; Settings leaves it out.
	BlacklistEntries []string `json:"blacklist_entries,omitzero" yaml:"-"`
	// TopicModel and ClassModel are the models of Topic and Classify, for programs that do not have their files.
	// TopicExamples are the features of the examples of a topic whose model is made while the crawl goes on, and
	// TopicSeen is of how many of its pages the present one was made. No keys of a job file; Settings leaves them out.
	TopicModel    Blob `json:"topic_model,omitzero" yaml:"-"`
	TopicExamples Blob `json:"topic_examples,omitzero" yaml:"-"`
	TopicSeen     int  `json:"topic_seen,omitzero" yaml:"-"`
	ClassModel    Blob `json:"class_model,omitzero" yaml:"-"`

	Ext     []string `json:"ext,omitempty" yaml:"ext,omitempty"`           // extensions of the URLs that are fetched, as in html; a URL without any is fetched too. Seeds need none of them
	SkipExt []string `json:"skip_ext,omitempty" yaml:"skip_ext,omitempty"` // extensions of URLs that are not fetched, but for seeds

	MaxPages       int `json:"max_pages" yaml:"max_pages"`               // stop after so many pages; a continuous crawl keeps so many, and visits them again
	MaxDepth       int `json:"max_depth" yaml:"max_depth"`               // follow links so many hops from a seed; 0: the seeds only
	PagesPerLevel  int `json:"pages_per_level" yaml:"pages_per_level"`   // URLs of one depth
	PagesPerHost   int `json:"pages_per_host" yaml:"pages_per_host"`     // URLs of one host
	PagesPerDomain int `json:"pages_per_domain" yaml:"pages_per_domain"` // URLs of one registrable domain
	QueryVariants  int `json:"query_variants" yaml:"query_variants"`     // URLs that differ only in the value of one query key

	UserAgent     string `json:"user_agent" yaml:"user_agent"`           // User-Agent header; empty: Whirlpool/VERSION (+CONTACT)
	Contact       string `json:"contact" yaml:"contact"`                 // URL or e-mail address for the owners of the sites; in the User-Agent
	IgnoreRobots  bool   `json:"ignore_robots" yaml:"ignore_robots"`     // ask for no robots.txt, so that no sitemap that one names is known
	AllowPrivate  bool   `json:"allow_private" yaml:"allow_private"`     // permit loopback and private addresses, where the nodes do
	IgnoreMeta    bool   `json:"ignore_nofollow" yaml:"ignore_nofollow"` // follow nofollow links and store noindex pages all the same
	Sitemaps      bool   `json:"sitemaps" yaml:"sitemaps"`               // read sitemaps, and the feeds that pages name
	KeepParams    bool   `json:"keep_params" yaml:"keep_params"`         // do not strip session ids and tracking parameters
	NearDuplicate int    `json:"near_duplicate" yaml:"near_duplicate"`   // bits of 64 in which fingerprints of near-duplicates may differ

	AcceptLanguage string       `json:"accept_language,omitempty" yaml:"accept_language,omitempty"` // Accept-Language of each request, as in de,en;q=0.5
	Headers        []HeaderRule `json:"headers,omitempty" yaml:"headers,omitempty"`                 // further fields of the requests' headers
	Auth           []AuthRule   `json:"auth,omitempty" yaml:"auth,omitempty"`                       // passwords and tokens, by site
	Cookies        string       `json:"cookies,omitempty" yaml:"cookies,omitempty"`                 // keep the cookies that servers set: on, off, or empty: on unless scope is any
	CookiesFile    string       `json:"cookies_file,omitempty" yaml:"cookies_file,omitempty"`       // file of cookies, as browsers' add-ons, curl and wget write it (Netscape's format)
	Cookie         []CookieRule `json:"cookie,omitempty" yaml:"cookie,omitempty"`                   // cookies that are sent besides
	Login          Login        `json:"login,omitzero" yaml:"login,omitempty"`                      // log in by a form before anything else of that site is fetched
	FollowLogout   bool         `json:"follow_logout,omitempty" yaml:"follow_logout,omitempty"`     // follow what looks like a log-out link though the crawl is logged in

	Robots     RobotsPolicy `json:"robots" yaml:"robots"`                               // how robots.txt files are used
	Politeness Politeness   `json:"politeness" yaml:"politeness"`                       // what a host has to bear
	Network    Network      `json:"network,omitzero" yaml:"network,omitempty"`          // how requests reach the web
	Bounds     Bounds       `json:"bounds,omitzero" yaml:"bounds,omitempty"`            // what the crawl as a whole may take
	Retry      Retry        `json:"retry" yaml:"retry"`                                 // how failures are repeated
	Limits     Limits       `json:"limits" yaml:"limits"`                               // bounds of a fetch and a page
	Revisit    Revisiting   `json:"revisit,omitzero" yaml:"revisit,omitempty"`          // how pages are visited again, with mode continuous
	Assets     Assets       `json:"assets,omitzero" yaml:"assets,omitempty"`            // what pages are made of: style sheets, images, scripts, fonts
	MediaTypes []string     `json:"media_types" yaml:"media_types"`                     // pages that are kept: type/subtype, type/* or */*
	KeepBodies bool         `json:"keep_bodies,omitempty" yaml:"keep_bodies,omitempty"` // keep the bodies of stored pages, compressed, for "whirlpool extract"
	Search     bool         `json:"search,omitempty" yaml:"search,omitempty"`           // in a cluster, keep the words of pages for "whirlpool search"; a directory needs nothing
	Documents  Documents    `json:"documents,omitzero" yaml:"documents,omitempty"`      // how PDF and office documents among media_types are read
	Render     Rendering    `json:"render,omitzero" yaml:"render,omitempty"`            // pages that only scripts make: which go through a browser besides
	Rules      []SiteRule   `json:"rules" yaml:"rules"`                                 // site rules: what is extracted, and which links come first
	Select     []Policy     `json:"select,omitempty" yaml:"select,omitempty"`           // selection policies: what is taken from pages besides, as lists of objects
	Extract    Extract      `json:"extract,omitzero" yaml:"extract,omitempty"`          // what records have of every page besides its text
	Topic      Theme        `json:"topic,omitzero" yaml:"topic,omitempty"`              // what the crawl is about: pages about it come first
	Classify   Classify     `json:"classify,omitzero" yaml:"classify,omitempty"`        // classes by which pages are told apart
	Pipeline   Pipeline     `json:"pipeline,omitzero" yaml:"pipeline,omitempty"`        // plug-ins between the stages; docs/plugins.md

	Parallelism int       `json:"parallelism,omitempty" yaml:"parallelism,omitempty"` // requests of this job at once; a node of a cluster keeps its share, one at least
	Lifecycle   Lifecycle `json:"lifecycle,omitzero" yaml:"lifecycle,omitempty"`      // what becomes of an execution of a workflow, during and after it; "whirlpool serve" heeds it
}

// Extract says what is taken from every page besides its text and what site rules name.
type Extract struct {
	Markdown   bool `json:"markdown" yaml:"markdown"`     // Markdown of the main text
	Structured bool `json:"structured" yaml:"structured"` // JSON-LD, microdata, RDFa and meta elements; author, dates of publication and change
}

// RobotsPolicy says how robots.txt files are used.
type RobotsPolicy struct {
	Agent   string   `json:"agent" yaml:"agent"`     // name to look for in them; empty: the one in the User-Agent
	Refresh Duration `json:"refresh" yaml:"refresh"` // how long rules are good (RFC 9309, 2.4)
}

// The bounds of RobotsPolicy.Refresh.
const (
	DefaultRobotsRefresh = 6 * time.Hour
	MaxRobotsRefresh     = 24 * time.Hour
)

// Good is how long rules are good.
func (p RobotsPolicy) Good() time.Duration {
	if p.Refresh <= 0 {
		return DefaultRobotsRefresh
	}
	return min(p.Refresh.D(), MaxRobotsRefresh)
}

// Politeness bounds what a host has to bear.
type Politeness struct {
	Preset          Preset   `json:"preset" yaml:"preset"`                     // what the keys below are where they are not named
	Delay           Duration `json:"delay" yaml:"delay"`                       // between two requests to a host, from the end of one to the start of the next
	IPDelay         Duration `json:"ip_delay" yaml:"ip_delay"`                 // between two requests to an address; never more than delay
	HostConnections int      `json:"host_connections" yaml:"host_connections"` // requests at once to a host
	DownloadFactor  float64  `json:"download_factor" yaml:"download_factor"`   // wait at least so many times as long as the last download (Mercator)
	MaxAdaptive     Duration `json:"max_adaptive" yaml:"max_adaptive"`         // bound of what download_factor asks for
	MaxCrawlDelay   Duration `json:"max_crawl_delay" yaml:"max_crawl_delay"`   // a host that asks for a longer Crawl-delay is left out
	Popularity      float64  `json:"popularity" yaml:"popularity"`             // how much the links to a host count for its priority and shorten what download_factor asks for
}

// Retry says how failures are repeated.
type Retry struct {
	Max     int      `json:"max" yaml:"max"`                   // attempts after the first
	Base    Duration `json:"base" yaml:"base"`                 // wait before the second attempt, doubled each time
	SlowMin Duration `json:"slow_min" yaml:"slow_min"`         // a host's rest after 429 or 503 without Retry-After, doubled each time
	SlowMax Duration `json:"slow_max" yaml:"slow_max"`         // bound of that rest, and of Retry-After
	Forgive Duration `json:"forgive" yaml:"forgive"`           // quiet time after which a rest starts small again
	On      []string `json:"on,omitempty" yaml:"on,omitempty"` // failures that are repeated: timeout, connect, dns, tls, broken, status:429, status:5xx …; empty: those that may pass
}

// Limits bound a fetch and a page.
type Limits struct {
	MaxBody       Size     `json:"max_body" yaml:"max_body"`               // bytes of a body, after decompression; a longer one is cut
	MaxHeader     Size     `json:"max_header" yaml:"max_header"`           // bytes of an answer's headers; longer ones are refused
	Redirects     int      `json:"redirects" yaml:"redirects"`             // redirects one after the other
	Connect       Duration `json:"connect" yaml:"connect"`                 // time to reach the server
	TLSHandshake  Duration `json:"tls_handshake" yaml:"tls_handshake"`     // time to agree on encryption
	FirstByte     Duration `json:"first_byte" yaml:"first_byte"`           // time from the request to the first byte of the answer
	Idle          Duration `json:"idle" yaml:"idle"`                       // time between two reads of the body
	Total         Duration `json:"total" yaml:"total"`                     // time of a whole fetch
	MinRate       Size     `json:"min_rate" yaml:"min_rate"`               // bytes a second; a slower answer is given up
	MinRateWindow Duration `json:"min_rate_window" yaml:"min_rate_window"` // time over which min_rate is measured
	LinksPerPage  int      `json:"links_per_page" yaml:"links_per_page"`   // links that are taken from a page
	MaxText       Size     `json:"max_text" yaml:"max_text"`               // bytes of a page's main text in its record; a longer one is cut
}

// Documents says how documents are read that are no pages: PDF files and those of office programs.
type Documents struct {
	Raw   bool     `json:"raw,omitempty" yaml:"raw,omitempty"`     // do not open them: their records have no text
	Pages int      `json:"pages,omitempty" yaml:"pages,omitempty"` // pages, slides or sheets that are read of one; the rest is cut
	Time  Duration `json:"time,omitempty" yaml:"time,omitempty"`   // time to read one; what takes longer has no record
}

// Assets says whether the requisites of pages are fetched, and how many. They are no pages: they have no record, and
// count against these budgets only.
type Assets struct {
	Scope   AssetScope `json:"scope" yaml:"scope"`       // which are fetched; empty: none; job: those in the scope of the job
	Max     int        `json:"max" yaml:"max"`           // assets of the whole job
	PerHost int        `json:"per_host" yaml:"per_host"` // assets of one host
}

// SiteRule extracts records from the pages it matches and weighs their links.
type SiteRule struct {
	Name   string       `json:"name" yaml:"name"`     // name, for messages
	Host   string       `json:"host" yaml:"host"`     // host or registrable domain that the rule is for; empty: any
	Match  string       `json:"match" yaml:"match"`   // regular expression (RE2) over the URL; empty: any
	Fields []FieldRule  `json:"fields" yaml:"fields"` // what the record of a page of that host and URL gets
	Links  []LinkWeight `json:"links" yaml:"links"`   // weights of the links of such a page; the first that matches a link counts
}

// FieldRule is one field of a record.
type FieldRule struct {
	Name  string `json:"name" yaml:"name"`   // name of the field in the record
	CSS   string `json:"css" yaml:"css"`     // CSS selector of the elements; or
	XPath string `json:"xpath" yaml:"xpath"` // XPath expression for them: one of the two
	Attr  string `json:"attr" yaml:"attr"`   // attribute that is taken instead of the text
	Regex string `json:"regex" yaml:"regex"` // regular expression (RE2): its first group, or the whole match, is taken
	List  bool   `json:"list" yaml:"list"`   // take all matches, not the first
	Type  string `json:"type" yaml:"type"`   // what the text is turned into; empty: string
}

// LinkWeight weighs the links whose URL matches: 9 is fetched first, 1 last.
type LinkWeight struct {
	Match  string `json:"match" yaml:"match"`   // regular expression (RE2) over the URL of the link
	Weight int    `json:"weight" yaml:"weight"` // 9 is fetched first, 1 last
}

// DefaultJob returns the defaults; docs/jobfile.md lists them.
func DefaultJob() Job {
	const s = Duration(time.Second)
	return Job{
		Scope: ScopeDomain, Order: OrderPriority, MaxPages: 10_000, MaxDepth: 20, QueryVariants: 1_000, Sitemaps: true, NearDuplicate: 3,
		Robots: RobotsPolicy{Refresh: Duration(DefaultRobotsRefresh)},
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

// Canonicalizer returns the canonicalizer that the job asks for.
func (j *Job) Canonicalizer() *weburl.Canonicalizer {
	cfg := weburl.DefaultCanonical()
	cfg.MaxLength = 0 // a trap rule, which has a reason to give
	if j.KeepParams {
		cfg.StripParams, cfg.StripTokenParams, cfg.StripPathParams = nil, nil, nil
	}
	return weburl.NewCanonicalizer(cfg)
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
		if e := (*weburl.Error)(nil); errors.As(err, &e) {
			err = e.Err // without the input, which may hold a password
		}
		return u, fmt.Errorf("seed %q: %w; a seed is an http or https URL", maskUserinfo(s), err)
	}
	return u, nil
}

// Validate reports everything that is wrong with the job, a line each.
func (j *Job) Validate() error {
	if err := CheckPatternSizes(j); err != nil {
		return err // before any of them is compiled
	}
	return j.validate()
}

func (j *Job) validate() error {
	var errs []error
	bad := func(cond bool, key, format string, args ...any) {
		if cond {
			errs = append(errs, &KeyError{key, fmt.Sprintf(format, args...)})
		}
	}
	bad(!jobID.MatchString(string(j.ID)), "id", "%q: want 1 to 64 characters of a-z, 0-9 and -", j.ID)
	errs = append(errs, checkSeeds(j)...)
	errs = append(errs, checkOrder(j)...)
	errs = append(errs, checkRevisits(j)...)
	_, known := PresetPoliteness(j.Politeness.Preset)
	bad(!known, "politeness.preset", "%q: want mercator, or nothing", j.Politeness.Preset)
	bad(!slices.Contains(Scopes(), j.Scope), "scope", "%q: want domain, host, prefix or any", j.Scope)
	bad(!printable(j.UserAgent), "user_agent", "%q: want one line of ASCII characters", j.UserAgent)
	bad(!printable(j.Contact), "contact", "%q: want one line of ASCII characters", j.Contact)
	bad(!robotsName.MatchString(j.Robots.Agent), "robots.agent", "%q: want letters, digits, '-', '_' and '.'", j.Robots.Agent)
	errs = append(errs, checkPatterns("include", j.Include)...)
	errs = append(errs, checkPatterns("exclude", j.Exclude)...)
	errs = append(errs, checkPatterns("continuous", j.Continuous)...)
	errs = append(errs, checkMediaTypes(j.MediaTypes)...)
	errs = append(errs, checkSelect(j)...)
	errs = append(errs, checkRetryOn(j.Retry.On)...)
	errs = append(errs, checkRequests(j)...)
	errs = append(errs, checkNetwork(j)...)
	errs = append(errs, checkExtensions("ext", j.Ext)...)
	errs = append(errs, checkExtensions("skip_ext", j.SkipExt)...)
	errs = append(errs, j.Assets.check()...)
	errs = append(errs, j.Render.check()...)
	errs = append(errs, j.Lifecycle.check()...)
	errs = append(errs, checkPipeline(j)...)
	errs = append(errs, checkTopic(j)...)
	errs = append(errs, checkNumbers(reflect.ValueOf(j).Elem(), "", "")...)
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

var robotsName = regexp.MustCompile(`^[A-Za-z0-9._-]{0,64}$`)

var jobID = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
