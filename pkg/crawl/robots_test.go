package crawl_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestRobotsAgent(t *testing.T) {
	for _, tt := range []struct{ agent, userAgent, want string }{
		{"", "", "Whirlpool"}, {"", "MyBot/1.0 (+https://e.org)", "MyBot"}, {"", "(nobody)", crawl.ProductToken},
		{"", "Mozilla/5.0 (compatible; crawler2/1.0)", "crawler2"}, {"asked", "MyBot/1.0", "asked"},
	} {
		job := crawl.DefaultJob()
		job.Robots.Agent, job.UserAgent = tt.agent, tt.userAgent
		if got := job.RobotsAgent(); got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}
