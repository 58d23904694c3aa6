// Package tryout sends one URL through the stages and tells what each of them made of it: what a job file, a plug-in
// or a site rule does is seen at once, without a crawl. `whirlpool try` and the dry runs of a server are this.
//
// Its duties, in order:
//
//  1. Judge the URL by the job's rules, as if a page had linked to it.
//  2. Ask for its robots.txt, where the crawler has none, wait as long as politeness asks for, and ask for the URL: two
//     requests, but for the redirects of a robots.txt. Beside a crawl it waits for its turn of the host. What
//     robots.txt or the guard of private addresses forbids is not asked for.
//  3. Parse the page, apply the site rules, judge each of its links, and compare it with what is stored.
//
// Nothing is stored and nothing claimed: what the stages keep is kept in memory and goes with the trial.
package tryout

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Options say what is tried and how.
type Options struct {
	Job   *crawl.Job
	URL   string
	Depth int // hops from a seed at which the URL is said to be found; seeds are at 0
	Fetch fetcher.Config
	DNS   dnscache.Config
	Log   *slog.Logger
	// Given is a page that is tried instead of what the URL answers; nil: it is asked for.
	Given *Given
	// Resolver finds addresses; nil: one that DNS describes.
	Resolver fetcher.Resolver
	// Turns gives a trial its turns of hosts beside the crawls; nil: nobody else crawls here.
	Turns Turns
	// Patience is how long it waits for a turn at most; 0: as long as ctx lasts.
	Patience time.Duration
	// Opener opens documents that are no pages; nil: one of its own.
	Opener crawl.Opener
	// Plugins makes what runs the nodes of the job's pipeline, for this trial alone; nil: they are left out.
	Plugins func(log *slog.Logger) *chain.Runner
	Stored  Stored
}

// Turns gives turns of hosts: a request each, beside those of the crawls. A host that has none in time is a
// *frontier.TurnError.
type Turns interface {
	Visit(ctx context.Context, ask frontier.Ask) (Turn, error)
}

// Turn is a turn of a host, until its End: out is what became of the request; nil: none was made. Addr is the address
// that it is for; the zero one: none was looked up.
type Turn interface {
	Addr() netip.Addr
	End(out *crawl.Outcome)
}

// Given is a page that is tried without a request.
type Given struct {
	Body        []byte
	ContentType string // empty: text/html, in UTF-8
}

// Stored is what crawls have stored, only to be read; a nil part is not looked at.
type Stored struct {
	Robots interface {
		Robots(ctx context.Context, origin string) (crawl.Robots, bool, error)
	}
	// Copies compares the page with those of the job; see crawl.ContentSet.
	Copies interface {
		Peek(ctx context.Context, fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool) (crawl.Seen, error)
	}
	// URLs says what is known of the page's links.
	URLs interface {
		Lookup(ctx context.Context, job crawl.JobID, keys ...weburl.Key) ([]crawl.Entry, error)
	}
	// Jars has the job's cookies, and whether it is logged in.
	Jars interface {
		Jar(ctx context.Context, job crawl.JobID, site string) (crawl.Jar, error)
	}
}
