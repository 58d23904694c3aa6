package urlfilter_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
)

// A tracked page goes on without links too, and says whether it may have been fetched before; others need not.
func TestTrackedPagesGoOn(t *testing.T) {
	j := aJob()
	h := urlfilter.New(crawl.StaticJobs{j.ID: j}, nil)
	for _, tt := range []struct{ tracked, repeat bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		in := &crawl.Links{Task: crawl.Task{Job: j.ID, URL: parsed(t, "http://www.site.test/docs/"), Tracked: tt.tracked, Repeat: tt.repeat}}
		events, err := h.Handle(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if !tt.tracked {
			if len(events) > 0 {
				t.Errorf("%+v: %d events", tt, len(events))
			}
			continue
		}
		if s := events[0].(*crawl.Split); s.Page != in.Task.URL || s.Again != tt.repeat {
			t.Errorf("%+v: page %s, again %v", tt, s.Page, s.Again)
		}
	}
}
