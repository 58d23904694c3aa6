package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/traps"
)

// RulesVerdict is what the job's own rules say: scope, patterns, blacklist, depth, traps.
type RulesVerdict struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
	Text    string `json:"text"`
	Seed    bool   `json:"seed,omitempty"`
	Depth   int    `json:"depth"` // -1: no page that links to it is known, so neither is its depth
}

// judge asks the rules of the job as they are now. They may have been others when the URL was met.
func (s *story) judge(rules *urlrules.Rules, e *Explanation) RulesVerdict {
	v := RulesVerdict{Depth: -1}
	t := crawl.Task{Job: s.job.ID, URL: e.URL}
	last := e.lastMet()
	switch {
	case e.record != nil:
		v.Depth = e.record.Depth
	case last != nil:
		v.Depth, t.Kind = last.Depth, last.Kind
	}
	if last != nil {
		t.Referrer = last.Referrer
		v.Seed = rules.Listed() && v.Depth == 0 && t.Referrer.IsZero() // nothing else has no referrer
	} else if rules.Listed() {
		t.Referrer = e.URL // the scope is that of the page that names it: what of its own host does, can be
	}
	seeds, _ := s.job.SeedURLs() // checked before the crawl began
	for _, seed := range seeds {
		if rules.Canonical(seed) == e.URL {
			v.Seed, v.Depth = true, 0
		}
	}
	t.Depth = max(v.Depth, 0)
	if v.Seed {
		v.Allowed, v.Text = true, "a seed: scope and patterns do not bind it"
		return v
	}
	v.Reason, _ = rules.Judge(&t, e.Time)
	v.Allowed = v.Reason == ""
	v.Text = "within " + s.bounds(v.Depth)
	if t.Kind == crawl.KindAsset {
		v.Text = fmt.Sprintf("an asset, within assets.scope %q", s.job.Assets.Scope)
	}
	if !v.Allowed {
		v.Text = reasonText(s.job, v.Reason, e.URL.String())
	}
	return v
}

// bounds describes the rules that a URL kept.
func (s *story) bounds(depth int) string {
	j := s.job
	text := scopeText(j)
	if n := len(j.Include) + len(j.Exclude); n > 0 {
		text += fmt.Sprintf(", passes %d patterns", n)
	}
	switch {
	case depth < 0:
		text += ", depth unknown"
	case j.MaxDepth >= 0:
		text += fmt.Sprintf(", depth %d of at most %d", depth, j.MaxDepth)
	default:
		text += fmt.Sprintf(", depth %d", depth)
	}
	return text + ", no trap"
}

func scopeText(j *crawl.Job) string {
	var names []string
	seeds, _ := j.SeedURLs()
	for _, s := range seeds {
		switch j.Scope {
		case crawl.ScopeHost:
			names = append(names, s.HostKey())
		case crawl.ScopeDomain:
			names = append(names, s.RegistrableDomain())
		case crawl.ScopePrefix:
			names = append(names, s.String())
		}
	}
	if j.Listed() && (j.Scope == crawl.ScopeHost || j.Scope == crawl.ScopeDomain) {
		return fmt.Sprintf("scope %q of the page that names it", j.Scope)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return fmt.Sprintf("scope %q", j.Scope)
	}
	return fmt.Sprintf("scope %q (%s%s)", j.Scope, strings.Join(names[:min(3, len(names))], ", "), more(len(names)-3))
}

// reasonText explains a reason of crawl.log for people.
func reasonText(j *crawl.Job, reason, url string) string {
	switch reason {
	case crawl.ReasonScope:
		return "outside " + scopeText(j)
	case crawl.ReasonExclude:
		return fmt.Sprintf("matches the exclude pattern %q", firstMatch(j.Exclude, url))
	case crawl.ReasonInclude:
		return fmt.Sprintf("matches none of the %d include patterns", len(j.Include))
	case crawl.ReasonBlacklist:
		return "on the blacklist " + j.Blacklist
	case crawl.ReasonLevelBudget:
		return fmt.Sprintf("its depth has as many URLs as pages_per_level %d allows", j.PagesPerLevel)
	case crawl.ReasonHostBudget:
		if j.PagesPerHost > 0 {
			return fmt.Sprintf("its host has as many URLs as pages_per_host %d allows", j.PagesPerHost)
		}
	case crawl.ReasonVariantBudget:
		return fmt.Sprintf("more than query_variants %d URLs differ from it in the value of one query key only",
			j.QueryVariants)
	case crawl.ReasonDepth:
		return fmt.Sprintf("deeper than max_depth %d", j.MaxDepth)
	}
	if text, ok := reasonTexts[reason]; ok {
		return text
	}
	if node, ok := crawl.PluginOf(reason); ok {
		return pluginText(j, node)
	}
	if text, ok := documentTexts[reason]; ok {
		return text
	}
	return reason
}

// pluginText explains what a node of the pipeline did.
func pluginText(j *crawl.Job, node string) string {
	for _, n := range j.Pipeline.Nodes {
		if n.ID == node {
			return fmt.Sprintf("node %s of the pipeline (%s, at %s) dropped it", node, n.Use, n.At)
		}
	}
	return fmt.Sprintf("node %s of an earlier pipeline dropped it", node)
}

