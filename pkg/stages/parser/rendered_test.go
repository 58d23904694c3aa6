package parser

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Links that only a browser found are links like others, with the mark of those that are not to be followed.
func TestLinksOfARenderKeepTheirMark(t *testing.T) {
	d := &crawl.Document{Links: crawl.LinkList{{URL: mustURL(t, "http://a.test/had"), Tag: "a"}},
		Page: crawl.Page{Rendered: &crawl.Rendered{Links: []string{"http://a.test/new", "http://a.test/had"},
			Unfollowed: []string{"http://a.test/not", "http://a.test/new", "http://a.test/had"}}}}
	addLinksOfRender(d)
	got := strings.Join(linkLines(&Result{Links: d.Links}), "|")
	if want := "a http://a.test/had []|a http://a.test/new []|a http://a.test/not [nofollow]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
