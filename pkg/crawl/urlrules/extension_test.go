package urlrules

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestExtensions(t *testing.T) {
	for _, tc := range []struct {
		ext, skip []string
		url       string
		reason    string
	}{
		{nil, []string{"pdf", ".ZIP"}, "http://a.test/x.PDF?y=1", crawl.ReasonExtension},
		{nil, []string{"pdf", ".ZIP"}, "http://a.test/x.zip", crawl.ReasonExtension},
		{nil, []string{"pdf"}, "http://a.test/pdf", ""},
		{nil, []string{"pdf"}, "http://a.test/?f=x.pdf", ""},
		{[]string{"html"}, nil, "http://a.test/x.php", crawl.ReasonExtension},
		{[]string{"html"}, nil, "http://a.test/x.html", ""},
		{[]string{"html"}, nil, "http://a.test/dir.d/x", ""},
		{[]string{"html"}, nil, "http://a.test/v1.2", ""},
		{[]string{"html"}, []string{"html"}, "http://a.test/x.html", crawl.ReasonExtension},
		{nil, nil, "http://a.test/x.exe", ""},
	} {
		job := crawl.DefaultJob()
		job.ID, job.Seeds, job.Ext, job.SkipExt = "j", []string{"http://a.test/"}, tc.ext, tc.skip
		r, err := Compile(&job)
		if err != nil {
			t.Fatal(err)
		}
		u, err := weburl.Parse(tc.url)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := r.Judge(&crawl.Task{URL: u}, time.Now()); got != tc.reason {
			t.Errorf("ext %q, skip_ext %q: %s is judged %q, want %q", tc.ext, tc.skip, tc.url, got, tc.reason)
		}
	}
}
