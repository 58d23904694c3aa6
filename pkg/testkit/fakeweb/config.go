package fakeweb

import (
	"errors"
	"fmt"
	"time"
)

// Config describes a synthetic web. Shares are parts of all pages between 0 and 1. The help tags are also the usage
// texts of the flags [Main] reads.
type Config struct {
	Seed      uint64  `help:"everything follows from this number"`
	Hosts     int     `help:"ordinary hosts; dead, unknown, slow, trap and rebinding hosts come on top"`
	Pages     int     `help:"pages over all ordinary hosts, at least one each"`
	PagesZipf float64 `help:"host k has pages in proportion to 1/k^x; 0 spreads them evenly"`
	PageBytes int     `help:"mean size of a page in bytes, log-normally spread"`
	Links     int     `help:"links on a page; the few pages that index others have more"`
	CrossHost float64 `help:"share of a page's links that lead to other hosts"`

	ExactDuplicates float64       `help:"share of pages that are the bytes of another page"`
	NearDuplicates  float64       `help:"share of pages that are another page with about 1 % of its words changed"`
	Redirects       float64       `help:"share of pages that redirect to another page"`
	Errors404       float64       `help:"share of pages that are linked but gone (404, some 410)"`
	Unavailable     float64       `help:"share of pages that answer 503 or 429 with Retry-After the first one or two times"`
	RetryAfter      time.Duration `help:"how much longer than 1 to 3 s those ask to wait, in whole seconds"`
	Changing        float64       `help:"share of pages whose text changes with time"`
	ChangeEvery     time.Duration `help:"median time between two changes of a changing page"`

	Robots     bool          `help:"hosts have robots.txt: rules, crawl-delays, redirects, missing and failing ones"`
	CrawlDelay time.Duration `help:"the Crawl-delay some hosts ask for, whole seconds or fractions"`
	Sitemaps   bool          `help:"hosts have sitemaps, long ones an index, some compressed"`
	Gzip       float64       `help:"share of hosts that compress when the client accepts it"`

	DeadHosts   int `help:"hosts that resolve and refuse connections"`
	NXHosts     int `help:"hosts that are linked and do not resolve"`
	SlowHosts   int `help:"hosts that send a byte at a time, or nothing"`
	TrapHosts   int `help:"hosts without end: calendars, growing paths, session ids, facets"`
	RebindHosts int `help:"hosts whose name resolves to a public address first and to loopback afterwards"`

	SlowByte    time.Duration `help:"time between two bytes of a slow host"`
	Delay       time.Duration `help:"time the server thinks before it answers"`
	HeaderNoise int           `help:"meaningless response headers on every answer"`
	Addresses   int           `help:"loopback addresses the hosts share; 0 for one a host, at most 200"`
	DNSTTL      time.Duration `help:"time to live of DNS answers"`
	TLS         bool          `help:"serve https with certificates of the server's own authority"`
}

// MaxAddresses bounds the listening sockets of one server.
const MaxAddresses = 4000

// defaultAddresses is where one address a host stops when the configuration does not say.
const defaultAddresses = 200

// Default is a small web with a little of everything that a first look should show. The hosts with a
// Crawl-delay take longest: about a second a page.
func Default() Config {
	return Config{
		Seed: 1, Hosts: 60, Pages: 3000, PagesZipf: 0.6, PageBytes: 16 << 10, Links: 20, CrossHost: 0.15,
		ExactDuplicates: 0.04, NearDuplicates: 0.03, Redirects: 0.03, Errors404: 0.02, Unavailable: 0.005,
		ChangeEvery: time.Minute, Robots: true, CrawlDelay: time.Second, Sitemaps: true, Gzip: 0.2,
		DeadHosts: 1, NXHosts: 1, TrapHosts: 1, SlowByte: time.Second, DNSTTL: 5 * time.Minute,
	}
}

// Plain is the web of benchmarks: n pages of about 30 KB with 40 links on so many hosts, without robots.txt files,
// copies, failures or delays.
func Plain(hosts, pages int) Config {
	return Config{
		Seed: 1, Hosts: hosts, Pages: pages, PageBytes: 30 << 10, Links: 40, CrossHost: 0.1,
		ChangeEvery: time.Minute, SlowByte: time.Second, DNSTTL: time.Hour,
	}
}

