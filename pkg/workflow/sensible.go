package workflow

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Sensible makes the source of a definition for a first crawl from one URL: its reasons are in it as comments.
func Sensible(raw string) (source string, err error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return "", invalidURL("type a URL to start from, as in https://example.com/")
	}
	// A person who types a name means the site that a browser would show.
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
	}
	u, err := url.Parse(raw)
	if err == nil && u.User != nil {
		return "", invalidURL("the URL has a user or a password in it: leave them out; auth in the definition takes " +
			"references to them")
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", invalidURL("that is no URL of a page: want http or https and a host, as in https://example.com/")
	}
	if _, err := weburl.Parse(raw); err != nil {
		return "", invalidURL(fmt.Sprintf("that is no URL of a page: %v", err))
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	return sensible(u), nil
}

func invalidURL(message string) error { return &Invalid{[]Fault{{Key: "url", Message: message}}} }

func sensible(u *url.URL) string {
	scope, why := scopeFor(u)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if id := slugOf(hostOf(u.String())); id != "" {
		line("id: %q", id)
	}
	line("seeds: [%q]", u.String())
	line("scope: %s  # %s", scope, why)
	line("max_pages: 1000  # enough for a first look; raise it when the pages are those you want")
	line("max_depth: 10  # links away from the seed: deeper pages are rarely meant to be found")
	line("query_variants: 200  # of one page with other values behind ?: calendars and sort orders end there")
	line("sitemaps: true  # the site's own list of its pages")
	line("politeness:")
	line("  delay: 1s  # between two requests to a host: what a site bears without noticing")
	line("  host_connections: 1")
	line("limits:")
	line("  max_body: 10MiB  # larger pages are cut")
	if private(u.Hostname()) {
		line("allow_private: true  # the URL lies in your own network; the server has to permit it too")
	}
	return b.String()
}

// scopeFor returns the smallest scope that holds the pages a user expects after typing the URL.
func scopeFor(u *url.URL) (crawl.Scope, string) {
	dir := u.Path[:strings.LastIndexByte(u.Path, '/')+1]
	_, err := netip.ParseAddr(u.Hostname())
	switch {
	case dir != "/":
		return crawl.ScopePrefix, "you named a part of the site: only what lies below " + strings.ReplaceAll(dir, "\n",
			"") + "; host would be all of it"
	case err == nil || !strings.Contains(u.Hostname(), "."):
		return crawl.ScopeHost, "the host has no domain of its own"
	case strings.Count(u.Hostname(), ".") == 1 || strings.HasPrefix(u.Hostname(), "www."):
		return crawl.ScopeDomain, "the site with its other hosts, such as blog. and shop.; host would be this one alone"
	}
	return crawl.ScopeHost, "you named one host of a domain; domain would be the others too"
}

// private reports whether a host is surely not of the public Web.
func private(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
