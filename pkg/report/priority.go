package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// priorityText says the priority by which an attempt was queued, and what made it so, where that can be told; empty:
// nothing was attempted, or it is that of all pages.
func (s *story) priorityText(ctx context.Context, l *crawl.LogLine) (string, error) {
	if l.Attempt == 0 || l.Kind == crawl.KindRobots {
		return "", nil
	}
	job, err := s.history.at(ctx, l.Epoch)
	if err != nil {
		return "", err
	}
	why, err := s.priorityWhy(ctx, job, l)
	if err != nil || l.Priority == 0 && len(why) == 0 {
		return "", err
	}
	text := fmt.Sprint("priority ", cmp.Or(l.Priority, crawl.DefaultPriority))
	if len(why) > 0 {
		text += ": " + strings.Join(why, ", ")
	}
	if job.Order == crawl.OrderBreadth {
		text += fmt.Sprintf(", on level %d", l.Depth)
	}
	return text, nil
}

// priorityWhy is what gave an attempt its priority; nothing, where no reason is known to be true. Those who give
// priorities are the seeder, the URL filter, the duplicate eliminator and the revisits.
func (s *story) priorityWhy(ctx context.Context, job *crawl.Job, l *crawl.LogLine) (why []string, err error) {
	switch {
	case l.Visit > 0:
		return visitWhy(l), nil
	case l.Referrer.IsZero():
		return namedWhy(l), nil
	case l.Kind == crawl.KindResource:
		return []string{"a script of its page asks for it"}, nil
	case l.Kind == crawl.KindSitemap && l.Referrer.Path() == "/robots.txt":
		if l.URL.Path() == "/sitemap.xml" { // asked for where robots.txt names none
			return []string{"a sitemap, named by robots.txt or at the usual place"}, nil
		}
		return []string{"a sitemap that robots.txt names"}, nil
	}
	redirected, err := s.redirects(ctx, l)
	switch {
	case err != nil:
		return nil, err
	case redirected && l.Priority != 0:
		why = append(why, "as the page that redirects to it")
	case redirected:
	case l.Kind == crawl.KindAsset:
		why = append(why, "an asset of its page")
	case l.Kind == crawl.KindSitemap && l.Priority != 0:
		why = append(why, "a sitemap or feed")
	case l.Kind == crawl.KindPage:
		why = linkWhy(job, l)
	}
	if l.Finds > 0 {
		why = append(why, fmt.Sprintf("found again %d times while it waited", l.Finds))
	}
	if l.Kind == crawl.KindPage && job.Politeness.PopularityOf(l.HostLinks) >= 1 {
		why = append(why, fmt.Sprintf("%d links from other hosts to its host", l.HostLinks))
	}
	return why, nil
}

// visitWhy is why a page that is visited again has its priority.
func visitWhy(l *crawl.LogLine) []string {
	switch l.Priority {
	case revisit.PriorityPlain:
		return []string{"a page that is visited again"}
	case revisit.PriorityYields:
		return []string{"a page that is visited again, and brought new links lately"}
	case revisit.PriorityHead:
		return []string{"a seed, sitemap or feed that is visited again"}
	}
	return nil
}

// namedWhy is why a URL has its priority that no page led to: the user named it.
func namedWhy(l *crawl.LogLine) []string {
	switch {
	case l.Depth != 0:
	case l.Priority == crawl.DefaultPriority+1:
		return []string{"a seed"}
	case l.Priority == crawl.MaxPriority && l.Relevance.Known():
		return []string{"an example of the topic"}
	}
	return nil
}

// redirects reports whether a redirect led to the URL of a line. Targets of redirects are as deep as their sources,
// which no other page is that a seed leads to; of others the ledger knows what the referrer answered.
func (s *story) redirects(ctx context.Context, l *crawl.LogLine) (bool, error) {
	if l.Kind == crawl.KindPage && l.Depth == 0 {
		return true, nil
	}
	if s.ledger == nil {
		return false, nil
	}
	entries, err := s.ledger.Lookup(ctx, s.job.ID, l.Referrer.Key())
	if err != nil {
		return false, err
	}
	return entries[0].State == crawl.StateDone && entries[0].Status/100 == 3, nil
}

// linkWhy is why a page has its priority that another links to.
func linkWhy(job *crawl.Job, l *crawl.LogLine) (why []string) {
	if len(job.Continuous) > 0 {
		why = append(why, "by its class (continuous: 3 to 4, one-time: 1 to 2)")
	}
	if l.Relevance.Known() {
		why = append(why, fmt.Sprintf("P(topic) %v of the page that links to it", l.Relevance))
	}
	w := siteWeight(job, l.Referrer, l.URL)
	raised := l.Finds > 0 || job.Politeness.PopularityOf(l.HostLinks) >= 1 || len(job.Continuous) > 0
	if w == 0 || l.Relevance.Known() && w <= int(math.Ceil(9*l.Relevance.P())) ||
		!raised && crawl.PriorityOf(w) != cmp.Or(l.Priority, crawl.DefaultPriority) {
		return why // a plug-in or a model may have weighed the link otherwise
	}
	return append(why, fmt.Sprintf("the weight %d of a site rule", w))
}

// siteWeight is what the site rules of a page weigh a link of it; 0: nothing.
func siteWeight(job *crawl.Job, page, link weburl.URL) int {
	matches := func(pattern, text string) bool {
		re, err := regexp.Compile(pattern)
		return err == nil && re.MatchString(text)
	}
	for i := range job.Rules {
		r := &job.Rules[i]
		host := strings.ToLower(strings.TrimSpace(r.Host))
		if host != "" && host != page.Hostname() && host != page.HostKey() && host != page.RegistrableDomain() ||
			!matches(r.Match, page.String()) {
			continue
		}
		for _, w := range r.Links {
			if matches(w.Match, link.String()) {
				return w.Weight
			}
		}
	}
	return 0
}
