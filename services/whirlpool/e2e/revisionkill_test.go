package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
)

// revised is an execution on a server that is killed around the edits of its settings.
type revised struct {
	*server
	t    *testing.T
	site tree
	r    *rand.Rand
	p    *life
	id   crawl.JobID
}

// points are the instants of a revision at which the server is killed, as docs/design/architecture.md has them.
var points = map[string]func(k *revised, edit func() error){
	"while it is stored": func(k *revised, edit func() error) {
		done := make(chan struct{})
		go func() { defer close(done); _ = edit() }()
		k.killIn(25 * time.Millisecond)
		<-done
		k.goOn()
		k.insist(edit)
	},
	"when it applies": func(k *revised, edit func() error) {
		k.insist(edit)
		k.killIn(0)
		k.goOn()
	},
	"at its first lease": func(k *revised, edit func() error) {
		before := k.site.Count()
		k.insist(edit)
		k.p.poll(k.t, "a request after the edit", func() bool { return k.site.Count() > before || k.over() })
		k.killIn(15 * time.Millisecond)
		k.goOn()
	},
	"while queued tasks are judged again": func(k *revised, edit func() error) {
		k.insist(edit)
		k.killIn(80 * time.Millisecond)
		k.goOn()
	},
	"in the sweep": func(k *revised, edit func() error) {
		k.insist(edit)
		for range 3 {
			k.killIn(60 * time.Millisecond)
			k.goOn()
		}
	},
	"with requests of the old revision under way": func(k *revised, edit func() error) {
		k.site.Hold()
		k.p.poll(k.t, "a request that waits", func() bool { return k.site.Held() > 0 || k.over() })
		k.insist(edit)
		k.killIn(10 * time.Millisecond)
		k.site.Release()
		k.goOn()
	},
}

// A server is killed at six points of a revision, and of the revision that takes it back: what is fetched is what a
// crawl that began with the final rules fetches, and what was fetched under the rules before.
func TestAServerThatIsKilledWhileAJobIsRevised(t *testing.T) {
	long(t)
	t.Parallel()
	seeds, first := harness.Number(t, "WHIRLPOOL_E2E_SEEDS", 1),
		harness.Number(t, "WHIRLPOOL_E2E_SEED", int(time.Now().UnixNano()%1000))
	for _, point := range slices.Sorted(maps.Keys(points)) {
		for seed := first; seed < first+seeds; seed++ {
			t.Run(fmt.Sprintf("%s, seed %d", point, seed), func(t *testing.T) {
				t.Parallel()
				k := newRevised(t, rand.New(rand.NewPCG(uint64(seed), uint64(len(point)))))
				k.torment(points[point])
			})
		}
	}
}

// newRevised begins an execution by some rules.
func newRevised(t *testing.T, r *rand.Rand) *revised {
	k := &revised{server: newServer(t, nil), t: t, site: newTree(t), r: r, id: "revised-1"}
	k.p = k.start(t)
	k.ready(t, k.p)
	return k
}

// run starts the execution.
func (k *revised) run(rules e2e.TreeRules) {
	job := k.site.Job("revised", rules)
	source, err := jobfile.Marshal(job)
	harness.Check(k.t, err)
	_, err = k.api.CreateWorkflow(k.t.Context(), api.NewWorkflow{Slug: string(job.ID), Source: string(source)})
	harness.Check(k.t, err)
	_, err = k.api.Run(k.t.Context(), string(job.ID), workflow.Overrides{})
	harness.Check(k.t, err)
}

// torment edits the execution, with a kill at a point of that, takes the edit back in every second run, with another
// kill, and compares.
func (k *revised) torment(point func(*revised, func() error)) {
	t, rules, next := k.t, e2e.AnyTreeRules(k.r), e2e.AnyTreeRules(k.r)
	for next == rules {
		next = e2e.AnyTreeRules(k.r)
	}
	k.run(rules)
	k.after(5 + k.r.IntN(120))
	point(k, func() error { return k.edit(api.Edit{Patch: patch(next)}) })
	final := next
	if k.r.IntN(2) == 0 {
		k.after(1 + k.r.IntN(40))
		epoch := k.epoch()
		point(k, func() error { return k.edit(api.Edit{Undo: epoch}) })
		final = rules
	}
	k.end()
	harness.Report(t, "audit", auditOf(t, k.server, k.id))
	pages, epoch := k.pages(), k.epoch()
	harness.Report(t, fmt.Sprintf("%+v, then %+v, in the end %+v", rules, next, final),
		k.site.Differs(final, pages, epoch))
	t.Logf("%+v, then %+v, in the end %+v: %d pages, %d of them only by old rules", rules, next, final, len(pages),
		len(pages)-len(k.site.Pages(final)))
	k.control(final, pages, epoch)
}

