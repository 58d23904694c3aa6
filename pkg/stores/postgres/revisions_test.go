package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A database of the previous version: a job stored with Go field names, an exclusion without its task, a dismissed URL
// with its task.
const versionBefore = `
	INSERT INTO jobs (id, spec) VALUES ('old', '{"ID":"old","Seeds":["http://a.test/"],"MaxDepth":2,"MaxPages":7,"Politeness":{"Delay":"2s"}}');
	INSERT INTO urls (job, host, hash, state, changed, url, left_out)
		SELECT number, %[1]d, '%[2]s', 3, now(), '%[3]s', 'depth' FROM jobs;
	CREATE TABLE attempts_old PARTITION OF attempts FOR VALUES IN (1);
	INSERT INTO attempts (job, status, host, at, bytes, duration_us, ttfb_us, attempt, depth, kind, verdict, hash, url, reason, referrer)
		SELECT number, 0, %[1]d, now(), 0, 0, 0, 0, 3, 0, 7, '%[2]s', '%[3]s', 'depth', 'http://a.test/from' FROM jobs;`

func TestADatabaseOfTheVersionBeforeIsMigrated(t *testing.T) {
	url, ctx := newDatabase(t), context.Background()
	openAt(t, url)
	check(t, postgres.DownTo(ctx, url, 7))
	u := mustParse(t, "http://a.test/deep")
	host, hash := postgres.KeyColumns(u.Key())
	execute(t, url, fmt.Sprintf(versionBefore, host, hash, u))
	s := openAt(t, url)
	for _, at := range []func() (*crawl.Job, error){
		func() (*crawl.Job, error) { return s.Jobs().Job(ctx, "old") },
		func() (*crawl.Job, error) { return s.Jobs().JobAt(ctx, "old", 0) },
	} {
		if job, err := at(); err != nil || job.MaxDepth != 2 || job.MaxPages != 7 || job.Epoch != 1 ||
			job.Politeness.HostConnections != 1 {
			t.Errorf("the job is %+v, %v", job, err)
		}
	}
	list, err := s.URLs().LeftOut(ctx, "old", weburl.Key{}, 5)
	if err != nil || len(list) != 1 || list[0].Task.URL != u || list[0].Task.Depth != 3 ||
		list[0].Task.Referrer.Path() != "/from" || list[0].Reason != "depth" {
		t.Errorf("left out: %+v, %v", list, err)
	}
	next := *mustJob(t, s, "old")
	next.MaxDepth = 4
	if got, added, err := s.Jobs().AddRevision(ctx, &next); err != nil || !added || got.Epoch != 2 {
		t.Errorf("a revision of an old job: %+v, %v, %v", got, added, err)
	}
	// A program of the version before finds what it knows where it looks for it.
	if depth := ask[string](t, url, `SELECT spec ->> 'MaxDepth' FROM jobs`); depth != "4" {
		t.Errorf("the version before reads max_depth %q, want 4", depth)
	}
}

// A program of the version before may submit a job to a database that is migrated already.
func TestAJobOfAProgramOfTheVersionBeforeIsRead(t *testing.T) {
	s, ctx := open(t), context.Background()
	execute(t, sharedDatabase(t),
		`INSERT INTO jobs (id, spec) VALUES ('mixed', '{"ID":"mixed","Seeds":["http://a.test/"],"MaxDepth":2}')
		ON CONFLICT (id) DO UPDATE SET spec = excluded.spec`)
	if job, err := s.Jobs().Job(ctx, "mixed"); err != nil || job.MaxDepth != 2 || job.Epoch != 1 {
		t.Errorf("the job is %+v, %v", job, err)
	}
	if info, err := s.Jobs().Info(ctx, "mixed"); err != nil || info.Job == nil || info.Job.MaxDepth != 2 {
		t.Errorf("the job is %+v, %v", info, err)
	}
}

