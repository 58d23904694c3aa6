package urlfilter_test

import (
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
)

// sitemapsOf filters sitemaps that a file names, and returns how many are to be read.
func sitemapsOf(t *testing.T, scope crawl.Scope, task crawl.Task, tag string, urls ...string) int {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.MaxDepth = "j", []string{"http://a.test/docs/"}, scope, 20
	task.Job = job.ID
	in := &crawl.Links{Task: task}
	for _, u := range urls {
		in.Links = append(in.Links, crawl.Link{URL: parsed(t, u), Tag: tag})
	}
	events, err := urlfilter.New(crawl.StaticJobs{job.ID: &job}, nil).Handle(t.Context(), in)
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	split := events[0].(*crawl.Filtered)
	for _, x := range split.Exclusions {
		if x.Reason != crawl.ReasonScope {
			t.Errorf("%s is left out for %q, want %q", x.URL, x.Reason, crawl.ReasonScope)
		}
	}
	return len(split.Tasks)
}

func TestSitemapsLieWhereTheirPagesDo(t *testing.T) {
	var strangers []string
	for i := range 200 {
		strangers = append(strangers, fmt.Sprintf("http://s%d.test/sitemap.xml", i))
	}
	robots := func(origin string) crawl.Task {
		return crawl.Task{URL: parsed(t, origin+"/robots.txt"), Kind: crawl.KindRobots, For: origin}
	}
	index := crawl.Task{URL: parsed(t, "http://a.test/sitemap.xml"), Kind: crawl.KindSitemap}
	moved := crawl.Task{URL: parsed(t, "http://cdn.test/robots.txt"), Kind: crawl.KindRobots, For: "http://a.test"}
	own := []string{"http://a.test/map.xml", "http://www.a.test/map.xml", "https://a.test/x/map.xml"}
	for _, tc := range []struct {
		name string
		task crawl.Task
		tag  string
		urls []string
		want map[crawl.Scope]int
	}{
		{"of the site", robots("http://a.test"), crawl.TagSitemapIndex, own,
			map[crawl.Scope]int{"domain": 3, "host": 3, "prefix": 3, "any": 3}},
		{"of strangers", robots("http://a.test"), crawl.TagSitemapIndex, strangers,
			map[crawl.Scope]int{"domain": 3, "host": 3, "prefix": 3, "any": 3}},
		{"robots.txt elsewhere", moved, crawl.TagSitemapIndex, own, map[crawl.Scope]int{"domain": 3, "prefix": 3}},
		{"of a stranger's robots.txt", robots("http://s1.test"), crawl.TagSitemapIndex,
			[]string{"http://s1.test/sitemap.xml", "http://a.test/map.xml"},
			map[crawl.Scope]int{"domain": 0, "host": 0, "prefix": 0, "any": 2}},
		{"of an index", index, crawl.TagSitemapIndex, append(own[1:], strangers...),
			map[crawl.Scope]int{"domain": 2, "host": 2, "prefix": 2, "any": 2}},
		{"redirect", index, crawl.TagRedirect, append(own[1:], strangers...), map[crawl.Scope]int{"domain": 2, "any": 2}},
	} {
		for scope, want := range tc.want {
			t.Run(tc.name+", scope "+string(scope), func(t *testing.T) {
				if got := sitemapsOf(t, scope, tc.task, tc.tag, tc.urls...); got != want {
					t.Errorf("%d of %d sitemaps are to be read, want %d", got, len(tc.urls), want)
				}
			})
		}
	}
}