// Validate reports every value that no web can be made of.
func (c Config) Validate() error {
	return errors.Join(c.validateShares(), c.validateCounts(), c.validateDurations())
}

func (c Config) validateShares() error {
	var errs []error
	for _, s := range []struct {
		name  string
		value float64
	}{
		{"CrossHost", c.CrossHost}, {"ExactDuplicates", c.ExactDuplicates}, {"NearDuplicates", c.NearDuplicates},
		{"Redirects", c.Redirects}, {"Errors404", c.Errors404}, {"Unavailable", c.Unavailable},
		{"Changing", c.Changing}, {"Gzip", c.Gzip},
	} {
		if !(s.value >= 0 && s.value <= 1) { // also refuses NaN
			errs = append(errs, fmt.Errorf("fakeweb: %s is %v, want 0 to 1", s.name, s.value))
		}
	}
	if sum := c.special(); sum > 0.7 {
		errs = append(errs, fmt.Errorf("fakeweb: copies, redirects, errors and changes make up %.2f of the pages, want at "+
			"most 0.7", sum))
	}
	if !(c.PagesZipf >= 0 && c.PagesZipf <= 3) {
		errs = append(errs, fmt.Errorf("fakeweb: PagesZipf is %v, want 0 to 3", c.PagesZipf))
	}
	return errors.Join(errs...)
}

// special is the share of pages that are not simply there; the originals of copies count too.
func (c Config) special() float64 {
	return c.ExactDuplicates + c.NearDuplicates + c.originals() + c.Redirects + c.Errors404 + c.Unavailable + c.Changing
}

// originals is the share of pages set aside as originals of copies: one for two copies, and enough of them that a
// copy finds one by drawing pages at random.
func (c Config) originals() float64 {
	if copies := c.ExactDuplicates + c.NearDuplicates; copies > 0 {
		return max(copies/2, 0.02)
	}
	return 0
}

func (c Config) validateCounts() error {
	var errs []error
	for _, n := range []struct {
		name          string
		value, lo, hi int
	}{
		{"Hosts", c.Hosts, 1, 10_000_000}, {"Pages", c.Pages, c.Hosts, 1 << 40},
		{"PageBytes", c.PageBytes, 1, 8 << 20}, {"Links", c.Links, 0, 10_000},
		{"DeadHosts", c.DeadHosts, 0, 99_999}, {"NXHosts", c.NXHosts, 0, 99_999},
		{"SlowHosts", c.SlowHosts, 0, 99_999}, {"TrapHosts", c.TrapHosts, 0, 99_999},
		{"RebindHosts", c.RebindHosts, 0, 99_999}, {"HeaderNoise", c.HeaderNoise, 0, 1000},
		{"Addresses", c.Addresses, 0, MaxAddresses},
	} {
		if n.value < n.lo || n.value > n.hi {
			errs = append(errs, fmt.Errorf("fakeweb: %s is %d, want %d to %d", n.name, n.value, n.lo, n.hi))
		}
	}
	return errors.Join(errs...)
}

func (c Config) validateDurations() error {
	var errs []error
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"CrawlDelay", c.CrawlDelay}, {"Delay", c.Delay}, {"DNSTTL", c.DNSTTL}} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("fakeweb: %s is %v, want no less than 0", d.name, d.value))
		}
	}
	if c.Changing > 0 && c.ChangeEvery <= 0 {
		errs = append(errs, fmt.Errorf("fakeweb: ChangeEvery is %v, but pages change", c.ChangeEvery))
	}
	if c.SlowHosts > 0 && c.SlowByte <= 0 {
		errs = append(errs, fmt.Errorf("fakeweb: SlowByte is %v, but there are slow hosts", c.SlowByte))
	}
	return errors.Join(errs...)
}

// addresses is how many loopback addresses the hosts share.
func (c Config) addresses() int {
	if c.Addresses > 0 {
		return c.Addresses
	}
	return min(c.Hosts, defaultAddresses)
}
