package local

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A page that is to be visited again and is neither due nor queued is forgotten: the audit says so.
func TestAuditFindsForgottenPages(t *testing.T) {
	s := openStore(t, t.TempDir())
	ctx := t.Context()
	u, err := weburl.Parse("http://a.test/1")
	if err != nil {
		t.Fatal(err)
	}
	task := crawl.Task{Job: "again", URL: u}
	if _, err := s.URLs().Claim(ctx, "again", crawl.MessageID{1}, []crawl.Task{task}); err != nil {
		t.Fatal(err)
	}
	e := crawl.Entry{Key: u.Key(), State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 301, Attempts: 1}
	if err := s.URLs().Finish(ctx, "again", e); err != nil {
		t.Fatal(err)
	}
	state := revisit.State{Visits: 1, Last: time.Unix(1e9, 0).UTC(), Rate: revisit.Unknown(), Weight: 128, Sum: 1}
	for _, c := range []struct {
		name      string
		due       time.Time
		gone      bool
		queued    bool
		forgotten int64
	}{
		{"due", time.Unix(2e9, 0).UTC(), false, false, 0},
		{"neither due nor queued", time.Time{}, false, false, 1},
		{"gone", time.Time{}, true, false, 0},
		{"queued", time.Time{}, false, true, 0},
	} {
		state.Due, state.Gone = c.due, c.gone
		if err := s.Revisits().Put(ctx, "again", crawl.Revisit{URL: u, State: state}); err != nil {
			t.Fatal(err)
		}
		if c.queued {
			next := task
			next.Visit = 1
			if err := s.Queues().Push(ctx, crawl.Queued{Queue: "front.3", Task: next}); err != nil {
				t.Fatal(err)
			}
		}
		audit, err := s.Audit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if audit.Forgotten != c.forgotten || (len(audit.Faults) > 0) != (c.forgotten > 0) || audit.Again != 1 ||
			audit.Stale != 0 {
			t.Errorf("%s: %+v", c.name, audit)
		}
	}
}
