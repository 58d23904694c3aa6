package fetcher

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// A robots.txt that another job asked for names its sitemaps to this job too: with the first page of the origin, once.
func TestSitemapsOfARobotsThatAnotherJobAskedFor(t *testing.T) {
	b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.IgnoreRobots = false })
	u := parse(t, "http://forbidden.test/page")
	put := func(r crawl.Robots) {
		t.Helper()
		r.Origin, r.FetchedAt, r.Expires = u.Origin(), time.Now(), time.Now().Add(time.Hour)
		if err := b.h.deps.Robots.Put(t.Context(), r, b.job.RobotsAgent()); err != nil {
			t.Fatal(err)
		}
	}
	get := func(repeat bool) (named []string) {
		t.Helper()
		ctx := pipeline.WithDelivery(t.Context(), pipeline.Delivery{Repeat: repeat})
		events, err := b.h.Handle(ctx, &crawl.Fetch{Task: crawl.Task{Job: "test", URL: u, Depth: 2, Tracked: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if l, is := e.(*crawl.Links); is && l.Task.Kind == crawl.KindRobots {
				if l.Task.For != u.Origin() || l.Task.Depth != 2 {
					t.Errorf("the links are of %+v", l.Task)
				}
				for _, link := range l.Links {
					named = append(named, link.URL.Path())
				}
			}
		}
		return named
	}
	file := crawl.Robots{Body: []byte("Sitemap: /s.xml\nUser-agent: *\nDisallow: /page\n"), Job: "another"}
	put(file)
	for i, tt := range []struct {
		repeat bool
		want   int
	}{{false, 1}, {false, 0}, {true, 0}, {false, 1}, {false, 0}} { // a lease that comes again may have lost what it named
		if got := get(tt.repeat); len(got) != tt.want || tt.want > 0 && got[0] != "/s.xml" {
			t.Errorf("page %d: named %q, want %d", i, got, tt.want)
		}
	}
	for name, r := range map[string]crawl.Robots{"its own": {Body: file.Body, Job: "test"},
		"of an earlier build": {Body: file.Body}, "that could not be had": {State: crawl.RobotsDisallowAll, Job: "another"}} {
		b.h.told = newTold()
		put(r)
		if got := get(false); len(got) != 0 {
			t.Errorf("one %s: named %q", name, got)
		}
	}
}
