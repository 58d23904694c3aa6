package node_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// edited is a job after a random edit of what it lets in.
func edited(r *rand.Rand, from *crawl.Job) *crawl.Job {
	next := *from
	switch r.IntN(5) {
	case 0:
		next.MaxDepth = 1 + r.IntN(6)
	case 1:
		next.Exclude = []string{fmt.Sprintf(`[%d-%d]($|\.html)`, r.IntN(3), 4+r.IntN(5))}
	case 2:
		next.Exclude = nil
		next.MaxDepth = 8
	case 3:
		next.Include = []string{fmt.Sprintf(`[%d-%d]`, r.IntN(4), 5+r.IntN(4))}
	case 4:
		next.Include, next.Exclude = nil, []string{fmt.Sprintf("/.*%d", r.IntN(10))}
	}
	return &next
}

// exactly is the exact answer of a preview, which is the last one.
func exactly(t *testing.T, e *node.Engine, next *crawl.Job) *preview.Answer {
	t.Helper()
	var last *preview.Answer
	if err := e.Preview(t.Context(), next, func(a *preview.Answer) { last = a }); err != nil {
		t.Fatal(err)
	}
	if last == nil || !last.Exact {
		t.Fatalf("the last answer is not exact: %+v", last)
	}
	return last
}

// fates are what became of the URLs of a job by a revision: those that were dismissed by it, and those that had been
// left out and are not any more. One that lay too deep for the revision, too, was found by a shorter way since then:
// that is not the work of the edit.
func fates(t *testing.T, e *node.Engine, id crawl.JobID, epoch uint32,
	left map[string]int) (dropped, admitted map[string]bool) {
	t.Helper()
	dropped, admitted = map[string]bool{}, map[string]bool{}
	job, err := e.Store().Jobs().JobAt(t.Context(), id, epoch)
	must(t, err)
	still := leftOutOf(t, e, id, func(l *crawl.LeftOut) {
		if l.Dismissed && l.Task.JobEpoch() == epoch {
			dropped[l.Task.URL.String()] = true
		}
	})
	for u, depth := range left {
		if _, is := still[u]; !is && depth <= job.MaxDepth {
			admitted[u] = true
		}
	}
	return dropped, admitted
}