// control shows that a page that is missing, and one that nobody wants, would have been found.
func (k *revised) control(final e2e.TreeRules, pages map[string]uint32, epoch uint32) {
	lost, more := maps.Clone(pages), maps.Clone(pages)
	delete(lost, k.site.URL+"/")
	more[k.site.URL+"/-9"] = epoch
	if len(k.site.Differs(final, lost, epoch)) == 0 || len(k.site.Differs(final, more, epoch)) == 0 {
		k.t.Error("neither a page that is missing nor one too many would have been found")
	}
}

// patch makes rules those of a job.
func patch(rules e2e.TreeRules) map[string]any {
	return map[string]any{"max_depth": rules.Depth, "exclude": rules.Patterns()}
}

func (k *revised) edit(e api.Edit) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := k.api.Revise(ctx, k.id, api.NewRevision{Edit: e, Resume: true})
	return err
}

// insist edits until the server has said that it did: it may be busy with its beginning.
func (k *revised) insist(edit func() error) {
	k.t.Helper()
	var err error
	k.p.poll(k.t, "the edit to be taken", func() bool { err = edit(); return err == nil })
	harness.Check(k.t, err)
}

// after waits for pages, or the end.
func (k *revised) after(requests int) {
	target := k.site.Count() + requests
	k.p.poll(k.t, "requests", func() bool { return k.site.Count() >= target || k.over() })
}

func (k *revised) over() bool {
	x, err := k.api.Execution(k.t.Context(), k.id)
	return err == nil && x.State.Ended()
}

func (k *revised) epoch() uint32 {
	all, err := k.api.Revisions(k.t.Context(), k.id)
	harness.Check(k.t, err)
	return slices.MaxFunc(all, func(a, b api.Revision) int { return cmp.Compare(a.Epoch, b.Epoch) }).Epoch
}

// killIn kills the server within a time.
func (k *revised) killIn(most time.Duration) {
	if most > 0 {
		time.Sleep(time.Duration(k.r.Int64N(int64(most)))) // nobody waits for anything: it spreads the instants
	}
	k.p.kill(k.t)
}

// goOn starts the server again.
func (k *revised) goOn() {
	k.p = k.start(k.t)
	if !k.ready(k.t, k.p) {
		k.t.Fatalf("the server ended by itself: %v\n%s", k.p.err, k.p.out.String())
	}
}

// end waits until the execution has ended by its last revision.
func (k *revised) end() {
	k.p.poll(k.t, "the execution to end", func() bool {
		x, err := k.api.Execution(k.t.Context(), k.id)
		return err == nil && x.State.Ended()
	})
}

// pages are those of the execution's records, with the revisions by which they were fetched.
func (k *revised) pages() map[string]uint32 {
	pages := map[string]uint32{}
	for u, line := range linesOf(k.t, filepath.Join(k.dir, "executions", string(k.id), "pages.jsonl")) {
		var record struct{ Epoch uint32 }
		harness.Check(k.t, json.Unmarshal([]byte(line), &record))
		pages[u] = max(record.Epoch, 1)
	}
	return pages
}

// Of many editors of the same revision one wins; the others are told, and so is one whose preview is of it.
func TestOneOfManyEditorsOfARevisionWins(t *testing.T) {
	long(t)
	t.Parallel()
	k := newRevised(t, rand.New(rand.NewPCG(1, 1)))
	k.run(e2e.TreeRules{Depth: 3})
	k.after(3)
	seen, err := k.api.Preview(t.Context(), k.id, api.Edit{Patch: map[string]any{"max_depth": 2}})
	harness.Check(t, err)
	const editors = 12
	var group sync.WaitGroup
	var won atomic.Int32
	for i := range editors {
		group.Go(func() {
			if err := k.edit(api.Edit{Patch: map[string]any{"max_depth": 10 + i}, Epoch: 1}); err == nil {
				won.Add(1)
			} else if !strings.Contains(err.Error(), "the settings are at revision 2 now") {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := won.Load(); n != 1 || k.epoch() != 2 {
		t.Errorf("%d of %d edits of revision 1 were taken, and the settings are at revision %d", n, editors, k.epoch())
	}
	_, err = k.api.Revise(t.Context(), k.id,
		api.NewRevision{Edit: api.Edit{Patch: map[string]any{"max_depth": 2}}, PreviewID: seen.ID})
	if err == nil || !strings.Contains(err.Error(), "the settings are at revision 2 now") {
		t.Errorf("an edit with a preview of revision 1: %v", err)
	}
}
