package urlfilter

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// maxElsewhere is how many sitemaps outside the scope a robots.txt may name. By sitemaps.org it may: naming them is
// the proof that they are the site's. But it must not send the crawl to any number of hosts that have nothing to do
// with it.
const maxElsewhere = 3

// judgeSitemap says why a sitemap is not to be read because of where it lies. elsewhere counts those outside the
// scope that the same file named before.
func judgeSitemap(r *urlrules.Rules, in *crawl.Links, t *crawl.Task, l *crawl.Link, elsewhere *int) string {
	if t.Kind != crawl.KindSitemap || l.Tag == crawl.TagFeedSource {
		return ""
	}
	source := in.Task.URL
	robots := in.Task.Kind == crawl.KindRobots
	if robots && in.Task.For != "" {
		if origin, err := weburl.Parse(in.Task.For); err == nil {
			source = origin
		}
	}
	switch near := source.RegistrableDomain() == t.URL.RegistrableDomain(); {
	case robots && !r.Listed() && !r.HostInScope(source):
		return crawl.ReasonScope // a host that is asked for a sitemap only: its own sitemaps are not asked for
	case near || r.Job().Scope != crawl.ScopeAny && r.HostInScope(t.URL):
		return ""
	case !robots || r.Listed() || *elsewhere >= maxElsewhere: // of a list nobody knows which hosts lead on, and for ever
		return crawl.ReasonScope
	}
	*elsewhere++
	return ""
}
