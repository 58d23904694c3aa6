package fetcher

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestRobotsFileLeadsToSitemaps(t *testing.T) {
	elsewhere, err := weburl.Parse("http://a.test/other")
	if err != nil {
		t.Fatal(err)
	}
	done := crawl.RobotsOutcome{Origin: "http://a.test", Expires: time.Now()}
	listed, moved := done, done
	listed.Sitemaps = []string{"/s1.xml", "http://b.test/s2.xml", "ftp://c.test/"}
	moved.Redirect = elsewhere
	for name, tt := range map[string]struct {
		robots crawl.RobotsOutcome
		change func(*crawl.Job)
		want   []string
	}{
		"those it names":            {listed, nil, []string{"http://a.test/s1.xml", "http://b.test/s2.xml"}},
		"the usual place":           {done, nil, []string{"http://a.test/sitemap.xml"}},
		"no guess in a broad crawl": {done, func(j *crawl.Job) { j.Scope = crawl.ScopeAny }, nil},
		"named ones in a broad crawl": {listed, func(j *crawl.Job) { j.Scope = crawl.ScopeAny },
			[]string{"http://a.test/s1.xml", "http://b.test/s2.xml"}},
		"not wanted":          {listed, func(j *crawl.Job) { j.Sitemaps = false }, nil},
		"the seeds only":      {listed, func(j *crawl.Job) { j.MaxDepth = 0 }, nil},
		"rules are elsewhere": {moved, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			job := crawl.DefaultJob()
			if tt.change != nil {
				tt.change(&job)
			}
			out := &crawl.Outcome{Verdict: crawl.VerdictDone, Robots: &tt.robots}
			var got []string
			for _, e := range sitemapLinks(&job, &crawl.Task{}, out) {
				for _, l := range e.(*crawl.Links).Links {
					if l.Tag != crawl.TagSitemapIndex {
						t.Errorf("link to %s has the tag %q", l.URL, l.Tag)
					}
					got = append(got, l.URL.String())
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}
