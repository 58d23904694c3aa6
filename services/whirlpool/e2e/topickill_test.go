package e2e_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// A topical crawl that learns from its first pages loses nothing and stores nothing twice, at whatever instants it is
// killed: before it has learned, while what was queued is scored, and after. Which links it leaves out depends on the
// order in which it met them, so its pages are not compared with those of another crawl.
func TestATopicalCrawlIsKilledAnywhere(t *testing.T) {
	long(t)
	t.Parallel()
	pages, kills := harness.Number(t, "WHIRLPOOL_E2E_TOPIC_PAGES", 800), harness.Number(t, "WHIRLPOOL_E2E_TOPIC_KILLS", 9)
	srv := serve(t, variedWeb(pages), 0)
	c := newCrawler(t, srv, jobFor(srv), "--max-pages", strconv.Itoa(pages*9/10), "--topic-example",
		"der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat "+
			"dass sie nach wird bei")
	m := tormented(t, c, srv, kills, pages/2)
	got := readResults(t, c.dir)
	harness.Report(t, "killed", slices.Concat(got.Unsound(), unfinished(t, c)))
	judged := bytes.Count(wholeFile(t, filepath.Join(c.dir, "pages.jsonl")), []byte(`"topic":`))
	t.Logf("%d kills (%d before the first request), %d pages stored, %d of them judged", m.kills, m.early, len(got.Pages),
		judged)
	if m.kills < kills/2 || judged == 0 {
		t.Errorf("%d of %d kills came before the crawl had ended, and %d pages were judged", m.kills, kills, judged)
	}
}
