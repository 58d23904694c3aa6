package simulation

import (
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Config says what is simulated. Everything else is bounded by the settings of the frontier and the stages.
type Config struct {
	Nodes  int
	Vnodes int // a node
	Seed   uint64

	// The web. The i-th of all hosts has 1/i of the URLs of the first (Zipf's law), but no more than MaxHost.
	HostsANode, URLsANode int
	SeedsANode            int // hosts whose home pages are known at the beginning
	MaxHost               int
	Links                 int // of a page, those outside included
	Outside, OutsideHosts int // links to other hosts, and to how many of these
	Failing               int // of 1,000 requests fail
	// Popular of 1,000 links to other hosts lead to home pages, the k-th of WellKnown in proportion to 1/k.
	Popular, WellKnown int

	// A node.
	Window int // fetches under way at most
	// CacheBits is due.Deps's: a thousand caches of the usual size are 8 GB.
	CacheBits int
	// Recent is the logarithm of the URLs of other nodes that a host splitter remembers; 0: it remembers none.
	Recent  int
	Answer  time.Duration // mean time of a request
	Work    time.Duration // from the page to its links: parser, content-seen, URL filter
	Message time.Duration // of the broker for a message; it handles one after the other
	Hop     time.Duration // to a broker and back, besides
	Delay   time.Duration // a host

	Timeout, Grace time.Duration // of a session with the ring's store; until a missing node is dead
	Patience       time.Duration // until pages whose links a lost node had are fetched again

	Broken Broken // negative controls
}

// Broken is what is broken on purpose, so that a check can be seen to fail.
type Broken struct {
	// Unfenced is a node that believes eight times too long that its registration stands, and whose late writes count.
	Unfenced   string
	NoSince    bool // frontiers are not told since when they may contact a host
	NoFollow   bool // nobody knows whose links were on their way
	NoRecovery bool // the ledger gives back nothing
	// Unconfirmed are host splitters that believe that what they sent is claimed.
	Unconfirmed bool
}

// Default is a node as slow as a thousand of them can be simulated: 16 fetches at once. Of 40 links, 30 stay on the
// host and 10 lead to five others. The broker's 0.2 ms a message was measured (docs/benchmarks.md); that it handles
// them on one core was chosen.
func Default() Config {
	return Config{Nodes: 3, Vnodes: 256, Seed: 1, HostsANode: 1000, URLsANode: 10_000, SeedsANode: 50, MaxHost: 1000,
		Links: 40, Outside: 10, OutsideHosts: 5, Failing: 10, WellKnown: 1000, Window: 16, CacheBits: 14,
		Answer: 400 * time.Millisecond, Work: 30 * time.Millisecond, Message: 200 * time.Microsecond,
		Hop: time.Millisecond, Delay: time.Second, Timeout: 10 * time.Second, Grace: 15 * time.Second,
		Patience: 20 * time.Second}
}

// Validate reports what makes no sense.
func (c *Config) Validate() error {
	var errs []error
	for name, n := range map[string]int{"nodes": c.Nodes, "virtual nodes": c.Vnodes, "hosts a node": c.HostsANode,
		"URLs a node": c.URLsANode, "URLs a host": c.MaxHost, "window": c.Window} {
		if n < 1 {
			errs = append(errs, fmt.Errorf("simulation: %s %d: want at least 1", name, n))
		}
	}
	if c.Outside > c.Links || c.OutsideHosts > c.Outside || c.Outside > 0 && c.OutsideHosts < 1 {
		errs = append(errs, fmt.Errorf("simulation: %d links, %d to %d other hosts", c.Links, c.Outside, c.OutsideHosts))
	}
	return errors.Join(errs...)
}

const jobID = crawl.JobID("sim")

// job crawls everything.
func (c *Config) job() *crawl.Job {
	j := crawl.DefaultJob()
	j.ID, j.Seeds, j.Scope = jobID, []string{"http://h0.example/0"}, crawl.ScopeAny
	j.MaxPages, j.MaxDepth, j.PagesPerHost = 0, -1, c.MaxHost
	j.Politeness.Delay, j.Politeness.IPDelay = crawl.Duration(c.Delay), 0
	return &j
}
