package cluster_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/seedlist"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// submitted gives a cluster a job, and returns it.
func submitted(t *testing.T, c *cluster.Cluster, id crawl.JobID) *crawl.Job {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.AllowPrivate = id, []string{"http://127.0.0.1:1/"}, true
	done, err := c.Submit(t.Context(), control.Submission{Job: &job})
	harness.Check(t, err)
	return done.Job
}

// discarded deletes a job without waiting for programs that may know it, for there are none.
func discarded(t *testing.T, c *cluster.Cluster, id crawl.JobID) {
	t.Helper()
	_, err := c.Postgres.Jobs().BeginDelete(t.Context(), id)
	harness.Check(t, err)
	_, err = c.Postgres.Jobs().Erase(t.Context(), id)
	harness.Check(t, err)
}

// A seed of a job that somebody deletes meanwhile is refused: nothing of it is queued.
func TestSeedsOfAJobThatIsDeletedMeanwhileAreNotSaidToBeQueued(t *testing.T) {
	for name, whole := range map[string]bool{"the deletion has begun": false, "it is gone": true} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			job := submitted(t, c, "short")
			list := &seedlist.List{Name: "list", Open: func() (io.ReadCloser, error) {
				if whole {
					discarded(t, c, "short")
				} else if _, err := c.Postgres.Jobs().BeginDelete(t.Context(), "short"); err != nil {
					t.Error(err)
				}
				return io.NopCloser(strings.NewReader("http://127.0.0.1:1/a\nhttp://127.0.0.1:1/b\n")), nil
			}}
			_, err := c.Submit(t.Context(), control.Submission{Job: job, List: list})
			if err == nil || !strings.Contains(err.Error(), "short was deleted meanwhile") {
				t.Errorf("error %v, want one that says that it was deleted", err)
			}
		})
	}
}

// A revision of a job that was deleted meanwhile is none of a job that nobody submitted.
func TestARevisionBringsNoDeletedJobBack(t *testing.T) {
	c := open(t)
	submitted(t, c, "gone")
	_, err := c.Revise(t.Context(), "gone", func(now *crawl.Job) (*crawl.Job, error) {
		if list, err := c.Postgres.Jobs().List(t.Context()); err == nil && len(list) > 0 {
			discarded(t, c, "gone")
		}
		next := *now
		next.MaxPages = 77
		return &next, nil
	})
	if err == nil || !strings.Contains(err.Error(), "no such job") {
		t.Errorf("error %v, want one that says that there is no such job", err)
	}
	if list, err := c.Postgres.Jobs().List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("jobs %+v, %v; want none", list, err)
	}
}

// --retry with settings undoes nobody's revision.
func TestARetryUndoesNobodysRevision(t *testing.T) {
	c := open(t)
	submitted(t, c, "tried")
	first := true
	_, err := c.Retry(t.Context(), "tried", control.Retry{Verdicts: []crawl.Verdict{crawl.VerdictFailed},
		Waiting: func(crawl.JobID, time.Duration) {}, Change: func(now *crawl.Job) (*crawl.Job, error) {
			if first {
				first = false
				_, err := c.Revise(t.Context(), "tried", func(now *crawl.Job) (*crawl.Job, error) {
					next := *now
					next.MaxPages = 77
					return &next, nil
				})
				harness.Check(t, err)
			}
			next := *now
			next.MaxDepth = 3
			return &next, nil
		}})
	harness.Check(t, err)
	job, _, err := c.Postgres.Jobs().Current(t.Context(), "tried")
	if err != nil || job.MaxPages != 77 || job.MaxDepth != 3 {
		t.Errorf("max_pages %d, max_depth %d, %v; want 77 and 3", job.MaxPages, job.MaxDepth, err)
	}
}

// A job that has ended and gets more to do can be paused at once.
func TestAnEndedJobWithMoreToDoCanBePausedAtOnce(t *testing.T) {
	c := open(t)
	for name, tt := range map[string]struct {
		change func(*crawl.Job)
		paused bool
	}{
		"larger":  {func(j *crawl.Job) { j.MaxPages *= 2 }, true},
		"longer":  {func(j *crawl.Job) { j.Bounds.MaxTime = crawl.Duration(time.Hour) }, true},
		"quicker": {func(j *crawl.Job) { j.Politeness.Delay /= 2 }, false},
	} {
		id := crawl.JobID(name)
		seeds, err := submitted(t, c, id).SeedURLs()
		harness.Check(t, err)
		_, err = c.Postgres.URLs().Claim(t.Context(), id, crawl.MessageID{1}, []crawl.Task{{Job: id, URL: seeds[0]}})
		harness.Check(t, err)
		harness.Check(t, c.Postgres.Jobs().SetState(t.Context(), id, crawl.JobEnded))
		_, err = c.Revise(t.Context(), id, func(now *crawl.Job) (*crawl.Job, error) {
			next := *now
			tt.change(&next)
			return &next, nil
		})
		harness.Check(t, err)
		if _, err := c.Order(t.Context(), id, control.Pause); (err == nil) != tt.paused {
			t.Errorf("%s: pausing it: %v; want it paused: %t", name, err, tt.paused)
		}
	}
}

// Whoever wants a crawl to stand still need not wait until its page store is back. Nothing is deleted by halves.
func TestAJobIsPausedWithoutThePageStore(t *testing.T) {
	cfg := config(t)
	cfg.MongoDB.URL = "mongodb://127.0.0.1:1/"
	c := openWith(t, cfg)
	submitted(t, c, "still")
	if _, err := c.Order(t.Context(), "still", control.Pause); err != nil {
		t.Errorf("pausing it: %v", err)
	}
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		t.Cleanup(cancel)
		return ctx
	}
	if _, err := c.Delete(soon(), "still", true); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("deleting it: %v; want an error that names the page store", err)
	}
	if info, err := c.Postgres.Jobs().Info(t.Context(), "still"); err != nil || !info.Deleted.IsZero() ||
		info.State != crawl.JobPaused {
		t.Errorf("the job is %+v, %v; want it paused, and not deleted", info, err)
	}
	if _, _, err := c.Mongo.Job("still").Record(soon(), weburl.Key{1}); err == nil ||
		!strings.Contains(err.Error(), "does not answer; is it running") {
		t.Errorf("reading a record: %v", err)
	}
}
