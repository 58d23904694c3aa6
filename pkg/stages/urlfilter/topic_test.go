package urlfilter_test

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
)

// relevant filters a link of a page with a relevance, which was met on a page with another one.
func relevant(t *testing.T, page, before crawl.Relevance, l crawl.Link) *crawl.Filtered {
	t.Helper()
	j := aJob()
	in := &crawl.Links{Task: crawl.Task{Job: j.ID, URL: parsed(t, "http://www.site.test/docs/page"), Relevance: before,
		Priority: 4},
		Links: []crawl.Link{l}, Relevance: page}
	events, err := urlfilter.New(crawl.StaticJobs{j.ID: j}, nil).Handle(context.Background(), in)
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	return events[0].(*crawl.Filtered)
}

func TestLinksInheritTheRelevanceOfTheirPage(t *testing.T) {
	to := parsed(t, "http://www.site.test/docs/next")
	for _, c := range []struct {
		name         string
		page, before crawl.Relevance
		link         crawl.Link
		priority     int
		inherited    crawl.Relevance
	}{
		{"no topic", 0, 0, crawl.Link{URL: to}, crawl.DefaultPriority, 0},
		{"on topic", 951, 0, crawl.Link{URL: to}, 5, 951},
		{"half", 501, 0, crawl.Link{URL: to}, 3, 501},
		{"off topic, the first time", 51, 951, crawl.Link{URL: to}, 1, 51},
		{"a rule weighs it more", 51, 951, crawl.Link{URL: to, Weight: 9}, 5, 51},
		{"a redirect is no page", 0, 951, crawl.Link{URL: to, Tag: crawl.TagRedirect}, 4, 951},
		{"the page before says nothing, as that of a seed", 51, 0, crawl.Link{URL: to}, 1, 51},
	} {
		got := relevant(t, c.page, c.before, c.link)
		if len(got.Tasks) != 1 {
			t.Errorf("%s: %d tasks", c.name, len(got.Tasks))
		} else if task := got.Tasks[0]; task.Priority != c.priority || task.Relevance != c.inherited {
			t.Errorf("%s: priority %d, relevance %d; want %d and %d", c.name, task.Priority, task.Relevance, c.priority,
				c.inherited)
		}
	}
}

func TestTwoPagesOffTheTopicInARowLeadNoFurther(t *testing.T) {
	page := parsed(t, "http://www.site.test/docs/next")
	got := relevant(t, 51, 31, crawl.Link{URL: page})
	if len(got.Exclusions) != 1 || got.Exclusions[0].Reason != crawl.ReasonTopic || got.Exclusions[0].Relevance != 51 {
		t.Fatalf("%+v", got.Exclusions)
	}
	if got := got.Exclusions[0].Rule; got != "P 0.05 of the page, 0.03 of the page before it: below 0.1" {
		t.Errorf("the rule says %q", got)
	}
	for name, l := range map[string]crawl.Link{
		"a seed":                      {URL: parsed(t, "http://www.site.test/docs/start.html")},
		"a link whose text promises":  {URL: page, Weight: 2},
		"the target of a redirect":    {URL: page, Tag: crawl.TagRedirect},
		"a sitemap, which is no page": {URL: page, Tag: crawl.TagSitemapIndex},
	} {
		if got := relevant(t, 51, 31, l); len(got.Tasks) != 1 {
			t.Errorf("%s is left out: %+v", name, got.Exclusions)
		}
	}
}

func TestWhatATopicLeftOutComesBack(t *testing.T) {
	now := aJob()
	then := aJob()
	then.Scope, then.TopicModel = crawl.ScopeAny, "x"
	jobs := crawl.StaticJobs{then.ID: then}
	for _, c := range []struct {
		name, reason string
		change       func(*crawl.Job)
		in           bool
	}{
		{"the topic goes", crawl.ReasonTopic, func(j *crawl.Job) { j.TopicModel = "" }, true},
		{"another model", crawl.ReasonTopic, func(j *crawl.Job) { j.TopicModel = "y" }, false},
		{"another threshold, for a page", crawl.ReasonTopic, func(j *crawl.Job) { j.Topic.Threshold = 0.3 }, false},
		{"nothing of it", crawl.ReasonTopicHost, func(j *crawl.Job) { j.MaxDepth++ }, false},
		{"another threshold, for a host", crawl.ReasonTopicHost, func(j *crawl.Job) { j.Topic.Threshold = 0.3 }, true},
		{"hosts are not judged", crawl.ReasonTopicHost, func(j *crawl.Job) { j.Scope = crawl.ScopeDomain }, true},
	} {
		*now = *then
		now.Epoch = 2
		c.change(now)
		judge := urlfilter.NewJudge(jobs)
		_, in, err := judge.LetIn(context.Background(), jobs, now, &crawl.LeftOut{Reason: c.reason,
			Task: crawl.Task{Job: now.ID, URL: parsed(t, "http://www.site.test/docs/next")}})
		if err != nil || in != c.in {
			t.Errorf("%s: let in %v, %v; want %v", c.name, in, err, c.in)
		}
	}
}
