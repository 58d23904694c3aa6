package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/due"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// claimer is a bus that hands every batch to a DUE, which shares the store, and keeps what it lets through.
type claimer struct {
	due *due.Handler

	mu    sync.Mutex
	fail  int // publications that fail from now on
	drop  int // publications that are lost from now on
	sent  int
	fresh map[string]int
}

func (c *claimer) Publish(ctx context.Context, msgs ...bus.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range msgs {
		c.sent++
		if c.fail > 0 {
			c.fail--
			return errors.New("no broker")
		}
		if c.drop > 0 {
			c.drop--
			continue
		}
		events, err := c.due.Handle(pipeline.WithDelivery(ctx, pipeline.Delivery{ID: m.ID}),
			&crawl.Claim{Batch: m.Event.(*crawl.Filtered).Batch})
		if err != nil {
			return err
		}
		for _, e := range events {
			for _, t := range e.(*crawl.Fresh).Tasks {
				c.fresh[t.URL.String()]++
			}
		}
	}
	return nil
}

func (c *claimer) Consume(context.Context, string, bus.Workers, bus.Handler) error { return nil }

// swept is a job of two revisions with n URLs that the first left out, over a real store.
type swept struct {
	store *local.Store
	bus   *claimer
	*sweeper
}

const sweptURLs = 3*sweepChunk + 100

