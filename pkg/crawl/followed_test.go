package crawl

import "testing"

// What brings a page has a record or a reason for having none: audits take anything else for lost. Answers without
// content bring none.
func TestAnswersWithoutContentBringNoPage(t *testing.T) {
	for status, want := range map[int]bool{199: false, 200: true, 203: true, 204: false, 205: false, 206: true, 299: true,
		300: false, 304: false} {
		entry := Entry{State: StateDone, Kind: KindPage, Verdict: VerdictDone, Status: status}
		if BringsPage(KindPage, VerdictDone, status) != want || entry.IsPage() != want {
			t.Errorf("%d brings a page: want %v", status, want)
		}
		if want && !HasLinks(KindPage, VerdictDone, status) {
			t.Errorf("%d brings a page without links", status)
		}
	}
	if BringsPage(KindSitemap, VerdictDone, 200) || BringsPage(KindPage, VerdictFailed, 200) {
		t.Error("sitemaps and failures bring no pages")
	}
}
