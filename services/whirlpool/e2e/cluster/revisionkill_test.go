package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// revisedJob is a job of a cluster whose programs are killed around its revisions.
type revisedJob struct {
	*cluster
	id   crawl.JobID
	site *e2e.Tree
	r    *rand.Rand
	// final are the rules of the last revision.
	final e2e.TreeRules
}

// points are the instants of a revision at which programs are killed, as docs/design/architecture.md has them.
var points = map[string]func(k *revisedJob, rules e2e.TreeRules){
	"while it is stored": func(k *revisedJob, rules e2e.TreeRules) {
		ctx, cancel := context.WithTimeout(k.t.Context(), time.Duration(k.r.Int64N(int64(400*time.Millisecond))))
		defer cancel()
		// killed when the time is over
		cmd := exec.CommandContext(ctx, filepath.Join(programs, "whirlpool"), k.order(rules)...)
		cmd.Env, cmd.Dir = k.env, k.Dir
		_ = cmd.Run()
		k.killed("frontier", k.program("frontier"))
		k.edit(rules)
	},
	"when it applies": func(k *revisedJob, rules e2e.TreeRules) {
		k.edit(rules)
		k.killed("frontier", k.program("frontier"))
	},
	"at its first lease": func(k *revisedJob, rules e2e.TreeRules) {
		before := k.site.Count()
		k.edit(rules)
		until(k.t, patience, "a request after the edit",
			func() bool { return k.site.Count() > before || k.over() || k.stuck() })
		k.killed("frontier and fetcher", k.program("frontier"), k.program("fetcher"))
	},
	"while queued tasks are judged again": func(k *revisedJob, rules e2e.TreeRules) {
		k.edit(rules)
		k.spread(1200 * time.Millisecond)
		k.killed("frontier, URL filter and DUE", k.program("frontier"), k.program("urlfilter"), k.program("due"))
	},
	"in the sweep": func(k *revisedJob, rules e2e.TreeRules) {
		k.edit(rules)
		for range 3 {
			k.spread(1200 * time.Millisecond)
			k.killed("frontier and DUE", k.program("frontier"), k.program("due"))
		}
	},
	"with requests of the old revision under way": func(k *revisedJob, rules e2e.TreeRules) {
		k.site.Hold()
		until(k.t, patience, "a request that waits", func() bool { return k.site.Held() > 0 || k.over() || k.stuck() })
		k.edit(rules)
		k.spread(1500 * time.Millisecond)
		k.killed("all programs", k.programs...)
		k.site.Release()
	},
}

// The programs of a cluster are killed at six points of a revision, and of the revision that takes it back: what is
// fetched is what a crawl that began with the final rules fetches, and what was fetched under the rules before.
func TestProgramsThatAreKilledWhileAJobIsRevised(t *testing.T) {
	long(t)
	ready(t)
	seeds, first := harness.Number(t, "WHIRLPOOL_E2E_SEEDS", 0),
		harness.Number(t, "WHIRLPOOL_E2E_SEED", int(time.Now().UnixNano()%1000))
	all := slices.Sorted(maps.Keys(points))
	if seeds == 0 { // a look at two points, another two each time
		all, seeds = []string{all[first%len(all)], all[(first+3)%len(all)]}, 1
	}
	c := newCluster(t, listen(t, fakeweb.Plain(1, 1), 0), &crawl.Job{ID: "none"})
	c.startSeven()
	for seed := first; seed < first+seeds; seed++ {
		var jobs []*revisedJob
		for i, point := range all {
			k := &revisedJob{cluster: c, id: crawl.JobID(fmt.Sprintf("revised-%d-%d", seed, i)), site: e2e.NewTree(),
				r: rand.New(rand.NewPCG(uint64(seed), uint64(i)))}
			t.Cleanup(k.site.Close)
			t.Logf("%s: %s", k.id, point)
			k.torment(points[point])
			jobs = append(jobs, k)
		}
		for _, k := range jobs {
			k.judgeRevised()
		}
		if t.Failed() {
			return
		}
	}
}

// torment edits the job, with programs killed at a point of that, and takes the edit back in every second run.
func (k *revisedJob) torment(point func(*revisedJob, e2e.TreeRules)) {
	rules, next := e2e.AnyTreeRules(k.r), e2e.AnyTreeRules(k.r)
	for next == rules {
		next = e2e.AnyTreeRules(k.r)
	}
	k.edit(rules)
	k.after(5 + k.r.IntN(120))
	point(k, next)
	if k.final = next; k.r.IntN(2) == 0 {
		k.after(1 + k.r.IntN(40))
		point(k, rules)
		k.final = rules
	}
	k.t.Logf("%s: %+v, then %+v, in the end %+v", k.id, rules, next, k.final)
}

// judgeRevised waits for the end of the job, and fails the test for what is wrong with it.
func (k *revisedJob) judgeRevised() {
	until(k.t, patience, string(k.id)+" to end",
		func() bool { return k.over() && !k.sweepDue() && k.quiet() || k.stuck() })
	pages := map[string]uint32{}
	check(k.t, k.Mongo.Job(k.id).Each(k.t.Context(), func(r *crawl.Record) error {
		pages[r.URL.String()] = crawl.EpochOf(r.Epoch)
		return nil
	}))
	job, err := k.Postgres.Jobs().Job(k.t.Context(), k.id)
	check(k.t, err)
	differs := k.site.Differs(k.final, pages, job.Epoch)
	report(k.t, string(k.id), differs)
	k.explainMissing(differs)
	report(k.t, string(k.id)+": unsettled", k.Unsettled(k.id))
	if code, text := k.exitCode("audit", "--cluster", "--job", string(k.id)); code != 0 {
		k.t.Errorf("%s: audit exits with %d\n%s", k.id, code, text)
	}
	k.t.Logf("%s: %d pages by revision %d, %d of them only by old rules", k.id, len(pages), job.Epoch,
		len(pages)-len(k.site.Pages(k.final)))
}

// explainMissing logs what the cluster says of pages that are missing.
func (k *revisedJob) explainMissing(differs []string) {
	for _, d := range differs {
		if url, missing := strings.CutSuffix(d, " is missing"); missing {
			_, text := k.exitCode("explain", "--cluster", "--job", string(k.id), url)
			k.t.Logf("%s", text)
		}
	}
}

// order is the command that gives the job its rules.
func (k *revisedJob) order(rules e2e.TreeRules) []string {
	return []string{"seed", "-c", crawltest.WriteJob(k.t, k.Dir, k.site.Job(k.id, rules)), "--job", string(k.id),
		"--cluster"}
}

func (k *revisedJob) edit(rules e2e.TreeRules) { k.whirlpool(k.order(rules)...) }

// after waits for requests, or the end.
func (k *revisedJob) after(requests int) {
	target := k.site.Count() + requests
	until(k.t, patience, "requests", func() bool { return k.site.Count() >= target || k.over() || k.stuck() })
}

func (k *revisedJob) over() bool { return k.Ended(k.id) }

func (k *revisedJob) sweepDue() bool {
	s, err := k.Postgres.Jobs().Sweep(k.t.Context(), k.id)
	return err != nil || s.Due()
}

// quiet reports whether nothing is queued or under way.
func (k *revisedJob) quiet() bool {
	held, err := crawltest.Held(k.t.Context(), k.bus)
	return err == nil && len(held) == 0
}

// spread lets time pass that nobody waits for: it spreads the instants.
func (k *revisedJob) spread(most time.Duration) { time.Sleep(time.Duration(k.r.Int64N(int64(most)))) }
