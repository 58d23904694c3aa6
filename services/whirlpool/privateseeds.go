package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// How many seeds' names are resolved before a crawl begins, how many at once, and how long that may take. It only
// reports mistakes early: the fetcher checks each address that it dials.
const (
	maxSeedLookups  = 64
	seedLookups     = 16
	seedLookupsTime = 3 * time.Second
	maxSeedsTold    = 3
)

// refusePrivate ends a crawl whose seeds are all at private addresses that are not permitted, and warns where some are.
func (f *crawlFlags) refusePrivate(ctx context.Context, job *crawl.Job, opt *node.LocalOptions,
	stderr io.Writer) error {
	if opt.Node.Fetch.AllowPrivate || job.AllowPrivate && opt.Node.Fetch.PrivateJobs {
		return nil
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return exitStatus{exitUsage, err}
	}
	resolver, err := dnscache.New(opt.DNS, nil)
	if err != nil {
		return err
	}
	lookup := resolver.Lookup
	if len(job.Network.Proxies) > 0 { // which resolves the names
		lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, nil }
	}
	private := privateSeeds(ctx, seeds, func(ctx context.Context, seed weburl.URL) ([]netip.Addr, error) {
		if isResolved(&job.Network, seed) { // what the name servers say of it does not count
			return nil, nil
		}
		return lookup(ctx, seed.Hostname())
	})
	if len(private) == 0 {
		return nil
	}
	text := strings.Join(private[:min(len(private), maxSeedsTold)], "; ")
	if n := len(private) - maxSeedsTold; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	if len(private) == len(seeds) {
		return usage("%s: private addresses are refused; --allow-private permits them", text)
	}
	if !f.quiet {
		fmt.Fprintf(stderr, "whirlpool: %s: refused as long as --allow-private does not permit it\n", text)
	}
	return nil
}

// isResolved reports whether network.resolve has the addresses of a seed.
func isResolved(n *crawl.Network, seed weburl.URL) bool {
	return slices.ContainsFunc(n.Resolve, func(line string) bool {
		r, err := crawl.ParseResolve(line)
		return err == nil && (r.Host == seed.Hostname() || r.Host == "*") && strconv.Itoa(r.Port) == seed.EffectivePort()
	})
}

// privateSeeds says of each seed at a private address alone which address that is.
func privateSeeds(ctx context.Context, seeds []weburl.URL,
	lookup func(context.Context, weburl.URL) ([]netip.Addr, error)) (private []string) {
	ctx, cancel := context.WithTimeout(ctx, seedLookupsTime)
	defer cancel()
	found := make([]error, len(seeds))
	var g errgroup.Group
	g.SetLimit(seedLookups)
	for i, s := range seeds {
		found[i] = netguard.CheckHost(s.Hostname())
		if found[i] == nil && i < maxSeedLookups {
			g.Go(func() error {
				addrs, err := lookup(ctx, s)
				if err == nil { // a name that cannot be resolved is the fetcher's to report
					found[i] = allPrivate(addrs)
				}
				return nil
			})
		}
	}
	_ = g.Wait() // none fails
	for i, err := range found {
		if err == nil {
			continue
		}
		text := err.Error()
		if e := (*netguard.Error)(nil); errors.As(err, &e) && e.Addr.IsValid() &&
			e.Addr.String() != strings.Trim(seeds[i].Hostname(), "[]") {
			text = fmt.Sprintf("%s has the address %v, which is %s", seeds[i].Hostname(), e.Addr, e.Kind)
		}
		private = append(private, fmt.Sprintf("seed %s: %s", seeds[i], text))
	}
	return private
}

// allPrivate returns what is wrong with the first address, where none is public.
func allPrivate(addrs []netip.Addr) (first error) {
	for _, a := range addrs {
		err := netguard.Check(a)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}
