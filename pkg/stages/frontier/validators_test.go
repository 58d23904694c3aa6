package frontier_test

import (
	"testing"
	"testing/synctest"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The ledger keeps the validators of pages that are visited again, and of no others.
func TestValidatorsAreKeptFromTheSecondVisitOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		valid := crawl.Validators{ETag: `"1"`, LastModified: "then"}
		w := newWorld(t, 1, aJob("a"))
		w.answer = func(_ *world, f *crawl.Fetch) reply {
			return reply{outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200, ETag: valid.ETag,
				LastModified: valid.LastModified}}
		}
		tasks := []crawl.Task{page(t, "a", "http://h0.test/once"), page(t, "a", "http://h0.test/again")}
		tasks[1].Visit = 1
		w.runAll(tasks...)
		for i, want := range []crawl.Validators{{}, valid} {
			if got := w.disk.ledger[tasks[i].URL.Key()]; got.Validators != want || got.State != crawl.StateDone {
				t.Errorf("%s: got %+v, want the validators %+v", tasks[i].URL, got, want)
			}
		}
	})
}
