// Package urlrules compiles what a job says about URLs, and answers for one URL: its canonical form, whether it lies in
// the scope, and why it is not to be fetched, if it is not: blacklist, scope, patterns, depth, traps. The URL filter
// uses it, and so do reports that explain what the filter did.
package urlrules

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/forms"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/traps"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Rules are what a job says about URLs, compiled.
type Rules struct {
	job      *crawl.Job
	agent    string // that robots.txt files know the job's crawler by
	canon    *weburl.Canonicalizer
	domains  map[string]bool // scope domain: the seeds' registrable domains
	hosts    map[string]bool // scope host: the seeds' host keys
	prefixes []string        // scope prefix: the seeds' directories, http and https alike
	include  []*regexp.Regexp
	exclude  []*regexp.Regexp
	// continuous are the patterns of pages that keep bringing new URLs.
	continuous []*regexp.Regexp
	ext, skip  extensions
	blacklist  *Blacklist
	traps      traps.Config
	scopeRule  string // the rules as they are told; those of the first revision are not: it is kept, and so are they
	depthRule  string
	names      bool // tell them
	seeds      map[weburl.URL]bool
	stayIn     bool // follow no link that logs out
}

// Compile compiles a job's rules and its blacklist: that which the job carries, or else the file. Its errors name
// the pattern or the file.
func Compile(job *crawl.Job) (*Rules, error) {
	r := &Rules{job: job, agent: job.RobotsAgent(), canon: job.Canonicalizer(), domains: map[string]bool{},
		hosts: map[string]bool{}, traps: traps.Default(), seeds: map[weburl.URL]bool{}, names: job.Epoch > 1,
		stayIn: job.Authenticates() && !job.FollowLogout}
	if r.names {
		r.scopeRule, r.depthRule = "scope "+string(job.Scope), fmt.Sprintf("max_depth %d", job.MaxDepth)
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return nil, err
	}
	for _, s := range seeds {
		s = r.canon.Canonical(s)
		r.domains[s.RegistrableDomain()] = true
		r.hosts[s.HostKey()] = true
		r.seeds[s] = true
		r.prefixes = append(r.prefixes, directory(s))
	}
	var errInc, errExc error
	r.include, errInc = patterns("include", job.Include)
	r.exclude, errExc = patterns("exclude", job.Exclude)
	r.continuous, err = patterns("continuous", job.Continuous)
	if err := errors.Join(errInc, errExc, err); err != nil {
		return nil, err
	}
	r.ext, r.skip = newExtensions(job.Ext), newExtensions(job.SkipExt)
	if r.blacklist, err = blacklistOf(job); err != nil {
		return nil, err
	}
	return r, nil
}

func patterns(name string, list []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, p := range list {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("%s pattern %q: %w", name, p, err)
		}
		out = append(out, re)
	}
	return out, nil
}

// directory is host and path of a URL up to the last slash: /a/b.html and /a/ have the directory /a/. The scheme
// does not count: a seed named without one is taken for http, and most sites redirect that to https.
func directory(u weburl.URL) string {
	path := u.Path()
	return u.HostKey() + path[:strings.LastIndexByte(path, '/')+1]
}

// Job returns the job whose rules these are. Callers must not change it.
func (r *Rules) Job() *crawl.Job { return r.job }

// Agent is the name that robots.txt files know the job's crawler by.
func (r *Rules) Agent() string { return r.agent }

// Continuous reports whether the page of a URL keeps bringing new ones, as the job says.
func (r *Rules) Continuous(u weburl.URL) bool {
	for _, re := range r.continuous {
		if re.MatchString(u.String()) {
			return true
		}
	}
	return false
}

// IsSeed reports whether u is one of the job's seeds.
func (r *Rules) IsSeed(u weburl.URL) bool { return r.seeds[u] }

// Canonical returns the canonical form of u as the job wants it.
func (r *Rules) Canonical(u weburl.URL) weburl.URL { return r.canon.Canonical(u) }

// Judge says why a candidate is not to be fetched, and by which rule; empty: it is. It does not ask robots.txt. A
// sitemap may lie on another host than the pages it lists, so scope and patterns do not bind it here (see package
// urlfilter); its links are judged like all others. A feed is named by a page, unlike a sitemap: what binds pages
// binds it too. The rule is told where it is not that of the job's first revision.
func (r *Rules) Judge(t *crawl.Task, now time.Time) (reason, rule string) {
	href := t.URL.String()
	if t.URL.IsForeign() {
		return crawl.ReasonScheme, ""
	}
	if entry, on := r.blacklist.Entry(t.URL); on {
		return crawl.ReasonBlacklist, r.name(entry)
	}
	switch {
	case r.leadsToBadPort(t):
		return crawl.ReasonPort, ""
	case t.Kind == crawl.KindPage || t.Feed:
		if reason, rule := r.judgeWanted(t, href); reason != "" {
			return reason, rule
		}
	case t.Kind == crawl.KindAsset:
		if reason, rule := r.judgeAsset(t.URL, href); reason != "" {
			return reason, rule
		}
		return r.trap(t, now), "" // its depth is that of its page
	case t.Kind == crawl.KindResource:
		return r.judgeResource(t.URL, href)
	}
	if r.job.MaxDepth >= 0 && t.Depth > r.job.MaxDepth {
		return crawl.ReasonDepth, r.depthRule
	}
	return r.trap(t, now), ""
}

