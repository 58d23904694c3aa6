package urlrules

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/traps"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A directory's listing in another order is left out where the listing links it. Where another page does, or it is a
// seed, nothing else may lead to what is in the directory.
func TestListingsInAnotherOrder(t *testing.T) {
	job := crawl.DefaultJob()
	job.ID, job.Seeds = "j", []string{"http://a.test/pub/?C=N;O=D"}
	r, err := Compile(&job)
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{"": "", "http://a.test/": "", "http://b.test/pub/": "",
		"http://a.test/pub/": traps.ReasonListing, "http://a.test/pub/?C=M;O=A": traps.ReasonListing} {
		task := crawl.Task{}
		if task.URL, err = weburl.Parse("http://a.test/pub/?C=N;O=D"); err != nil {
			t.Fatal(err)
		}
		if from != "" {
			if task.Referrer, err = weburl.Parse(from); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := r.Judge(&task, time.Now()); got != want {
			t.Errorf("linked from %q: judged %q, want %q", from, got, want)
		}
	}
}
