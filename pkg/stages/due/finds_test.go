package due

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A URL rises at the 4th, 16th and 64th find, and keeps the depth at which it was claimed.
func TestFindsOfAURL(t *testing.T) {
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	c, m := newCache(4), mark(u.Key(), 7)
	c.claimed(m, &crawl.Task{URL: u, Depth: 5})
	var at []int
	for i := 1; i <= 1000; i++ {
		if rises, finds, depth := c.find(m); rises > 0 {
			at = append(at, i)
			if finds != i || rises != len(at) || depth != 5 {
				t.Errorf("find %d: rises %d, finds %d, depth %d", i, rises, finds, depth)
			}
		}
	}
	if len(at) != 3 || at[0] != 4 || at[1] != 16 || at[2] != 64 {
		t.Errorf("rises at finds %v", at)
	}
	if !c.has(m) || c.has(m^1<<40) {
		t.Error("the cache forgot the URL, or knows another")
	}
	for name, task := range map[string]crawl.Task{"seed": {Seed: true}, "sitemap": {Kind: crawl.KindSitemap},
		"redirect": {Redirects: 1}, "too deep": {Depth: maxDepth + 1}} {
		c.claimed(m, &task)
		for range 100 {
			if rises, _, _ := c.find(m); rises > 0 {
				t.Errorf("%s: it rises", name)
			}
		}
	}
}

// Where all URLs are found as often, none rises.
func TestWhatIsFoundOften(t *testing.T) {
	var a average
	a.urls.Store(100)
	a.finds.Store(400)
	if !a.below(15) || a.below(16) {
		t.Error("of URLs that are found 4 times on average, those that are found 16 times rise")
	}
}

func TestPopularHosts(t *testing.T) {
	parse := func(s string) weburl.URL {
		u, err := weburl.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	job := crawl.DefaultJob()
	job.ID, job.Politeness.Popularity = "j", 1
	var p popular
	for range 9 {
		p.count(&job, []crawl.Task{{URL: parse("http://a.test/"), Referrer: parse("http://b.test/")},
			{URL: parse("http://b.test/x"), Referrer: parse("http://b.test/")}})
	}
	tasks := []crawl.Task{{URL: parse("http://a.test/y"), Referrer: parse("http://a.test/"), Priority: 2},
		{URL: parse("http://b.test/y"), Referrer: parse("http://b.test/"), Priority: 2}}
	p.count(&job, tasks)
	if tasks[0].HostLinks != 9 || tasks[0].Priority != 3 || tasks[1].HostLinks != 0 || tasks[1].Priority != 2 {
		t.Errorf("counted as %+v", tasks)
	}
}