// trap says how the URL of a candidate looks like a trap. A listing in another order is one where the listing itself
// links it; another page may link nothing else of that directory.
func (r *Rules) trap(t *crawl.Task, now time.Time) string {
	reason := r.traps.Check(t.URL, now)
	if reason == traps.ReasonListing &&
		(t.Referrer.HostKey() != t.URL.HostKey() || t.Referrer.Path() != t.URL.Path()) {
		return ""
	}
	return reason
}

// leadsToBadPort reports whether a candidate is at a port that is not for the web: a mistake, or meant to make crawlers
// attack somebody. Who names such a port as a seed knows what is there.
func (r *Rules) leadsToBadPort(t *crawl.Task) bool {
	if !t.URL.HasBadPort() || t.Seed || r.hosts[t.URL.HostKey()] {
		return false
	}
	return !r.Listed() || t.Referrer.IsZero() || t.Referrer.HostKey() != t.URL.HostKey()
}

// judgeWanted applies scope and patterns.
func (r *Rules) judgeWanted(t *crawl.Task, href string) (reason, rule string) {
	if !r.inScopeFrom(t.URL, t.Referrer) {
		return crawl.ReasonScope, r.scopeRule
	}
	if r.stayIn && forms.IsLogout(t.URL) {
		return crawl.ReasonLogout, ""
	}
	if rule, excluded := r.excluded(href); excluded {
		return crawl.ReasonExclude, rule
	}
	if reason, rule := r.judgeExtension(t.URL); reason != "" {
		return reason, rule
	}
	if len(r.include) == 0 {
		return "", ""
	}
	for _, re := range r.include {
		if re.MatchString(href) {
			return "", ""
		}
	}
	return crawl.ReasonInclude, ""
}

// excluded reports whether a URL matches an exclude pattern, and which.
func (r *Rules) excluded(href string) (rule string, yes bool) {
	for _, re := range r.exclude {
		if re.MatchString(href) {
			return r.name(re.String()), true
		}
	}
	return "", false
}

// judgeAsset applies what binds assets: the scope of assets, and what the user excludes. Include patterns say which
// pages are wanted, and so do extensions (ext): they do not bind assets.
func (r *Rules) judgeAsset(u weburl.URL, href string) (reason, rule string) {
	switch {
	case !r.job.Assets.Wanted():
		return crawl.ReasonNoAssets, ""
	case r.job.Assets.Scope == crawl.AssetsJob && !r.InScope(u):
		return crawl.ReasonScope, r.scopeRule
	case r.stayIn && forms.IsLogout(u):
		return crawl.ReasonLogout, ""
	case r.skip != nil && r.skip[extensionOf(u)]:
		return crawl.ReasonExtension, r.name("skip_ext " + extensionOf(u))
	}
	if rule, excluded := r.excluded(href); excluded {
		return crawl.ReasonExclude, rule
	}
	return "", ""
}

// judgeResource applies what binds what a page's scripts ask for: what the user excludes. It may lie on any host, as it
// does for whoever looks at the page.
func (r *Rules) judgeResource(u weburl.URL, href string) (reason, rule string) {
	if r.stayIn && forms.IsLogout(u) {
		return crawl.ReasonLogout, ""
	}
	if rule, excluded := r.excluded(href); excluded {
		return crawl.ReasonExclude, rule
	}
	return "", ""
}

// LogsOut reports whether a link is not to be followed because its text says that it logs out.
func (r *Rules) LogsOut(text string) bool { return r.stayIn && forms.IsLogoutText(text) }

func (r *Rules) name(rule string) string {
	if r.names {
		return rule
	}
	return ""
}

// InScope reports whether u lies in the job's scope.
func (r *Rules) InScope(u weburl.URL) bool {
	switch r.job.Scope {
	case crawl.ScopeAny:
		return true
	case crawl.ScopeHost:
		return r.hosts[u.HostKey()]
	case crawl.ScopePrefix:
		place := u.HostKey() + u.Path()
		for _, p := range r.prefixes {
			if strings.HasPrefix(place, p) {
				return true
			}
		}
		return false
	default:
		return r.domains[u.RegistrableDomain()]
	}
}

// Listed reports whether seeds are in a list. They may be many, so their places are not kept: the scope of a page is
// then that of the page that names it.
func (r *Rules) Listed() bool { return r.job.Listed() }

// inScopeFrom reports whether u lies in the scope, where it was named by from.
func (r *Rules) inScopeFrom(u, from weburl.URL) bool {
	switch {
	case r.InScope(u) || r.job.SeedsOnly: // only redirects come so far
		return true
	case !r.Listed() || from.IsZero():
		return false
	case r.job.Scope == crawl.ScopeHost:
		return u.HostKey() == from.HostKey()
	}
	return r.job.Scope == crawl.ScopeDomain && u.RegistrableDomain() == from.RegistrableDomain()
}

// HostInScope reports whether pages of u's host may lie in the job's scope.
func (r *Rules) HostInScope(u weburl.URL) bool {
	if r.job.Scope != crawl.ScopePrefix {
		return r.InScope(u)
	}
	for _, p := range r.prefixes {
		if host := u.HostKey() + "/"; len(p) >= len(host) && p[:len(host)] == host {
			return true
		}
	}
	return false
}
