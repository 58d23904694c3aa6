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

// Version is the version of the program; it is in the User-Agent.
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

	// name of the job: 1 to 64 of a-z, 0-9 and -; empty: made of the first seed's host
	ID JobID `json:"id" yaml:"id"`
	// URLs to start from; without a scheme http:// is meant
	Seeds []string `json:"seeds" yaml:"seeds"`
	// file, beside this one, with a further seed a line; "-": standard input
	SeedList string `json:"seed_list" yaml:"seed_list"`
	// fetch the seeds, and where they redirect to; follow nothing
	SeedsOnly bool `json:"seeds_only" yaml:"seeds_only"`
	// once: each URL is visited once; continuous: pages are visited again, and the crawl goes on until it is stopped
	Mode JobMode `json:"mode,omitempty" yaml:"mode,omitempty"`
	// which URLs come first
	Order Order `json:"order" yaml:"order"`
	// regular expressions (RE2) of URLs whose pages keep bringing new URLs: priority 3 to 4, other pages 1 to 2
	Continuous []string `json:"continuous" yaml:"continuous"`
	// links to follow
	Scope Scope `json:"scope" yaml:"scope"`
	// regular expressions (RE2); a URL must match one, if there are any. Seeds need not
	Include []string `json:"include" yaml:"include"`
	// regular expressions (RE2); a URL must match none
	Exclude []string `json:"exclude" yaml:"exclude"`
	// file, beside this one, with a host, registrable domain or URL prefix a line
	Blacklist string `json:"blacklist" yaml:"blacklist"`
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

	// extensions of the URLs that are fetched, as in html; a URL without any is fetched too. Seeds need none of them
	Ext []string `json:"ext,omitempty" yaml:"ext,omitempty"`
	// extensions of URLs that are not fetched, but for seeds
	SkipExt []string `json:"skip_ext,omitempty" yaml:"skip_ext,omitempty"`

	// stop after so many pages; a continuous crawl keeps so many, and visits them again
	MaxPages int `json:"max_pages" yaml:"max_pages"`
	// follow links so many hops from a seed; 0: the seeds only
	MaxDepth int `json:"max_depth" yaml:"max_depth"`
	// URLs of one depth
	PagesPerLevel int `json:"pages_per_level" yaml:"pages_per_level"`
	// URLs of one host
	PagesPerHost int `json:"pages_per_host" yaml:"pages_per_host"`
	// URLs of one registrable domain
	PagesPerDomain int `json:"pages_per_domain" yaml:"pages_per_domain"`
	// URLs that differ only in the value of one query key
	QueryVariants int `json:"query_variants" yaml:"query_variants"`

	// User-Agent header; empty: Whirlpool/VERSION (+CONTACT)
	UserAgent string `json:"user_agent" yaml:"user_agent"`
	// URL or e-mail address for the owners of the sites; in the User-Agent
	Contact string `json:"contact" yaml:"contact"`
	// ask for no robots.txt, so that no sitemap that one names is known
	IgnoreRobots bool `json:"ignore_robots" yaml:"ignore_robots"`
	// permit loopback and private addresses, where the nodes do
	AllowPrivate bool `json:"allow_private" yaml:"allow_private"`
	// follow nofollow links and store noindex pages all the same
	IgnoreMeta bool `json:"ignore_nofollow" yaml:"ignore_nofollow"`
	// read sitemaps, and the feeds that pages name
	Sitemaps bool `json:"sitemaps" yaml:"sitemaps"`
	// do not strip session ids and tracking parameters
	KeepParams bool `json:"keep_params" yaml:"keep_params"`
	// bits of 64 in which fingerprints of near-duplicates may differ
	NearDuplicate int `json:"near_duplicate" yaml:"near_duplicate"`

	// Accept-Language of each request, as in de,en;q=0.5
	AcceptLanguage string `json:"accept_language,omitempty" yaml:"accept_language,omitempty"`
	// further fields of the requests' headers
	Headers []HeaderRule `json:"headers,omitempty" yaml:"headers,omitempty"`
	// passwords and tokens, by site
	Auth []AuthRule `json:"auth,omitempty" yaml:"auth,omitempty"`
	// keep the cookies that servers set: on, off, or empty: on unless scope is any
	Cookies string `json:"cookies,omitempty" yaml:"cookies,omitempty"`
	// file of cookies, as browsers' add-ons, curl and wget write it (Netscape's format)
	CookiesFile string `json:"cookies_file,omitempty" yaml:"cookies_file,omitempty"`
	// cookies that are sent besides
	Cookie []CookieRule `json:"cookie,omitempty" yaml:"cookie,omitempty"`
	// log in by a form before anything else of that site is fetched
	Login Login `json:"login,omitzero" yaml:"login,omitempty"`
	// follow what looks like a log-out link though the crawl is logged in
	FollowLogout bool `json:"follow_logout,omitempty" yaml:"follow_logout,omitempty"`

	// how robots.txt files are used
	Robots RobotsPolicy `json:"robots" yaml:"robots"`
	// what a host has to bear
	Politeness Politeness `json:"politeness" yaml:"politeness"`
	// how requests reach the web
	Network Network `json:"network,omitzero" yaml:"network,omitempty"`
	// what the crawl as a whole may take
	Bounds Bounds `json:"bounds,omitzero" yaml:"bounds,omitempty"`
	// how failures are repeated
	Retry Retry `json:"retry" yaml:"retry"`
	// bounds of a fetch and a page
	Limits Limits `json:"limits" yaml:"limits"`
	// how pages are visited again, with mode continuous
	Revisit Revisiting `json:"revisit,omitzero" yaml:"revisit,omitempty"`
	// what pages are made of: style sheets, images, scripts, fonts
	Assets Assets `json:"assets,omitzero" yaml:"assets,omitempty"`
	// pages that are kept: type/subtype, type/* or */*
	MediaTypes []string `json:"media_types" yaml:"media_types"`
	// keep the bodies of stored pages, compressed, for "whirlpool extract"
	KeepBodies bool `json:"keep_bodies,omitempty" yaml:"keep_bodies,omitempty"`
	// in a cluster, keep the words of pages for "whirlpool search"; a directory needs nothing
	Search bool `json:"search,omitempty" yaml:"search,omitempty"`
	// how PDF and office documents among media_types are read
	Documents Documents `json:"documents,omitzero" yaml:"documents,omitempty"`
	// pages that only scripts make: which go through a browser besides
	Render Rendering `json:"render,omitzero" yaml:"render,omitempty"`
	// site rules: what is extracted, and which links come first
	Rules []SiteRule `json:"rules" yaml:"rules"`
	// selection policies: what is taken from pages besides, as lists of objects
	Select []Policy `json:"select,omitempty" yaml:"select,omitempty"`
	// what records have of every page besides its text
	Extract Extract `json:"extract,omitzero" yaml:"extract,omitempty"`
	// what the crawl is about: pages about it come first
	Topic Theme `json:"topic,omitzero" yaml:"topic,omitempty"`
	// classes by which pages are told apart
	Classify Classify `json:"classify,omitzero" yaml:"classify,omitempty"`
	// plug-ins between the stages; docs/plugins.md
	Pipeline Pipeline `json:"pipeline,omitzero" yaml:"pipeline,omitempty"`

	// requests of this job at once; a node of a cluster keeps its share, one at least
	Parallelism int `json:"parallelism,omitempty" yaml:"parallelism,omitempty"`
	// what becomes of an execution of a workflow, during and after it; "whirlpool serve" heeds it
	Lifecycle Lifecycle `json:"lifecycle,omitzero" yaml:"lifecycle,omitempty"`
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
	// what the keys below are where they are not named
	Preset Preset `json:"preset" yaml:"preset"`
	// between two requests to a host, from the end of one to the start of the next
	Delay Duration `json:"delay" yaml:"delay"`
	// between two requests to an address; never more than delay
	IPDelay Duration `json:"ip_delay" yaml:"ip_delay"`
	// requests at once to a host
	HostConnections int `json:"host_connections" yaml:"host_connections"`
	// wait at least so many times as long as the last download (Mercator)
	DownloadFactor float64 `json:"download_factor" yaml:"download_factor"`
	// bound of what download_factor asks for
	MaxAdaptive Duration `json:"max_adaptive" yaml:"max_adaptive"`
	// a host that asks for a longer Crawl-delay is left out
	MaxCrawlDelay Duration `json:"max_crawl_delay" yaml:"max_crawl_delay"`
	// how much the links to a host count for its priority and shorten what download_factor asks for
	Popularity float64 `json:"popularity" yaml:"popularity"`
}

