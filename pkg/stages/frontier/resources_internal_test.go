package frontier

import (
	"context"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Resources of a host that never answered are given up before its pages are, for a while.
func TestResourcesOfASilentHost(t *testing.T) {
	now := time.Now()
	job := crawl.DefaultJob()
	for name, c := range map[string]struct {
		kind     crawl.Kind
		failures int
		answers  int64
		next     time.Time // when the host may be asked again
		gone     bool
	}{
		"twice":                  {crawl.KindResource, silentAfter - 1, 0, now.Add(time.Second), false},
		"three times":            {crawl.KindResource, silentAfter, 0, now.Add(20 * time.Second), true},
		"it has answered before": {crawl.KindResource, silentAfter, 1, now.Add(20 * time.Second), false},
		"a page":                 {crawl.KindPage, silentAfter, 0, now.Add(20 * time.Second), false},
		"its robots.txt":         {crawl.KindRobots, silentAfter, 0, now.Add(20 * time.Second), false},
		"a minute later":         {crawl.KindResource, silentAfter, 0, now.Add(-silentFor), false},
	} {
		h := &host{rec: crawl.Host{Failures: c.failures, Next: c.next}, answers: c.answers}
		d := h.dismissal(&crawl.Task{Kind: c.kind}, &job, now)
		if (d != nil) != c.gone || d != nil && (d.reason != crawl.ReasonHostDown || d.verdict != crawl.VerdictFailed) {
			t.Errorf("%s: dismissal %+v, want one: %v", name, d, c.gone)
		}
	}
}

// notes are the resources that were put.
type notes struct {
	crawl.Resources
	put []crawl.Resource
}

func (n *notes) PutResource(_ context.Context, _ crawl.JobID, r crawl.Resource) error {
	n.put = append(n.put, r)
	return nil
}

// What the host answered the fetcher has stored, with its body: the frontier puts nothing in its place.
func TestResourcesThatCannotBeHad(t *testing.T) {
	for name, c := range map[string]struct {
		verdict crawl.Verdict
		reason  string
		status  int
		want    bool
	}{
		"done":                   {crawl.VerdictDone, "", 200, false},
		"not found":              {crawl.VerdictGone, crawl.ReasonStatus, 404, false},
		"one has to sign in":     {crawl.VerdictBlocked, crawl.ReasonStatus, 401, false},
		"robots.txt":             {crawl.VerdictBlocked, crawl.ReasonRobots, 0, true},
		"not modified":           {crawl.VerdictGone, crawl.ReasonStatus, 304, true},
		"an error to the last":   {crawl.VerdictFailed, crawl.ReasonStatus, 500, true},
		"an error that may pass": {crawl.VerdictRetry, crawl.ReasonStatus, 500, false},
	} {
		n := &notes{}
		f := &Frontier{deps: Deps{Resources: n}}
		out := &crawl.Outcome{Task: crawl.Task{Kind: crawl.KindResource}, Verdict: c.verdict, Reason: c.reason,
			Status: c.status}
		if err := f.refuseResources(t.Context(), []*crawl.Outcome{out}, time.Now()); err != nil || len(n.put) > 0 != c.want {
			t.Errorf("%s: put %+v, %v", name, n.put, err)
		}
	}
}

// A page, and its host, wait for a resource: what fails twice for visitors, too, is given up, for ten minutes.
func TestResourcesThatFailAreRepeatedOnce(t *testing.T) {
	job := crawl.DefaultJob()
	for name, c := range map[string]struct {
		kind   crawl.Kind
		reason string
		status int
		want   int
	}{
		"503":                    {crawl.KindResource, crawl.ReasonStatus, 503, 1},
		"500":                    {crawl.KindResource, crawl.ReasonStatus, 500, 1},
		"held open":              {crawl.KindResource, crawl.ReasonTimeout, 0, 1},
		"asked too often":        {crawl.KindResource, crawl.ReasonStatus, 429, job.Retry.Max},
		"not connected":          {crawl.KindResource, crawl.ReasonConnect, 0, job.Retry.Max},
		"a page whose host does": {crawl.KindPage, crawl.ReasonStatus, 503, job.Retry.Max},
	} {
		r := &result{job: &job, Outcome: crawl.Outcome{Task: crawl.Task{Kind: c.kind}, Reason: c.reason, Status: c.status}}
		if got := r.mostRepeats(); got != c.want {
			t.Errorf("%s: repeated %d times at most, want %d", name, got, c.want)
		}
	}
	n, now := &notes{}, time.Now()
	f := &Frontier{deps: Deps{Resources: n}}
	out := &crawl.Outcome{Task: crawl.Task{Kind: crawl.KindResource}, Verdict: crawl.VerdictFailed,
		Reason: crawl.ReasonStatus, Status: 503}
	if err := f.refuseResources(t.Context(), []*crawl.Outcome{out}, now); err != nil || len(n.put) != 1 ||
		n.put[0].Expires.Sub(now) != failedFor {
		t.Errorf("put %+v, %v", n.put, err)
	}
}
