package e2e_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// The controls of TestKilledAnywhere: each crawler is broken in one thing that the promises rest on, and the same
// checks find what is lost or doubled by it. A crawler put together in the same way without a fault passes them.
func TestNegativeControlBrokenCrawlers(t *testing.T) {
	long(t)
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[string]string{faultNone: "", faultJournal: "lost", faultClaims: "lost",
		faultContent: "copy of itself"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cfg := variedWeb(1200)
			cfg.Unavailable, cfg.PagesZipf = 0, 0
			var kills int
			faults, found := harmed(want, func() []string {
				srv := serve(t, cfg, 0)
				c := newCrawler(t, srv, jobFor(srv))
				c.exe, c.env = self, []string{faultVariable + "=" + fault}
				// early: once every URL is claimed, the memory of claims matters no more
				kills += tormented(t, c, srv, 8, 400).kills
				got := readResults(t, c.dir)
				return slices.Concat(got.Untrue(srv.Web()), got.Unsound(), unfinished(t, c))
			})
			if want == "" {
				harness.Report(t, "sound crawler", faults)
			} else if !found {
				t.Errorf("%d kills did no harm that the checks would see: %q", kills, faults)
			}
			t.Logf("%d kills, %d faults found", kills, len(faults))
		})
	}
}

// harmed repeats a tormented crawl with a fault until the checks report want: kills are at random instants, and eight
// of them may miss the few milliseconds in which the fault matters. A crawler without fault (want is empty) runs once.
// It returns the last report.
func harmed(want string, torment func() []string) (faults []string, found bool) {
	for range 6 {
		faults = torment()
		found = slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, want) })
		if want == "" || found {
			break
		}
	}
	return faults, found
}