// A program that is too old for a job says so, and goes on with the others.
func TestASpecificationThatCannotBeReadIsNoOtherJob(t *testing.T) {
	s, ctx := open(t), context.Background()
	for _, id := range []crawl.JobID{"newer", "known"} {
		check(t, s.Jobs().Put(ctx, aJob(id)))
	}
	execute(t, sharedDatabase(t),
		`UPDATE job_revisions SET spec = '{"id":"newer","seeds":["http://a.test/"],"max_moons":3}'
		WHERE job = (SELECT number FROM jobs WHERE id = 'newer')`)
	s.Jobs().Refresh("newer")
	if _, err := s.Jobs().Job(ctx, "newer"); err == nil || crawl.IsPermanent(err) || !contains(err.Error(), "max_moons") {
		t.Errorf("error %v: want one that names the key, and that another program need not share", err)
	}
	list, err := s.Jobs().List(ctx)
	check(t, err)
	for _, j := range list {
		if j.ID == "newer" && (j.Job != nil || j.Fault == nil) || j.ID == "known" && j.Job == nil {
			t.Errorf("listed as %+v", j)
		}
	}
}

// Of those that revise a job at once each makes a revision of its own.
func TestRevisionsMadeAtOnceAreAllKept(t *testing.T) {
	s, ctx := open(t), context.Background()
	check(t, s.Jobs().Put(ctx, aJob("many")))
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			j := aJob("many")
			j.MaxPages = 100 + i
			if _, _, err := s.Jobs().AddRevision(ctx, j); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := s.Jobs().Revisions(ctx, "many")
	check(t, err)
	seen := map[int]bool{}
	for i, r := range list {
		if int(r.Job.Epoch) != i+1 {
			t.Errorf("revision %d is number %d", r.Job.Epoch, i)
		}
		seen[r.Job.MaxPages] = true
	}
	if len(list) != n+1 || len(seen) != n+1 {
		t.Errorf("%d revisions, %d of them different, want %d", len(list), len(seen), n+1)
	}
}

// A revision made of an older one than applies is refused, and nothing is stored.
func TestARevisionOfAnOlderOneIsRefused(t *testing.T) {
	s, ctx := open(t), context.Background()
	add := func(from uint32, pages int) error {
		j := aJob("followed")
		j.MaxPages = pages
		_, _, err := postgres.NextOf{Jobs: s.Jobs(), Epoch: from}.AddRevision(ctx, j)
		return err
	}
	check(t, add(0, 1))
	check(t, add(1, 2))
	for _, from := range []uint32{0, 1, 3} {
		if err := add(from, 9); !errors.Is(err, crawl.ErrRevised) {
			t.Errorf("following revision %d: %v", from, err)
		}
	}
	if job, known, err := s.Jobs().Current(ctx, "followed"); err != nil || !known || job.Epoch != 2 || job.MaxPages != 2 {
		t.Errorf("the job is %+v, %t, %v", job, known, err)
	}
}

// One program at a time sweeps a job.
func TestOneSweepsAJob(t *testing.T) {
	s, ctx := open(t), context.Background()
	check(t, s.Jobs().Put(ctx, aJob("swept")))
	other := openAt(t, sharedDatabase(t)).Jobs()
	failed := errors.New("no")
	ran, err := s.Jobs().Sweeping(ctx, "swept", func(context.Context) error {
		if ran, err := other.Sweeping(ctx, "swept", func(context.Context) error { return nil }); ran || err != nil {
			t.Errorf("a second sweep ran: %v, error %v", ran, err)
		}
		return failed
	})
	if !ran || !errors.Is(err, failed) {
		t.Errorf("ran %v, error %v", ran, err)
	}
	if ran, err := other.Sweeping(ctx, "swept", func(context.Context) error { return nil }); !ran || err != nil {
		t.Errorf("after it: ran %v, error %v", ran, err)
	}
}

func mustJob(t *testing.T, s *postgres.Store, id crawl.JobID) *crawl.Job {
	t.Helper()
	j, err := s.Jobs().Job(context.Background(), id)
	check(t, err)
	return j
}