func leftOutOf(t *testing.T, e *node.Engine, id crawl.JobID, each func(*crawl.LeftOut)) map[string]int {
	t.Helper()
	out := map[string]int{} // depth
	err := e.Store().EachLeftOut(t.Context(), id, nil, func(l *crawl.LeftOut) error {
		out[l.Task.URL.String()] = l.Task.Depth
		each(l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rest holds a job in the middle of its crawl, with nothing in flight.
func rest(t *testing.T, e *node.Engine, id crawl.JobID) {
	t.Helper()
	must(t, e.Hold(t.Context(), id, true))
	await(t, "nothing is in flight", func() bool { return stateOf(t, e, id).InFlight == 0 })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAPreviewIsWhatComesOfIt makes random edits of crawls that run: what the preview said is what the edit did.
func TestAPreviewIsWhatComesOfIt(t *testing.T) {
	srv := serve(t, fakeweb.Plain(8, 250))
	e, _ := runEngine(t, srv, t.TempDir())
	drops, admits, differs := 0, 0, 0
	edits := uint64(0)
	// More than wanted where a slow machine stopped the first crawls when nothing was queued any more.
	for least := uint64(harness.Fewer(20)); edits < least || (drops == 0 || admits == 0) && edits < 4*least; edits++ {
		seed := edits
		id := crawl.JobID(fmt.Sprintf("edit-%d", seed))
		r := rand.New(rand.NewPCG(seed, 13)) //nolint:gosec // a test
		job := jobFor(srv)
		// a link with nofollow may be found without it later
		job.ID, job.MaxPages, job.MaxDepth, job.IgnoreMeta = id, 0, 3, true
		job.Exclude = []string{fmt.Sprintf("%d", r.IntN(10))}
		submit(t, e, job)
		await(t, "it is in the middle",
			func() bool { return stateOf(t, e, id).Pages > int64(10+r.IntN(60)) || stateOf(t, e, id).Ended })
		rest(t, e, id)
		next := edited(r, job)
		then := map[string]crawl.LeftOut{}
		before := leftOutOf(t, e, id, func(l *crawl.LeftOut) { then[l.Task.URL.String()] = *l })
		said := exactly(t, e, next)
		_, err := e.Revise(t.Context(), next)
		must(t, err)
		must(t, e.Submit(t.Context(), next)) // it goes on, also where it had ended
		awaitEnd(t, e, id)
		current, err := e.Store().Jobs().Job(t.Context(), id)
		must(t, err)
		dropped, admitted := fates(t, e, id, current.Epoch, before)
		if said.Queued.Drops.URLs != int64(len(dropped)) || said.LeftOut.Admits.URLs != int64(len(admitted)) {
			t.Errorf("seed %d, %v: the preview said %d dropped and %d admitted of %d queued; it were %d and %d", seed,
				said.Changes, said.Queued.Drops.URLs, said.LeftOut.Admits.URLs, said.Queued.URLs, len(dropped), len(admitted))
		}
		now := map[string]crawl.LeftOut{}
		leftOutOf(t, e, id, func(l *crawl.LeftOut) { now[l.Task.URL.String()] = *l })
		asSaid(t, fmt.Sprintf("seed %d, dropped", seed), &said.Queued.Drops, dropped, now)
		asSaid(t, fmt.Sprintf("seed %d, admitted", seed), &said.LeftOut.Admits, admitted, then)
		for _, x := range said.Queued.Drops.Examples {
			if !dropped[x.URL] {
				t.Errorf("seed %d: %s was to be dropped by %s, and was not", seed, x.URL, x.Rule)
			}
		}
		if other := exactly(t, e, edited(r, next)); other.Queued.Drops.URLs != said.Queued.Drops.URLs ||
			other.LeftOut.Admits.URLs != said.LeftOut.Admits.URLs {
			differs++ // the figures are not the same whatever the edit is
		}
		drops, admits = drops+len(dropped), admits+len(admitted)
	}
	if t.Logf("%d dropped, %d admitted", drops, admits); drops == 0 || admits == 0 || uint64(differs) < edits/2 {
		t.Error("the edits do too little to show anything")
	}
}

// What an edit dropped comes back when it is undone: the crawl ends with the pages of one that was never edited.
func TestAnUndoneEditLeavesTheSetOfACrawlWithoutIt(t *testing.T) {
	srv := serve(t, fakeweb.Plain(8, 250))
	e, _ := runEngine(t, srv, t.TempDir())
	plain := jobFor(srv)
	plain.ID, plain.MaxPages, plain.MaxDepth = "plain-1", 0, 6
	revised := *plain
	revised.ID = "revised-1"
	submit(t, e, plain, &revised)
	await(t, "it is in the middle", func() bool { return stateOf(t, e, revised.ID).Pages > 30 })
	rest(t, e, revised.ID)
	queued := queuedOf(t, e, revised.ID)
	narrow := revised
	narrow.Exclude, narrow.MaxDepth = []string{"[1-8]"}, 2
	said := exactly(t, e, &narrow)
	if said.Queued.Drops.URLs == 0 {
		t.Fatal("the edit drops nothing: the test shows nothing")
	}
	_, err := e.Revise(t.Context(), &narrow)
	must(t, err)
	must(t, e.Hold(t.Context(), revised.ID, false))
	await(t, "the edit does something", func() bool {
		dropped, _ := fates(t, e, revised.ID, 2, nil)
		return len(dropped) > 0
	})
	rest(t, e, revised.ID)
	if len(notThere(t, e, revised.ID, queued)) == 0 {
		t.Error("the edit dropped nothing of the queue: the test shows nothing")
	}
	_, err = e.Revise(t.Context(), &revised)
	must(t, err)
	await(t, "all that was queued before the edit is queued again, or fetched",
		func() bool { return len(notThere(t, e, revised.ID, queued)) == 0 })
	must(t, e.Hold(t.Context(), revised.ID, false))
	awaitEnd(t, e, plain.ID)
	awaitRevised(t, e, revised.ID)
	sound(t, e, revised.ID)
	a, b := sortedPages(t, e.JobDir(plain.ID)), sortedPages(t, e.JobDir(revised.ID))
	if len(a) != len(b) {
		t.Errorf("%d pages without the edit, %d with it and its undoing", len(a), len(b))
	}
}

// awaitRevised waits for the end of a job that may have ended before it was revised.
func awaitRevised(t *testing.T, e *node.Engine, id crawl.JobID) {
	t.Helper()
	if stateOf(t, e, id).Ended {
		job, err := e.Store().Jobs().Job(t.Context(), id)
		must(t, err)
		must(t, e.Submit(t.Context(), job))
	}
	awaitEnd(t, e, id)
}

// A preview changes nothing, can be ended, and refuses what a revision would refuse.
func TestAPreviewOnlyReads(t *testing.T) {
	srv := serve(t, fakeweb.Plain(4, 100))
	e, _ := runEngine(t, srv, t.TempDir())
	job := jobFor(srv)
	job.ID, job.MaxPages, job.MaxDepth = "read-1", 0, 1
	submit(t, e, job)
	awaitEnd(t, e, job.ID)
	deeper := *job
	deeper.MaxDepth = 2
	first, second := exactly(t, e, &deeper), exactly(t, e, &deeper)
	if first.LeftOut.Admits.URLs == 0 || first.LeftOut.Admits.URLs != second.LeftOut.Admits.URLs || first.Epoch != 1 {
		t.Errorf("two previews: %+v and %+v", first.LeftOut, second.LeftOut)
	}
	if current, err := e.Store().Jobs().Job(t.Context(), job.ID); err != nil || current.Epoch > 1 {
		t.Errorf("a preview made a revision: %+v, %v", current, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Preview(ctx, &deeper, func(*preview.Answer) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended preview says %v", err)
	}
	other := *job
	other.KeepParams = !other.KeepParams
	if err := e.Preview(t.Context(), &other, func(*preview.Answer) {}); !crawl.IsPermanent(err) {
		t.Errorf("a preview of what cannot change says %v", err)
	}
}

// The first answer, by a sample, is near the exact one, and has all three places.
func TestASampleIsNearTheExactAnswer(t *testing.T) {
	srv := serve(t, fakeweb.Plain(8, 600))
	e, _ := runEngine(t, srv, t.TempDir())
	job := jobFor(srv)
	job.ID, job.MaxPages, job.Exclude = "sample-1", 0, []string{`[0-3]($|\.html)`}
	submit(t, e, job)
	await(t, "it is in the middle", func() bool { return stateOf(t, e, job.ID).Pages > 60 || stateOf(t, e, job.ID).Ended })
	rest(t, e, job.ID)
	next := *job
	next.Exclude = []string{`[3-6]($|\.html)`}
	var answers []preview.Answer
	must(t, e.SampledPreview(t.Context(), &next, func(a *preview.Answer) { answers = append(answers, *a) }))
	first, last := answers[0], answers[len(answers)-1]
	if first.Exact || first.Sampled == 0 || !last.Exact {
		t.Fatalf("the first answer is %+v, the last %+v", first, last)
	}
	for place, of := range map[string][2]preview.Row{"queued": {first.Queued, last.Queued},
		"left out": {first.LeftOut, last.LeftOut}, "fetched": {first.Fetched, last.Fetched}} {
		for fate, n := range map[string][2]int64{"": {of[0].URLs, of[1].URLs},
			"dropped": {of[0].Drops.URLs, of[1].Drops.URLs}, "admitted": {of[0].Admits.URLs, of[1].Admits.URLs}} {
			if math.Abs(float64(n[0]-n[1])) > max(float64(n[1])/10, 5) {
				t.Errorf("%s %s: %d by the sample, %d in truth", place, fate, n[0], n[1])
			}
		}
		if of[1].URLs == 0 {
			t.Errorf("none is %s: the test shows nothing of that", place)
		}
	}
}
