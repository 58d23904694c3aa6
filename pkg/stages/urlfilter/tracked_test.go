package urlfilter_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
)

// The links of a tracked page name it, and say whether it may have been fetched before. A page without links leaves
// that to the runner.
func TestTrackedPagesAreNamed(t *testing.T) {
	j := aJob()
	h := urlfilter.New(crawl.StaticJobs{j.ID: j}, nil)
	page := parsed(t, "http://www.site.test/docs/")
	for _, tt := range []struct{ tracked, repeat bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		in := &crawl.Links{Task: crawl.Task{Job: j.ID, URL: page, Tracked: tt.tracked, Repeat: tt.repeat}}
		if events, err := h.Handle(t.Context(), in); err != nil || len(events) > 0 {
			t.Errorf("%+v: %d events, error %v", tt, len(events), err)
		}
		in.Links = []crawl.Link{{URL: parsed(t, "http://www.site.test/docs/a"), Tag: "a"}}
		events, err := h.Handle(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if s := events[0].(*crawl.Filtered); s.Page.IsZero() == tt.tracked || tt.tracked && s.Page != page ||
			s.Again != (tt.tracked && tt.repeat) {
			t.Errorf("%+v: page %s, again %v", tt, s.Page, s.Again)
		}
	}
}
