package urlfilter

import (
	"context"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
)

// Judge judges again: tasks that were queued under an older revision of their job, and URLs that were left out by one.
type Judge struct {
	rules *crawl.PerRevision[*urlrules.Rules]
}

// NewJudge returns a judge of the revisions of jobs.
func NewJudge(jobs crawl.Jobs) *Judge { return &Judge{compiledBy(jobs)} }

// Task says why the job, a revision, does not want a queued task, and by which rule; empty: it does. Nothing binds what
// the user named.
func (j *Judge) Task(job *crawl.Job, t *crawl.Task) (reason, rule string, err error) {
	if t.Seed || t.Kind == crawl.KindRobots || t.Kind == crawl.KindRender {
		return "", "", nil
	}
	rules, err := j.rules.Of(job)
	if err != nil || rules.IsSeed(t.URL) {
		return "", "", err
	}
	switch {
	case job.SeedsOnly && t.Redirects == 0 && t.Kind != crawl.KindResource:
		return crawl.ReasonSeedsOnly, "", nil
	case t.Feed && !job.Sitemaps:
		return crawl.ReasonNoFeeds, "", nil
	}
	reason, rule = rules.Judge(t, time.Now())
	return reason, rule, nil
}

// LetIn returns the task of a URL that was left out, if the job, a revision, lets it in. Whether there is room for it
// in a budget is not asked here, but whether the budget is another than it was.
func (j *Judge) LetIn(ctx context.Context, jobs crawl.Jobs, job *crawl.Job,
	l *crawl.LeftOut) (t crawl.Task, in bool, err error) {
	t = l.Task
	then, err := jobs.JobAt(ctx, job.ID, t.Epoch)
	if err != nil {
		return t, false, err
	}
	rules, err := j.rules.Of(job)
	if err != nil {
		return t, false, err
	}
	t.Epoch, t.Repeat, t.Lease, t.Attempt, t.NotBefore = job.Epoch, true, 0, 0, time.Time{}
	if rules.IsSeed(t.URL) {
		t.Seed = true
		return t, true, nil
	}
	if !reconsidered(l.Reason, then, job) {
		return t, false, nil
	}
	t.Paid = t.Paid || l.Dismissed && !isBudget(l.Reason)
	reason, _, err := j.Task(job, &t)
	return t, err == nil && reason == "", err
}

// isBudget reports whether a URL was left out because a budget was spent.
func isBudget(reason string) bool {
	return slices.Contains([]string{crawl.ReasonLevelBudget, crawl.ReasonHostBudget, crawl.ReasonDomainBudget,
		crawl.ReasonSitemapBudget, crawl.ReasonVariantBudget, crawl.ReasonAssetBudget}, reason)
}

// reconsidered reports whether a reason that does not come of a URL may hold no more.
func reconsidered(reason string, then, now *crawl.Job) bool {
	if node, ok := crawl.PluginOf(reason); ok {
		// what another version of the plug-in would say of the link cannot be told without its page
		return !now.Pipeline.Has(node, crawl.AtLinks)
	}
	switch reason {
	case crawl.ReasonTopic: // by another model the pages would have to be read again
		return !now.Topical()
	case crawl.ReasonTopicHost:
		return !now.JudgesHosts() || now.Topic.Limit() != then.Topic.Limit() || now.Topic.Trial() != then.Topic.Trial()
	case crawl.ReasonNoFollow:
		return now.IgnoreMeta
	case crawl.ReasonLinksPerPage:
		return now.Limits.LinksPerPage > then.Limits.LinksPerPage
	case crawl.ReasonNoFeeds:
		return now.Sitemaps
	case crawl.ReasonSeedsOnly:
		return !now.SeedsOnly
	case crawl.ReasonLogout:
		return now.FollowLogout || !now.Authenticates()
	case crawl.ReasonRobots:
		return now.IgnoreRobots
	case crawl.ReasonLevelBudget:
		return now.PagesPerLevel != then.PagesPerLevel
	case crawl.ReasonHostBudget:
		return now.PagesPerHost != then.PagesPerHost || now.Scope != then.Scope
	case crawl.ReasonDomainBudget:
		return now.PagesPerDomain != then.PagesPerDomain || now.Scope != then.Scope
	case crawl.ReasonSitemapBudget:
		return now.MaxPages != then.MaxPages || now.PagesPerHost != then.PagesPerHost ||
			now.PagesPerDomain != then.PagesPerDomain || now.Scope != then.Scope
	case crawl.ReasonVariantBudget:
		return now.QueryVariants != then.QueryVariants
	case crawl.ReasonAssetBudget:
		return now.Assets != then.Assets
	}
	return true
}
