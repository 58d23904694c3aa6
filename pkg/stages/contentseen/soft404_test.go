package contentseen

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// What many pages of a host say makes a short page missing, but not one of which the sum leaves out what is its own.
func TestSoft404(t *testing.T) {
	job := crawl.DefaultJob()
	job.Mode = crawl.ModeContinuous
	for name, c := range map[string]struct {
		title, text string
		kind        crawl.Kind
		repeated    bool
		want        revisit.Result
	}{
		"not found":             {"Not found", "There is no such page.", crawl.KindPage, true, revisit.Missing},
		"error 404":             {"Error 404", "There is no such page.", crawl.KindPage, true, revisit.Missing},
		"no page says the same": {"Not found", "There is no such page.", crawl.KindPage, false, revisit.Seen},
		"a number of its own":   {"Item 12", "There is one.", crawl.KindPage, true, revisit.Seen},
		"a price":               {"An item", "It costs 30 EUR.", crawl.KindPage, true, revisit.Seen},
		"a month":               {"The fair", "It is in November.", crawl.KindPage, true, revisit.Seen},
		"it may have moved":     {"Not found", "It may have been moved. Search now.", crawl.KindPage, true, revisit.Missing},
		"May":                   {"The fair", "It is in May.", crawl.KindPage, true, revisit.Seen},
		"no text":               {"Photo", " ", crawl.KindPage, true, revisit.Seen},
		"much text": {"Not found", strings.Repeat("There is much to read. ", 30), crawl.KindPage, true,
			revisit.Seen},
		"a sitemap without text": {"", "", crawl.KindSitemap, true, revisit.Seen},
	} {
		d := &crawl.Document{Page: crawl.Page{Task: crawl.Task{Kind: c.kind, Visit: 2}}, Title: c.title, Text: c.text}
		if c.repeated {
			d.Page.Task.SetRepeated([]uint64{7, ChangeSum(d)})
		}
		if o := observe(&job, d); o == nil || o.Result != c.want {
			t.Errorf("%s: %+v, want result %d", name, o, c.want)
		}
	}
}
