package cluster_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// A page that a stage fails at goes into the dead letters with the reason, and the crawl goes on without it. When what
// was wrong is mended, replay brings it back. Here the database refuses what content-seen wants to store of one page.
func TestPoisonPageIsBuriedAndReplayed(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	page := poison(t, w)
	c.sql(fmt.Sprintf(`ALTER TABLE fingerprints ADD CONSTRAINT poison CHECK (url <> '%s')`, page))
	c.startSeven()
	c.seed()
	c.wait()
	var letters []struct{ Topic, Reason, Job string }
	check(t, json.Unmarshal([]byte(c.whirlpool("replay", "--cluster", "--list", "--json")), &letters))
	if len(letters) != 1 || letters[0].Topic != crawl.TopicContentSeen ||
		!strings.Contains(letters[0].Reason, `"poison"`) || !strings.Contains(letters[0].Reason, page) {
		t.Fatalf("dead letters %+v, want one of contentseen that names the constraint poison and %s", letters, page)
	}
	if got := c.Results(c.job.ID); len(got.Pages) >= len(w.Calm.Pages) || len(got.Pages) < len(w.Calm.Pages)/2 {
		t.Errorf("%d pages are stored, without the poison: want most of %d", len(got.Pages), len(w.Calm.Pages))
	}
	c.sql(`ALTER TABLE fingerprints DROP CONSTRAINT poison`)
	c.whirlpool("replay", "--cluster")
	if !within(patience, func() bool {
		return len(c.Results(c.job.ID).Pages) >= len(w.Calm.Pages) &&
			len(c.leftovers()) == 0
	}) {
		t.Errorf("replay did not bring everything back:\n%s", c.situation())
	}
	c.judge(w)
}

// poison returns the URL of a page that is stored with its content.
func poison(t *testing.T, w *world) string {
	t.Helper()
	for p := range w.Srv.Web().Pages {
		stored, ok := w.Calm.Pages[p.URL]
		if ok && stored.Text && p.Depth > 0 && p.ChangeEvery == 0 && p.NearDuplicateOf == "" && p.DuplicateOf == "" &&
			!p.NoFollow {
			return p.URL
		}
	}
	t.Fatal("the web has no page to poison")
	return ""
}

// sql runs a statement on the cluster's database.
func (c *cluster) sql(text string) {
	c.t.Helper()
	crawltest.SQL(c.t, c.Ledger, text)
}
