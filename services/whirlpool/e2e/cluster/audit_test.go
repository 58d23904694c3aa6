package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// audits is how often a healthy crawl is audited while it runs.
const audits = 20

// An audit of a healthy crawl never says that something is lost, whenever it is asked.
func TestNegativeControlAuditsOfARunningCrawlAccuseNobody(t *testing.T) {
	w := serveSlowly(t, time.Second)
	c := newCluster(t, w.Srv, w.Job(), "WHIRLPOOL_FRONTIER_HELD_TASKS=20") // so that tasks lie in the queues
	c.startSeven()
	c.seed()
	until(t, patience, "requests", func() bool { return w.Srv.Log().Count() > w.Requests/16 || c.stuck() })
	codes := map[int]int{}
	for range harness.Number(t, "WHIRLPOOL_E2E_AUDITS", audits) {
		if c.ended() {
			break
		}
		code, text := c.exitCode("audit", "--cluster", "--job", string(c.job.ID))
		if codes[code]++; code != 0 && code != 3 || strings.Contains(text, "does not say what it holds") {
			t.Errorf("audit ends with %d:\n%s", code, text)
		}
	}
	t.Logf("audits of the running crawl by exit status: %v", codes)
	if codes[0]+codes[3] < 3 {
		t.Error("the crawl ended before it was audited: the test shows nothing")
	}
	c.wait()
	c.judge(w)
}

// Tasks are purged from the frontier's queues in the middle of a crawl, and the node cannot fetch them again yet, for
// requests are under way. The audit names them, however many tasks are left; repair queues them again at once, and
// nothing is missing in the end.
func TestAuditNamesWhatWasPurged(t *testing.T) {
	for prefix, setting := range map[string]string{"front.": "WHIRLPOOL_FRONTIER_ACTIVE_HOSTS=5",
		"back.": "WHIRLPOOL_FRONTIER_HELD_TASKS=20"} {
		t.Run(prefix+"*", func(t *testing.T) { auditPurged(t, prefix, setting) })
	}
}

// auditPurged purges the queues whose names begin so; the setting has tasks wait there.
func auditPurged(t *testing.T, prefix, setting string) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job(), setting)
	c.startSeven()
	c.seed()
	fetcher := c.program("fetcher")
	lost := 0
	for part := 2; part < 14 && lost == 0; part++ {
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() > w.Requests*part/16 || c.stuck() })
		fetcher.Freeze(t)
		if within(2*time.Second, func() bool { return c.messages(prefix, "purged") > 5 }) {
			lost = c.lose(prefix, "purged")
			break
		}
		fetcher.Thaw(t)
	}
	if lost == 0 {
		fetcher.Thaw(t)
		t.Fatal("nothing was lost: the test shows nothing")
	}
	code, text := c.exitCode("audit", "--cluster", "--job", string(c.job.ID))
	if code != 1 || !strings.Contains(text, "open, in no queue and no message: http://") {
		t.Errorf("%d tasks were purged, and the audit ends with %d:\n%s", lost, code, text)
	}
	if code, text := c.exitCode("repair", "--cluster", "--job", string(c.job.ID)); code != 0 {
		t.Errorf("repair ends with %d:\n%s", code, text)
	}
	until(t, patience, "an audit that finds nothing lost", func() bool {
		code, text = c.exitCode("audit", "--cluster", "--job", string(c.job.ID))
		return code != 1 || c.stuck()
	})
	t.Logf("%d tasks were purged; after the repair the audit ends with %d", lost, code)
	fetcher.Thaw(t)
	c.wait()
	c.judge(w)
}
