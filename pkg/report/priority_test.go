package report

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A URL is called a seed where it is one: a line about a redirect that turned out to be part of a loop names no
// referrer, too.
func TestOnlySeedsAreCalledSeeds(t *testing.T) {
	referrer, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	s := &story{job: &crawl.Job{}}
	for name, tt := range map[string]struct {
		line crawl.LogLine
		want string
	}{
		"a seed":            {crawl.LogLine{Attempt: 1}, "priority 2: a seed"},
		"linked":            {crawl.LogLine{Attempt: 1, Depth: 1, Referrer: referrer}, ""},
		"a loop":            {crawl.LogLine{Attempt: 1, Depth: 1, Reason: crawl.ReasonRedirectLoop}, ""},
		"nothing attempted": {crawl.LogLine{}, ""},
	} {
		if got := s.priorityText(&tt.line); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
