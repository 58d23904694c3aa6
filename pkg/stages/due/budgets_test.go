package due_test

import (
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Sitemaps without end are read in proportion to the pages that may come of them, by host, by domain and in all.
func TestSitemapsAreBounded(t *testing.T) {
	for _, tc := range []struct {
		name  string
		pages int
		url   string // of the n-th sitemap
		want  int
	}{
		{"one host", 20, "http://a.test/%d.xml", 5},
		{"one domain", 20, "http://h%d.a.test/map.xml", 11},
		{"many domains", 20, "http://a%d.test/map.xml", 22},
		{"many pages", 10_000, "http://a%d.test/map.xml", 1_020},
		{"no limit", 0, "http://a.test/%d.xml", 2_500},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, job := newMemory(), aJob()
			job.MaxPages = tc.pages
			c := &crawl.Claim{Batch: crawl.Batch{Job: "j"}}
			for i := range 3000 {
				task := claim(t, fmt.Sprintf(tc.url, i)).Tasks[0]
				task.Kind = crawl.KindSitemap
				c.Tasks = append(c.Tasks, task)
			}
			if got := len(handle(t, m.due(job), "one", false, c)); got != tc.want {
				t.Errorf("%d sitemaps of 3,000, want %d", got, tc.want)
			}
			for _, e := range m.done {
				if e.Reason != crawl.ReasonSitemapBudget || e.Verdict != crawl.VerdictExcluded {
					t.Fatalf("left out as %+v", e)
				}
			}
		})
	}
}
