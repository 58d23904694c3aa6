package urlfilter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A feed that a page names is read as a source of links, one hop deeper, and what binds pages binds it.
func TestFeedsOfAPageAreSourcesOfLinks(t *testing.T) {
	for name, c := range map[string]struct {
		url  string
		mod  func(j *crawl.Job, l *crawl.Link)
		want string
	}{
		"in scope": {"http://a.test/feed", nil, "task sitemap depth 2 priority 2"},
		"weighed": {"http://a.test/feed", func(_ *crawl.Job, l *crawl.Link) { l.Weight = 9 },
			"task sitemap depth 2 priority 5"},
		"another domain": {"http://b.test/feed", nil, "excluded scope"},
		"excluded": {"http://a.test/feed", func(j *crawl.Job, _ *crawl.Link) { j.Exclude = []string{"feed$"} },
			"excluded exclude"},
		"nofollow": {"http://a.test/feed", func(_ *crawl.Job, l *crawl.Link) { l.Rel += " nofollow" },
			"excluded nofollow"},
		"too deep": {"http://a.test/feed", func(j *crawl.Job, _ *crawl.Link) { j.MaxDepth = 1 }, "excluded depth"},
		"not asked for": {"http://a.test/feed", func(j *crawl.Job, _ *crawl.Link) { j.Sitemaps = false },
			"excluded no-feeds"},
	} {
		t.Run(name, func(t *testing.T) {
			job := crawl.DefaultJob()
			job.ID, job.Seeds = "feeds", []string{"http://a.test/"}
			page, errPage := weburl.Parse("http://a.test/blog")
			feed, errFeed := weburl.Parse(c.url)
			if errPage != nil || errFeed != nil {
				t.Fatal(errPage, errFeed)
			}
			link := crawl.Link{URL: feed, Rel: "alternate", Tag: crawl.TagFeedSource}
			if c.mod != nil {
				c.mod(&job, &link)
			}
			in := &crawl.Links{Task: crawl.Task{Job: job.ID, URL: page, Depth: 1}, Links: []crawl.Link{link}}
			out, err := urlfilter.New(crawl.StaticJobs{job.ID: &job}, nil).Handle(t.Context(), in)
			if err != nil || len(out) != 1 {
				t.Fatalf("%d events, %v", len(out), err)
			}
			if got := described(out[0].(*crawl.Filtered)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// described tells what became of the links of a page.
func described(s *crawl.Filtered) string {
	var out []string
	for _, t := range s.Tasks {
		out = append(out, fmt.Sprintf("task %s depth %d priority %d", t.Kind, t.Depth, t.Priority))
	}
	for _, e := range s.Exclusions {
		out = append(out, "excluded "+e.Reason)
	}
	return strings.Join(out, ", ")
}
