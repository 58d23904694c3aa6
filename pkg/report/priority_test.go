package report

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Each way in which a task gets its priority has its sentence, and what cannot be known has none: a crawl without
// rules is told of no rule, and only seeds are called seeds.
func TestEachPriorityHasItsReason(t *testing.T) {
	from, robots, u := mustURL(t, "http://a.test/"), mustURL(t, "http://a.test/robots.txt"),
		mustURL(t, "http://a.test/job/1")
	plain := &crawl.Job{}
	ruled := &crawl.Job{Rules: []crawl.SiteRule{{Host: "b.test", Links: []crawl.LinkWeight{{Match: ".", Weight: 1}}},
		{Host: "a.test", Links: []crawl.LinkWeight{{Match: "/job/", Weight: 9}}}}}
	classes, breadth := &crawl.Job{Continuous: []string{"/x"}}, &crawl.Job{Order: crawl.OrderBreadth}
	popular := &crawl.Job{Politeness: crawl.Politeness{Popularity: 1}}
	const page, asset, sitemap, resource = crawl.KindPage, crawl.KindAsset, crawl.KindSitemap, crawl.KindResource
	for name, tt := range map[string]struct {
		job  *crawl.Job
		line crawl.LogLine
		want string
	}{
		"nothing attempted":  {plain, crawl.LogLine{Priority: 3}, ""},
		"a robots.txt":       {plain, crawl.LogLine{Attempt: 1, Kind: crawl.KindRobots}, ""},
		"a seed":             {plain, crawl.LogLine{Attempt: 1, Priority: 3}, "priority 3: a seed"},
		"a seed, repaired":   {plain, crawl.LogLine{Attempt: 1}, ""},
		"a seed, taken back": {plain, crawl.LogLine{Attempt: 1, Priority: 5}, "priority 5"},
		"an example": {plain, crawl.LogLine{Attempt: 1, Priority: 5, Relevance: crawl.RelevanceOf(1)},
			"priority 5: an example of the topic"},
		"a loop":  {plain, crawl.LogLine{Attempt: 1, Depth: 1, Reason: crawl.ReasonRedirectLoop}, ""},
		"linked":  {plain, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from}, ""},
		"unknown": {plain, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from, Priority: 4}, "priority 4"},
		"a seed's redirect": {plain, crawl.LogLine{Attempt: 1, Referrer: from, Priority: 3},
			"priority 3: as the page that redirects to it"},
		"an asset": {plain, crawl.LogLine{Attempt: 1, Kind: asset, Referrer: from, Priority: 4},
			"priority 4: an asset of its page"},
		"a script's request": {plain, crawl.LogLine{Attempt: 1, Kind: resource, Referrer: from, Priority: 5},
			"priority 5: a script of its page asks for it"},
		"a named sitemap": {plain, crawl.LogLine{Attempt: 1, Kind: sitemap, Referrer: robots, URL: u, Priority: 4},
			"priority 4: a sitemap that robots.txt names"},
		"a usual sitemap": {plain, crawl.LogLine{Attempt: 1, Kind: sitemap, Referrer: robots,
			URL: mustURL(t, "http://a.test/sitemap.xml"), Priority: 4},
			"priority 4: a sitemap, named by robots.txt or at the usual place"},
		"a sitemap's": {plain, crawl.LogLine{Attempt: 1, Depth: 1, Kind: sitemap, Referrer: from, Priority: 4},
			"priority 4: a sitemap or feed"},
		"a feed": {plain, crawl.LogLine{Attempt: 1, Depth: 1, Kind: sitemap, Referrer: from}, ""},
		"a rule": {ruled, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from, URL: u, Priority: 5},
			"priority 5: the weight 9 of a site rule"},
		"no rule of its page": {ruled,
			crawl.LogLine{Attempt: 1, Depth: 1, Referrer: mustURL(t, "http://c.test/"), URL: u, Priority: 5}, "priority 5"},
		"a rule, overruled": {ruled, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from, URL: u, Priority: 4}, "priority 4"},
		"found again": {plain, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from, Priority: 3, Finds: 4},
			"priority 3: found again 4 times while it waited"},
		"its host": {popular, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from, Priority: 3, HostLinks: 9},
			"priority 3: 9 links from other hosts to its host"},
		"its host, too few": {popular, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from, HostLinks: 2}, ""},
		"a class": {classes, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from, Priority: 3},
			"priority 3: by its class (continuous: 3 to 4, one-time: 1 to 2)"},
		"a topic": {plain, crawl.LogLine{Attempt: 1, Depth: 1, Referrer: from, Relevance: crawl.RelevanceOf(.5), Kind: page},
			"priority 2: P(topic) 0.5 of the page that links to it"},
		"a level": {breadth, crawl.LogLine{Attempt: 1, Priority: 3}, "priority 3: a seed, on level 0"},
		"a visit": {plain, crawl.LogLine{Attempt: 1, Visit: 2, Priority: 3},
			"priority 3: a page that is visited again"},
		"a good visit": {plain, crawl.LogLine{Attempt: 1, Visit: 2, Priority: 4},
			"priority 4: a page that is visited again, and brought new links lately"},
		"a seed, again": {plain, crawl.LogLine{Attempt: 1, Visit: 1, Priority: 5},
			"priority 5: a seed, sitemap or feed that is visited again"},
	} {
		s := &story{job: tt.job, history: historyOf(tt.job, nil)}
		if got, err := s.priorityText(t.Context(), &tt.line); got != tt.want || err != nil {
			t.Errorf("%s: %q, want %q (%v)", name, got, tt.want, err)
		}
	}
}

// A line about a loop of redirects that was found later says nothing of the URL's own attempt twice, and does not hide
// how the URL was met.
func TestALoopThatWasFoundLater(t *testing.T) {
	from := mustURL(t, "http://a.test/b")
	e := &Explanation{lines: []crawl.LogLine{{Attempt: 1, Status: 302, Priority: 3},
		{Attempt: 1, Status: 302, Priority: 3, Reason: crawl.ReasonRedirectLoop, Referrer: from}}}
	if e.judgedLater(0) || !e.judgedLater(1) || e.lastMet() != &e.lines[0] {
		t.Errorf("met by %+v", e.lastMet())
	}
}
