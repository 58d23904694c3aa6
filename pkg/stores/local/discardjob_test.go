package local

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func openMany(t *testing.T, dir string) *Store {
	t.Helper()
	opt := Default()
	opt.Executions = filepath.Join(dir, "executions")
	s, err := Open(filepath.Join(dir, "crawl"), opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// storeFor stores something of every kind for a job.
func storeFor(t *testing.T, s *Store, id crawl.JobID, n int) {
	t.Helper()
	ctx := context.Background()
	job := crawl.DefaultJob()
	job.ID, job.Seeds = id, []string{"http://a.test/"}
	_, _, err := s.Jobs().AddRevision(ctx, &job)
	must(t, err)
	for i := range n {
		u := mustURL(t, fmt.Sprintf("http://a.test/%d", i))
		task := crawl.Task{Job: id, URL: u}
		_, err := s.URLs().Claim(ctx, id, crawl.MessageID{byte(i)}, []crawl.Task{task})
		must(t, err)
		must(t, s.AllLogs().Append(ctx, crawl.LogLine{Job: id, URL: u, Verdict: crawl.VerdictDone, Status: 200}))
		if i%2 == 0 {
			must(t, s.Queues().Push(ctx, crawl.Queued{Queue: "later.1", Task: task}))
			continue
		}
		must(t, s.AllPages().Put(ctx, &crawl.Record{Job: id, URL: u, FinalURL: u, Status: 200, Title: string(id)}))
		_, err = s.ContentSet().Claim(ctx, crawl.Fingerprint{Job: id, URL: u, Digest: crawl.Digest{byte(i)}}, -1, nil)
		must(t, err)
		must(t, s.URLs().Finish(ctx, id,
			crawl.Entry{Key: u.Key(), Kind: crawl.KindPage, Verdict: crawl.VerdictDone, Status: 200}))
	}
	u := mustURL(t, "http://a.test/0")
	_, err = s.Budgets().Spend(ctx, id, "host a.test", 1, 10)
	must(t, err)
	must(t, s.Unkept().Note(ctx, id, u, "noindex"))
	must(t, s.Redirects().Redirect(ctx, id, u, u))
	fetch := &crawl.Fetch{Task: crawl.Task{Job: id, URL: u}}
	_, err = s.Journal().Append(ctx, bus.Message{ID: crawl.MessageID{9}, Event: fetch})
	must(t, err)
	must(t, s.DeadLetters().Bury(ctx, bus.DeadLetter{Topic: crawl.TopicFetch,
		Message: bus.Message{ID: crawl.MessageID{7}.Child(string(id), 0), Event: fetch}}))
}

// of are the entries of the state that belong to a job, or to none.
func entriesWithout(t *testing.T, s *Store, id crawl.JobID, num jobNum) (rest map[string]string, own int) {
	t.Helper()
	rest = map[string]string{}
	for k, v := range contents(t, s) {
		key := []byte(k)
		mine := key[0]&perJob != 0 && len(key) >= jobEnd && string(key[1:jobEnd]) == string(appendJob(nil, 0, num)[1:])
		if key[0] == kindContent {
			mine = string(key[2:2+jobLen]) == string(appendJob(nil, 0, num)[1:])
		}
		if mine || strings.Contains(v, string(id)) || strings.Contains(k, string(id)) {
			own++
			continue
		}
		rest[k] = v
	}
	return rest, own
}

// A job that is discarded leaves nothing, and takes nothing of the others. A kill behind the note is finished by the
// next start.
func TestADiscardedJobLeavesNothing(t *testing.T) {
	for name, killed := range map[string]bool{"whole": false, "killed behind the note": true} {
		t.Run(name, func(t *testing.T) {
			dir, ctx := t.TempDir(), context.Background()
			s := openMany(t, dir)
			storeFor(t, s, "keep-1", 20)
			storeFor(t, s, "drop-1", 20)
			num, _ := s.jobs.find("drop-1")
			want, own := entriesWithout(t, s, "drop-1", num)
			if own < 60 {
				t.Fatalf("the job has %d entries: the check proves little", own)
			}
			kept, err := os.ReadFile(filepath.Join(dir, "executions", "keep-1", pagesName))
			must(t, err)
			if killed {
				must(t, s.do(ctx, func(b *pebble.Batch) { _ = b.Set(discardKey(num), []byte("ddrop-1"), nil) }))
			} else {
				must(t, s.DiscardJob(ctx, "drop-1", false))
				if _, err := s.Jobs().Job(ctx, "drop-1"); err == nil || crawl.IsPermanent(err) {
					t.Errorf("the job is answered with %v", err)
				}
				if err := s.AllPages().Put(ctx, &crawl.Record{Job: "drop-1", URL: mustURL(t, "http://a.test/late")}); err == nil {
					t.Error("a record was stored for a job that is gone")
				}
			}
			must(t, s.Close())
			s = openMany(t, dir)
			defer func() { must(t, s.Close()) }()
			got, left := entriesWithout(t, s, "drop-1", num)
			holes := stringKey(kindHoles, "later.1")
			delete(got, string(holes)) // where tasks of the other job lay between
			if left != 0 || !maps.Equal(got, want) {
				t.Errorf("%d entries of the job are left, and %d of %d others", left, len(got), len(want))
			}
			if _, err := os.Stat(filepath.Join(dir, "executions", "drop-1")); !os.IsNotExist(err) {
				t.Errorf("its files: %v", err)
			}
			if now, err := os.ReadFile(filepath.Join(dir, "executions", "keep-1", pagesName)); err != nil ||
				string(now) != string(kept) {
				t.Errorf("the records of another job changed: %v", err)
			}
			if ds, err := s.Queues().Pull(ctx, "later.1", 100); err != nil || len(ds) != 10 {
				t.Errorf("%d tasks of the other job are queued, %v; want 10", len(ds), err)
			}
			if n, err := s.jobs.number(ctx, "drop-1"); err != nil || n <= num {
				t.Errorf("the number of its next life is %d, %v; the former was %d", n, err, num)
			}
		})
	}
}

// A store of many jobs is not taken for one crawl's, nor the other way round.
func TestLayoutsAreToldApart(t *testing.T) {
	dir := t.TempDir()
	s := openMany(t, dir)
	storeFor(t, s, "job-1", 2)
	must(t, s.Close())
	if s, err := Open(filepath.Join(dir, "crawl"), Default()); err == nil {
		_ = s.Close()
		t.Error("the state of many jobs was opened as one crawl's")
	}
	one := t.TempDir()
	s, err := Open(one, Default())
	must(t, err)
	storeFor(t, s, "job-1", 2)
	must(t, s.Close())
	opt := Default()
	opt.Executions = filepath.Join(one, "executions")
	if s, err := Open(one, opt); err == nil {
		_ = s.Close()
		t.Error("one crawl's directory was opened as the state of many jobs")
	}
	must(t, os.RemoveAll(filepath.Join(dir, "crawl")))
	opt.Executions = filepath.Join(dir, "executions")
	if s, err := Open(filepath.Join(dir, "crawl"), opt); err == nil {
		_ = s.Close()
		t.Error("results without their state were taken over")
	}
}

// A store may be closed while jobs are discarded: it closes without an error, and the next start finishes what was
// begun.
func TestAStoreIsClosedWhileJobsAreDiscarded(t *testing.T) {
	ctx := context.Background()
	for range 10 {
		dir, jobs := t.TempDir(), 8
		s := openMany(t, dir)
		for i := range jobs {
			storeFor(t, s, crawl.JobID(fmt.Sprintf("drop-%d", i)), 2)
		}
		var calls sync.WaitGroup
		for i := range jobs {
			calls.Go(func() {
				// one that comes too late has an error: it is not what is asked here
				_ = s.DiscardJob(ctx, crawl.JobID(fmt.Sprintf("drop-%d", i)), false)
			})
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		calls.Wait()
		s = openMany(t, dir)
		for _, id := range s.Jobs().Known() {
			must(t, s.DiscardJob(ctx, id, false))
		}
		must(t, s.Close())
		left, err := os.ReadDir(filepath.Join(dir, "executions"))
		if err != nil || len(left) > 0 {
			t.Fatalf("%d directories are left, %v", len(left), err)
		}
	}
}

// An answer without content counts as a page, as it always did, and no audit misses its record.
func TestAuditMissesNoRecordOfA204(t *testing.T) {
	ctx := context.Background()
	s := openMany(t, t.TempDir())
	defer func() { must(t, s.Close()) }()
	storeFor(t, s, "job-1", 2)
	u := mustURL(t, "http://a.test/none")
	_, err := s.URLs().Claim(ctx, "job-1", crawl.MessageID{99}, []crawl.Task{{Job: "job-1", URL: u}})
	must(t, err)
	must(t, s.URLs().Finish(ctx, "job-1",
		crawl.Entry{Key: u.Key(), Kind: crawl.KindPage, Verdict: crawl.VerdictDone, Status: 204}))
	tally, err := s.URLs().Tally(ctx, "job-1")
	must(t, err)
	r, err := s.AuditJob(ctx, "job-1")
	must(t, err)
	if tally.Pages != 2 || r.Directory == nil || r.TallyOff != 0 || r.Directory.Gone != 0 {
		t.Errorf("%d pages, %+v", tally.Pages, r.Directory)
	}
}
