package frontier

import (
	"errors"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The end of a loop of redirects waits for the first outcome of its start: a copy that is queued before that would be
// dropped when it comes. What was asked meanwhile is left alone.
func TestTheStartOfALoopIsAskedAfterItsFirstOutcome(t *testing.T) {
	f, _, job := revisitWorld(t, nil)
	start, err := weburl.Parse("http://a.test/start")
	check(t, err)
	end, err := weburl.Parse("http://b.test/end")
	check(t, err)
	r := &result{job: job, Outcome: crawl.Outcome{Task: crawl.Task{Job: job.ID, URL: end}, Verdict: crawl.VerdictDone,
		Status: 302, Reason: crawl.ReasonCookie, Location: start}}
	b := &book{entries: map[weburl.Key]crawl.Entry{start.Key(): {State: crawl.StateOpen}}}
	f.deps.Ledger = b
	id := crawl.Task{Job: job.ID, URL: start}
	f.leases.byID[id.ID()] = &lease{}
	var wait *bus.RetryError
	if err := f.Outcomes().again(t.Context(), r); !errors.As(err, &wait) {
		t.Errorf("while its start is under way: %v", err)
	}
	delete(f.leases.byID, id.ID())
	for _, e := range []crawl.Entry{{State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200},
		{State: crawl.StateDone, Verdict: crawl.VerdictFailed, Status: 302}} {
		b.entries[start.Key()] = e
		if err := f.Outcomes().again(t.Context(), r); err != nil {
			t.Errorf("%v %d: %v", e.Verdict, e.Status, err)
		}
	}
}
