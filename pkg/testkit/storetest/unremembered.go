package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Visiting is what is known of visits: the ledger, its log, and what is remembered between visits, of one store.
type Visiting struct {
	crawl.Unremembered
	Ledger   LedgerSet
	Log      crawl.AttemptLog
	Revisits crawl.Revisits
}

// Unremembered checks the promises of crawl.Unremembered.
func Unremembered(t *testing.T, open func(t *testing.T) Visiting) {
	t.Run("what is visited and not visited again is found", func(t *testing.T) { unrememberedKinds(t, open(t)) })
	t.Run("of many URLs each is found, until it is remembered", func(t *testing.T) { unrememberedMany(t, open(t)) })
	t.Run("an error ends it, and jobs are apart", func(t *testing.T) { unrememberedError(t, open(t)) })
}

// visited makes the outcome of a visit, as a frontier notes it.
func (v Visiting) visited(t *testing.T, task crawl.Task, e crawl.Entry) {
	t.Helper()
	e.Kind = task.Kind
	_, err := v.Ledger.Claim(t.Context(), job, crawl.MessageID{1}, []crawl.Task{task})
	check(t, err)
	check(t, v.Ledger.Finish(t.Context(), job, e))
	check(t, v.Log.Append(t.Context(), crawl.LogLine{Job: job, At: e.At, URL: task.URL, Kind: task.Kind,
		Verdict: e.Verdict, Status: e.Status,
		Depth: task.Depth, Referrer: task.Referrer, Visit: int(e.Visit)}))
}

func unrememberedKinds(t *testing.T, v Visiting) {
	u := urls(t, "http://a.test/page", "http://a.test/sitemap.xml", "http://a.test/style.css", "http://a.test/gone",
		"http://a.test/moved",
		"http://b.test/due", "http://b.test/taken", "http://b.test/lost", "http://b.test/forgotten", "http://b.test/open",
		"http://b.test/never-observed")
	task := func(i int) crawl.Task {
		return crawl.Task{Job: job, URL: u[i], Depth: 2, Referrer: u[0]}
	}
	list, asset := task(1), task(2)
	list.Kind, asset.Kind = crawl.KindSitemap, crawl.KindAsset
	v.visited(t, task(0), visit(u[0], 0, crawl.VerdictDone, 200))
	v.visited(t, list, visit(u[1], 0, crawl.VerdictDone, 200))
	v.visited(t, asset, visit(u[2], 0, crawl.VerdictDone, 200))
	v.visited(t, task(3), visit(u[3], 0, crawl.VerdictGone, 404))
	v.visited(t, task(4), visit(u[4], 0, crawl.VerdictDone, 301))
	v.visited(t, task(5), visit(u[5], 0, crawl.VerdictDone, 200))
	v.visited(t, task(6), visit(u[6], 3, crawl.VerdictDone, 200)) // its visit 4 is queued
	v.visited(t, task(7), visit(u[7], 4, crawl.VerdictDone, 200)) // its visit 4 was made
	v.visited(t, task(8), visit(u[8], 4, crawl.VerdictDone, 200)) // and nothing is remembered of it
	v.visited(t, task(10), visit(u[10], 1, crawl.VerdictDone, 200))
	_, err := v.Ledger.Claim(t.Context(), job, crawl.MessageID{1}, []crawl.Task{task(9)})
	check(t, err)
	due, taken, lost := again(u[5], 1, 5), again(u[6], 4, 5), again(u[7], 4, 5)
	taken.Due, lost.Due = time.Time{}, time.Time{}
	unobserved := crawl.Revisit{URL: u[10], State: revisit.State{Weight: 128}} // it was due when its outcome came
	check(t, v.Revisits.Put(t.Context(), job, due, taken, lost, unobserved))
	found := v.find(t)
	if len(found) != 5 {
		t.Errorf("found %d, want five: %+v", len(found), found)
	}
	for _, want := range []crawl.Task{task(0), list, task(7), task(8), task(10)} {
		got, ok := found[want.URL.Key()]
		if !ok || got.URL != want.URL || got.Kind != want.Kind || got.Depth != 2 || got.Referrer != u[0] || got.Job != job {
			t.Errorf("%s was found as %+v", want.URL, got)
		}
	}
}

// find is what is found, by its key.
func (v Visiting) find(t *testing.T) map[weburl.Key]crawl.Task {
	t.Helper()
	found := map[weburl.Key]crawl.Task{}
	check(t, v.EachUnremembered(t.Context(), job, func(tasks []crawl.Task) error {
		for _, task := range tasks {
			found[task.URL.Key()] = task
		}
		return nil
	}))
	return found
}

func unrememberedMany(t *testing.T, v Visiting) {
	u := manyURLs(t, 30, 30)
	for some := range slices.Chunk(u, 100) {
		tasks, entries, lines := make([]crawl.Task, len(some)), make([]crawl.Entry, len(some)), make([]crawl.LogLine,
			len(some))
		for i, u := range some {
			tasks[i], entries[i] = crawl.Task{Job: job, URL: u}, visit(u, 0, crawl.VerdictDone, 200)
			lines[i] = crawl.LogLine{Job: job, URL: u, Verdict: crawl.VerdictDone, Status: 200, At: aTime}
		}
		_, err := v.Ledger.Claim(t.Context(), job, crawl.MessageID{1}, tasks)
		check(t, errors.Join(err, v.Ledger.Finish(t.Context(), job, entries...), v.Log.Append(t.Context(), lines...)))
	}
	if n := len(v.find(t)); n != len(u) {
		t.Fatalf("found %d of %d", n, len(u))
	}
	// Each is remembered as it is found, as a frontier does.
	n := 0
	check(t, v.EachUnremembered(t.Context(), job, func(tasks []crawl.Task) error {
		put := make([]crawl.Revisit, len(tasks))
		for i := range tasks {
			put[i] = again(tasks[i].URL, 1, 5)
		}
		n += len(tasks)
		return v.Revisits.Put(t.Context(), job, put...)
	}))
	if n != len(u) {
		t.Errorf("%d were found while they were remembered, want %d", n, len(u))
	}
	if found := v.find(t); len(found) > 0 {
		t.Errorf("what is remembered is found: %d", len(found))
	}
}

func unrememberedError(t *testing.T, v Visiting) {
	u := urls(t, "http://a.test/1")
	v.visited(t, crawl.Task{Job: job, URL: u[0]}, visit(u[0], 0, crawl.VerdictDone, 200))
	broken := errors.New("broken")
	if err := v.EachUnremembered(t.Context(), job, func([]crawl.Task) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	check(t, v.Revisits.Put(t.Context(), "another", again(u[0], 1, 5)))
	if len(v.find(t)) != 1 {
		t.Error("what another job remembers hides what this one does not")
	}
}