// Retry says how failures are repeated.
type Retry struct {
	// attempts after the first
	Max int `json:"max" yaml:"max"`
	// wait before the second attempt, doubled each time
	Base Duration `json:"base" yaml:"base"`
	// a host's rest after 429 or 503 without Retry-After, doubled each time
	SlowMin Duration `json:"slow_min" yaml:"slow_min"`
	// bound of that rest, and of Retry-After
	SlowMax Duration `json:"slow_max" yaml:"slow_max"`
	// quiet time after which a rest starts small again
	Forgive Duration `json:"forgive" yaml:"forgive"`
	// failures that are repeated: timeout, connect, dns, tls, broken, status:429, status:5xx …; empty: those that may pass
	On []string `json:"on,omitempty" yaml:"on,omitempty"`
}

// Limits bound a fetch and a page.
type Limits struct {
	// bytes of a body, after decompression; a longer one is cut
	MaxBody Size `json:"max_body" yaml:"max_body"`
	// bytes of an answer's headers; longer ones are refused
	MaxHeader Size `json:"max_header" yaml:"max_header"`
	// redirects one after the other
	Redirects int `json:"redirects" yaml:"redirects"`
	// time to reach the server
	Connect Duration `json:"connect" yaml:"connect"`
	// time to agree on encryption
	TLSHandshake Duration `json:"tls_handshake" yaml:"tls_handshake"`
	// time from the request to the first byte of the answer
	FirstByte Duration `json:"first_byte" yaml:"first_byte"`
	// time between two reads of the body
	Idle Duration `json:"idle" yaml:"idle"`
	// time of a whole fetch
	Total Duration `json:"total" yaml:"total"`
	// bytes a second; a slower answer is given up
	MinRate Size `json:"min_rate" yaml:"min_rate"`
	// time over which min_rate is measured
	MinRateWindow Duration `json:"min_rate_window" yaml:"min_rate_window"`
	// links that are taken from a page; the first 1,000 beyond are left out by name (links-per-page)
	LinksPerPage int `json:"links_per_page" yaml:"links_per_page"`
	// bytes of a page's main text in its record; a longer one is cut
	MaxText Size `json:"max_text" yaml:"max_text"`
}

// DefaultJob returns the defaults; docs/jobfile.md lists them.
func DefaultJob() Job {
	const s = Duration(time.Second)
	return Job{
		Scope: ScopeDomain, Order: OrderPriority, MaxPages: 10_000, MaxDepth: 20, QueryVariants: 1_000, Sitemaps: true,
		NearDuplicate: 3, Robots: RobotsPolicy{Refresh: Duration(DefaultRobotsRefresh)},
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

var (
	schemeLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(//|[^0-9])`)
	pathLike   = regexp.MustCompile(`^(\.|/[^/])`)
)

func parseSeed(s string) (weburl.URL, error) {
	raw := s
	if !schemeLike.MatchString(s) {
		if pathLike.MatchString(s) {
			return weburl.URL{}, fmt.Errorf("seed %q: it looks like a file and names no host; a seed is an http or https URL",
				maskUserinfo(s))
		}
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
	bad(!robotsName.MatchString(j.Robots.Agent), "robots.agent", "%q: want letters, digits, '-', '_' and '.'",
		j.Robots.Agent)
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

// printable reports whether s may be in a header field.
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
