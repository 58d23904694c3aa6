package recovery

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// taken are pages whose visits are said to be under way.
type taken []crawl.Revisit

func (ts *taken) Taken(_ context.Context, _ []weburl.KeyRange, each func(crawl.JobID, crawl.Revisit) error) error {
	for _, p := range *ts {
		if err := each("j", p); err != nil {
			return err
		}
	}
	return nil
}

func page(t *testing.T, raw string, visits uint32) crawl.Revisit {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return crawl.Revisit{URL: u, State: revisit.State{Visits: visits}}
}

// Visits that are nowhere are made anew: at once where nothing goes on, after hours where the frontier is busy, if they
// are still the same visits then.
func TestLostVisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{t: t, idle: true, quiet: true}
		w := n.watch(func(u weburl.URL) bool { return u.Hostname() != "other.test" })
		ts := &taken{page(t, "http://h.test/1", 3), page(t, "http://other.test/2", 3)}
		w.Visits = ts
		all := func(crawl.JobID) bool { return true }
		look := func(what string, wanted func(crawl.JobID) bool, want ...string) {
			t.Helper()
			n.said = nil
			got, err := w.LostVisits(t.Context(), wanted)
			if err != nil || got != len(want) || !slices.Equal(n.said, want) {
				t.Errorf("%s: %d, %q, %v; want %q", what, got, n.said, err, want)
			}
			time.Sleep(visitsPause)
		}
		look("idle", all, "visit http://h.test/1 of j anew")
		look("a job that is not wanted", func(crawl.JobID) bool { return false })
		n.idle = false
		for range lostVisit/visitsPause - 2 {
			look("busy", all)
		}
		(*ts)[0] = page(t, "http://h.test/1", 4)
		for range lostVisit/visitsPause + 1 {
			look("busy, another visit", all)
		}
		look("busy for hours", all, "visit http://h.test/1 of j anew")
		n.idle, n.quiet = true, false
		*ts = (*ts)[1:]
		look("another node's", all)
	})
}

// A page that was visited again, and whose links were lost, keeps its outcome and its record: its next visit is made,
// and brings all of it.
func TestLinksOfARevisitComeWithTheNextVisit(t *testing.T) {
	n := &node{t: t, pages: &storetest.Followed{}}
	w := n.watch(nil)
	task := crawl.Task{Job: "j", URL: page(t, "http://h.test/1", 3).URL, Visit: 2, ETag: "x"}
	q := &queuer{node: n}
	if err := w.FetchAgain(t.Context(), q, task); err != nil {
		t.Fatal(err)
	}
	if len(q.tasks) != 1 || q.tasks[0].Visit != 3 || q.tasks[0].ETag != "" || !q.tasks[0].Restore ||
		!slices.Equal(n.said, []string{"stop waiting"}) {
		t.Errorf("queued %+v, said %q", q.tasks, n.said)
	}
}

// queuer is a node that notes the tasks themselves.
type queuer struct {
	*node
	tasks []crawl.Task
}

func (q *queuer) Queue(_ context.Context, tasks ...crawl.Task) error {
	q.tasks = append(q.tasks, tasks...)
	return nil
}