// newSwept leaves out, by the first revision, URLs by depth, pattern, budget and scope: of each a fourth.
func newSwept(t *testing.T, change func(*crawl.Job)) *swept {
	t.Helper()
	store, err := local.Open(t.TempDir(), local.Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.MaxDepth, job.Exclude, job.PagesPerLevel = "j", []string{"http://a.test/"}, 1, []string{"/x/"},
		1
	ctx := context.Background()
	var excluded []crawl.Exclusion
	for i := range sweptURLs {
		u := sweptURL(t, i)
		switch i % 4 {
		case 0:
			excluded = append(excluded, crawl.Exclusion{URL: u, Reason: crawl.ReasonDepth, Depth: 2})
		case 1:
			excluded = append(excluded, crawl.Exclusion{URL: u, Reason: crawl.ReasonExclude, Depth: 1})
		case 2:
			excluded = append(excluded, crawl.Exclusion{URL: u, Reason: crawl.ReasonScope, Depth: 1})
		default:
			dismiss(t, store, crawl.Task{Job: "j", URL: u, Depth: 1})
		}
	}
	if _, err := store.URLs().Exclude(ctx, "j", crawl.MessageID{1}, excluded); err != nil {
		t.Fatal(err)
	}
	for _, c := range []func(*crawl.Job){func(*crawl.Job) {}, change} {
		c(&job)
		if _, _, err := store.Jobs().AddRevision(ctx, &job); err != nil {
			t.Fatal(err)
		}
	}
	s := &swept{store: store, bus: &claimer{fresh: map[string]int{},
		due: due.New(due.Deps{URLs: store.URLs(), Ledger: store.URLs(),
			Budgets: store.Budgets(), Attempts: store.AttemptLog(), Jobs: store.Jobs()})}}
	s.sweeper = &sweeper{jobs: store.Jobs(), left: store.URLs(), look: store.URLs(), bus: s.bus,
		judge: urlfilter.NewJudge(store.Jobs()), log: slog.New(slog.DiscardHandler), patience: 50 * time.Millisecond}
	return s
}

func sweptURL(t *testing.T, i int) weburl.URL {
	u, err := weburl.Parse(fmt.Sprintf("http://%s/%s/%d", []string{"a.test", "a.test", "b.test", "a.test"}[i%4],
		[]string{"d", "x", "s", "l"}[i%4], i))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func dismiss(t *testing.T, store *local.Store, task crawl.Task) {
	t.Helper()
	ctx := context.Background()
	_, err := store.URLs().Claim(ctx, "j", crawl.MessageID{2}, []crawl.Task{task})
	left := crawl.LeftOut{Task: task, Reason: crawl.ReasonLevelBudget}
	if err = errors.Join(err, store.URLs().Finish(ctx, "j",
		crawl.Entry{Key: task.URL.Key(), Verdict: crawl.VerdictExcluded, Reason: left.Reason,
			Left: &left})); err != nil {
		t.Fatal(err)
	}
}

// let returns how many URLs of each kind were let in, each once at least.
func (s *swept) let(t *testing.T) (kinds [4]int) {
	t.Helper()
	for i := range sweptURLs {
		if s.bus.fresh[sweptURL(t, i).String()] > 0 {
			kinds[i%4]++
		}
	}
	return kinds
}

func nothingUnderWay(context.Context) (bool, error) { return true, nil }

func TestTheSweepLetsInWhatARevisionWants(t *testing.T) {
	const fourth = sweptURLs / 4
	for name, tt := range map[string]struct {
		change func(*crawl.Job)
		want   [4]int // by depth, exclude, scope, level
	}{
		"nothing": {func(j *crawl.Job) { j.Politeness.Delay++ }, [4]int{}},
		"depth":   {func(j *crawl.Job) { j.MaxDepth, j.PagesPerLevel = 2, 0 }, [4]int{0: fourth, 3: fourth}},
		"pattern": {func(j *crawl.Job) { j.Exclude = nil; j.PagesPerLevel = 2 * fourth }, [4]int{1: -1, 3: -1}},
		"scope": {func(j *crawl.Job) { j.Seeds = append(j.Seeds, "http://b.test/"); j.PagesPerLevel = 0 },
			[4]int{2: fourth, 3: fourth}},
		"a budget": {func(j *crawl.Job) { j.PagesPerLevel = 11 }, [4]int{3: 11}},
		"no rule is left": {func(j *crawl.Job) {
			j.MaxDepth, j.Exclude, j.Scope, j.PagesPerLevel = -1, nil, crawl.ScopeAny,
				0
		}, [4]int{fourth, fourth, fourth, fourth}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSwept(t, tt.change)
			for range 3 { // done again, it lets in nothing more
				if err := s.pass(context.Background(), "j"); err != nil {
					t.Fatal(err)
				}
			}
			if done, err := s.lastPass(context.Background(), "j", nothingUnderWay); err != nil || !done {
				t.Errorf("at the end of the job more are let in, error %v", err)
			}
			got := s.let(t)
			if tt.want[1] < 0 { // which URLs get the budget is chance
				if got[1]+got[3] != 2*fourth || got[0]+got[2] > 0 {
					t.Errorf("let in %v: want %d of the second and the last kind", got, 2*fourth)
				}
			} else if got != tt.want {
				t.Errorf("let in %v, want %v", got, tt.want)
			}
			if sweep, err := s.jobs.Sweep(context.Background(), "j"); err != nil || sweep.Due() {
				t.Errorf("the sweep is %+v, %v: want it done", sweep, err)
			}
		})
	}
}

// TestTheSweepGoesOnWhereItWasCutOff lets it fail after each publication in turn: everything is let in, and nothing is
// claimed twice.
func TestTheSweepGoesOnWhereItWasCutOff(t *testing.T) {
	for cut := range 5 {
		t.Run(fmt.Sprint("after ", cut), func(t *testing.T) {
			t.Parallel()
			s := newSwept(t, func(j *crawl.Job) { j.MaxDepth, j.Exclude, j.Scope, j.PagesPerLevel = -1, nil, crawl.ScopeAny, 0 })
			ctx, stop := context.WithCancel(context.Background())
			s.look = &cutLedger{Ledger: s.store.URLs(), left: cut, stop: stop}
			err := s.pass(ctx, "j")
			before := s.let(t)
			if err == nil && cut < 3 {
				t.Fatal("it was not cut off")
			}
			s.look = s.store.URLs()
			s.bus.fail = 1
			// later there may be nothing left to send
			if _, err := s.lastPass(context.Background(), "j", nothingUnderWay); err == nil && cut < 2 {
				t.Fatal("a broker that is away is no error")
			}
			s.bus.drop = 1 // and a message is lost
			if _, err := s.lastPass(context.Background(), "j", nothingUnderWay); err != nil {
				t.Fatal(err)
			}
			if done, err := s.lastPass(context.Background(), "j", nothingUnderWay); !done || err != nil {
				t.Errorf("more at the end, error %v", err)
			}
			const fourth = sweptURLs / 4
			if got := s.let(t); got != [4]int{fourth, fourth, fourth, fourth} {
				t.Errorf("let in %v, before the end %v", got, before)
			}
			tally, err := s.store.URLs().Tally(context.Background(), "j")
			if err != nil || tally.Claimed != sweptURLs ||
				len(slices.DeleteFunc([]int64{tally.Excluded[crawl.ReasonDepth], tally.Verdicts["excluded"]},
					func(n int64) bool { return n == 0 })) > 0 {
				t.Errorf("tally %+v, %v", tally, err)
			}
		})
	}
}

// cutLedger ends a context instead of an answer.
type cutLedger struct {
	crawl.Ledger
	left int
	stop func()
}

func (l *cutLedger) Lookup(ctx context.Context, job crawl.JobID, keys ...weburl.Key) ([]crawl.Entry, error) {
	if l.left--; l.left < 0 {
		l.stop()
		return nil, context.Canceled
	}
	return l.Ledger.Lookup(ctx, job, keys...)
}
