package urlfilter

import (
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
)

// taskOf makes the task that a link stands for. The target of a redirect is as deep as its source, and so is a sitemap
// that robots.txt names, and an asset of a page or style sheet; every other link is a hop deeper, the sitemaps of an
// index too, so that a chain of them ends.
func taskOf(r *urlrules.Rules, in *crawl.Links, l *crawl.Link) crawl.Task {
	weight := in.Relevance.Weight(l.Weight)
	t := crawl.Task{Job: in.Task.Job, URL: r.Canonical(l.URL), Referrer: in.Task.URL, Depth: in.Task.Depth + 1,
		Priority: crawl.PriorityOf(weight), Epoch: in.Task.Epoch, Relevance: in.Relevance}
	if in.Relevance.Known() {
		t.Promise = promise(in, l)
	} else if r.Job().LearnsTopic() {
		t.Text = strings.ToValidUTF8(l.Text[:min(len(l.Text), crawl.MaxTaskText)], "")
	}
	if len(r.Job().Continuous) > 0 {
		t.Priority = crawl.InClass(l.Tag == crawl.TagFeedSource || r.Continuous(t.URL), weight)
	}
	if r.Job().Revisits() {
		t.Told = l.Told
	}
	switch l.Tag {
	case crawl.TagRedirect: // its source is no page, and says nothing
		t.Depth, t.Redirects, t.Kind, t.Priority = in.Task.Depth, in.Task.Redirects+1, in.Task.Kind, in.Task.Priority
		t.Relevance, t.Promise = in.Task.Relevance, in.Task.Promise
	case crawl.TagSitemapIndex:
		if in.Task.Kind != crawl.KindSitemap {
			t.Depth = in.Task.Depth
		}
		t.Kind, t.Priority = crawl.KindSitemap, crawl.MaxPriority-1
	case crawl.TagFeedSource:
		t.Kind, t.Feed = crawl.KindSitemap, true
	case crawl.TagResource: // asked for as it stands: what a canonical URL leaves out may matter to a server
		t.URL, t.Kind, t.Depth, t.Priority, t.Fields = l.URL, crawl.KindResource, in.Task.Depth, crawl.MaxPriority, l.Fields
	case crawl.TagAsset:
		t.Kind, t.Depth, t.Priority = crawl.KindAsset, in.Task.Depth, crawl.MaxPriority-1
	}
	return t
}

// promise is what a link promises by its text or a site rule, where that is more than its page says.
func promise(in *crawl.Links, l *crawl.Link) crawl.Relevance {
	p := l.Promise
	if !p.Known() && l.Weight > 1 {
		p = crawl.RelevanceOfWeight(l.Weight)
	}
	if p <= in.Relevance {
		return 0
	}
	return p
}

// judgeLink says why a link is not to be followed because of what it is.
func judgeLink(r *urlrules.Rules, l *crawl.Link) (reason string) {
	switch {
	case l.Drop != "":
		node, _, _ := strings.Cut(l.Drop, " ")
		return crawl.PluginReason(node)
	case r.Job().SeedsOnly && l.Tag != crawl.TagRedirect && l.Tag != crawl.TagResource:
		return crawl.ReasonSeedsOnly
	case l.NoFollow() && !r.Job().IgnoreMeta:
		return crawl.ReasonNoFollow
	case l.Tag == crawl.TagFeedSource && !r.Job().Sitemaps:
		return crawl.ReasonNoFeeds
	case r.LogsOut(l.Text):
		return crawl.ReasonLogout
	}
	return ""
}
