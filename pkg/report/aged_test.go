package report

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// What became of a page after it was stored is told.
func TestExplainTellsWhatBecameOfAPage(t *testing.T) {
	for name, c := range map[string]struct {
		content Content
		text    string
		answer  string
	}{
		"withdrawn": {Content{Title: "x", WithdrawnAt: fakeNow}, "taken out of the record, now", "its record has no content"},
		"gone":      {Content{Title: "x", GoneAt: fakeNow}, "found missing now", "fetched and stored"},
		"moved": {Content{Title: "x", MovedTo: mustURL(t, "http://a.test/y")}, "moved to http://a.test/y",
			"fetched and stored"},
	} {
		e := &Explanation{Content: &c.content, Time: fakeNow.Add(time.Millisecond),
			Ledger: LedgerEntry{State: crawl.StateDone.String(), Verdict: crawl.VerdictDone.String(), Status: 200}}
		text, answer := e.contentText(), e.answer()
		if !strings.Contains(text, c.text) || !strings.Contains(answer, c.answer) {
			t.Errorf("%s: %q, %q", name, text, answer)
		}
	}
}