func firstMatch(patterns []string, url string) string {
	for _, p := range patterns {
		if re, err := regexp.Compile(p); err == nil && re.MatchString(url) {
			return p
		}
	}
	return ""
}

var reasonTexts = map[string]string{
	crawl.ReasonLevelBudget:   "its depth has as many URLs as pages_per_level allows",
	crawl.ReasonHostBudget:    "its host has as many URLs as pages_per_host allows",
	crawl.ReasonTopic:         "the page that links to it is off the topic, and the page before that as well",
	crawl.ReasonTopicHost:     "the first pages of its host are off the topic",
	crawl.ReasonDomainBudget:  "its registrable domain has as many URLs as pages_per_domain allows",
	crawl.ReasonSitemapBudget: "its host, its domain or the job has as many sitemaps and feeds as its page limit allows",
	crawl.ReasonAssetBudget:   "its host or the job has as many assets as assets.per_host or assets.max allows",
	crawl.ReasonNoAssets:      "an asset of a page, and the job fetches none (assets.scope)",
	crawl.ReasonNotAsset:      "asked for as an asset, it is a page: fetched again as one, or left out",
	crawl.ReasonVariantBudget: "too many URLs differ from it in the value of one query key only (query_variants)",
	crawl.ReasonPageBudget:    "the crawl has as many pages as max_pages allows",
	crawl.ReasonNoFollow:      "the links to it, or the pages that they stand on, are marked nofollow",
	crawl.ReasonLinksPerPage:  "its page has more links than are read (links_per_page), and it is none of the first",
	crawl.ReasonLogin:         "it waited for the log-in of its site, or that did not come about (login)",
	crawl.ReasonLoggedOut: "its answer was that of somebody who is not logged in, right after a log-in " +
		"(login.check)",
	crawl.ReasonLogout: "it looks like a log-out link, and the crawl is logged in; follow_logout: true " +
		"follows it",
	crawl.ReasonSecret:         "a secret that its request needs could not be read",
	crawl.ReasonCookie:         "its redirects led back with a cookie, or it refused those that it set: asked again",
	crawl.ReasonNoFeeds:        "a feed, and the job reads neither sitemaps nor feeds",
	crawl.ReasonSeedsOnly:      "a link, a sitemap or a feed, and the job fetches its seeds only (seeds_only)",
	crawl.ReasonRobots:         "robots.txt forbids it",
	crawl.ReasonRobotsDown:     "robots.txt could not be had, so nothing of its origin may be fetched",
	crawl.ReasonCrawlDelay:     "robots.txt asks for a longer Crawl-delay than politeness.max_crawl_delay",
	crawl.ReasonRedirects:      "a chain of more redirects than limits.redirects",
	crawl.ReasonRedirectLoop:   "its redirects lead back to it",
	crawl.ReasonRedirectTarget: "a redirect that leads nowhere",
	crawl.ReasonMediaType:      "its media type is not among media_types",
	crawl.ReasonPrivateAddress: "its host has a private address; --allow-private permits that, with --fresh where the crawl " +
		"began without it (on a cluster, where fetch.allow_private_jobs does)",
	crawl.ReasonDNS:              "the name of its host could not be looked up",
	crawl.ReasonNoSuchHost:       "its host does not exist",
	crawl.ReasonConnect:          "no connection to its host",
	crawl.ReasonHostDown:         "its host failed so often in a row that it was given up",
	crawl.ReasonTLS:              "the certificate or the TLS handshake failed",
	crawl.ReasonExtension:        "its extension is not among those of ext, or among those of skip_ext",
	crawl.ReasonProxy:            "a proxy failed, which is not the site's fault; it is tried again",
	crawl.ReasonNoProxy:          "no proxy could be asked; it is tried again",
	crawl.ReasonCertificate:      "the client certificate cannot be used; it is tried again",
	crawl.ReasonOpenFiles:        "the crawler could open no more files; it is tried again",
	crawl.ReasonTimeout:          "the answer did not come in time",
	crawl.ReasonTooSlow:          "the answer came slower than limits.min_rate",
	crawl.ReasonBroken:           "the answer was no HTTP, or ended early",
	crawl.ReasonHeaderTooLarge:   "the answer's header is longer than limits.max_header",
	crawl.ReasonEncoding:         "the answer's Content-Encoding could not be undone",
	crawl.ReasonStatus:           "the server answered with an error status",
	crawl.ReasonInterrupted:      "the fetcher stopped in the middle of it",
	crawl.ReasonLeaseLost:        "its lease, or what came of it, was lost with a queue; it is leased again",
	crawl.ReasonBodyLost:         "it was fetched, and its body lost before it was parsed",
	traps.ReasonURLLength:        "a trap by its look: the URL is too long",
	traps.ReasonPathDepth:        "a trap by its look: too many path segments",
	traps.ReasonRepeatedSegment:  "a trap by its look: path segments repeat",
	traps.ReasonCalendar:         "a trap by its look: a calendar page far from today",
	traps.ReasonListing:          "a trap by its look: a directory's listing in another order, which has nothing new",
	crawl.ReasonScheme:           "its scheme is not http or https",
	crawl.ReasonPort:             "its port is none of the web: browsers refuse it, too. Make it a seed if it is meant",
	crawl.ReasonTruncatedMaxBody: "the body is longer than limits.max_body",
}
