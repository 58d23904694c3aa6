package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// JobStore checks the promises of crawl.JobStore. Each subtest gets a store of its own, and again opens it once more,
// as the next process does.
func JobStore(t *testing.T, open func(t *testing.T) (s crawl.JobStore, again func() crawl.JobStore)) {
	for name, check := range map[string]func(t *testing.T, s crawl.JobStore, again func() crawl.JobStore){
		"a job is what its last revision says":              latestRevision,
		"the same specification is no revision":             sameRevision,
		"a revision is found by its epoch, and later too":   revisionByEpoch,
		"an epoch that nobody knows is a permanent error":   lostRevision,
		"what cannot change is refused by its key":          fixedSetting,
		"a revision that widens asks for a sweep":           sweepAfterRevision,
		"the sweep of an older revision is over":            sweepOver,
		"a specification that is wrong is no revision":      wrongRevision,
		"a blacklist that is empty stays empty":             emptyBlacklist,
		"changing what was returned changes nothing stored": revisionIsACopy,
	} {
		t.Run(name, func(t *testing.T) {
			s, again := open(t)
			check(t, s, again)
		})
	}
}

func aJob(change ...func(*crawl.Job)) *crawl.Job {
	j := crawl.DefaultJob()
	j.ID, j.Seeds, j.MaxDepth = job, []string{"http://a.test/"}, 1
	for _, c := range change {
		c(&j)
	}
	return &j
}

func deeper(j *crawl.Job) { j.MaxDepth = 3 }
func slower(j *crawl.Job) { j.Politeness.Delay *= 60 }

func revise(t *testing.T, s crawl.JobStore, j *crawl.Job, epoch uint32, added bool) *crawl.Job {
	t.Helper()
	got, isNew, err := s.AddRevision(context.Background(), j)
	check(t, err)
	if isNew != added || got.Epoch != epoch {
		t.Fatalf("revision %d, added %v; want revision %d, added %v", got.Epoch, isNew, epoch, added)
	}
	return got
}

func latestRevision(t *testing.T, s crawl.JobStore, again func() crawl.JobStore) {
	ctx := context.Background()
	if _, err := s.Job(ctx, job); !crawl.IsPermanent(err) {
		t.Errorf("a job that nobody submitted: error %v, want a permanent one", err)
	}
	revise(t, s, aJob(), 1, true)
	revise(t, s, aJob(deeper), 2, true)
	for _, s := range []crawl.JobStore{s, again()} {
		if got, err := s.Job(ctx, job); err != nil || got.MaxDepth != 3 || got.Epoch != 2 {
			t.Errorf("the job is %+v, %v", got, err)
		}
	}
}

func sameRevision(t *testing.T, s crawl.JobStore, again func() crawl.JobStore) {
	revise(t, s, aJob(), 1, true)
	revise(t, s, aJob(), 1, false)
	same := aJob()
	same.Epoch, same.Exclude = 7, []string{}
	revise(t, again(), same, 1, false)
}

func revisionByEpoch(t *testing.T, s crawl.JobStore, again func() crawl.JobStore) {
	ctx := context.Background()
	revise(t, s, aJob(), 1, true)
	revise(t, s, aJob(deeper), 2, true)
	revise(t, s, aJob(), 3, true)
	for _, s := range []crawl.JobStore{s, again()} {
		for epoch, depth := range map[uint32]int{0: 1, 1: 1, 2: 3, 3: 1} {
			got, err := s.JobAt(ctx, job, epoch)
			if err != nil || got.MaxDepth != depth || got.Epoch != crawl.EpochOf(epoch) {
				t.Errorf("revision %d is %+v, %v; want max_depth %d", epoch, got, err, depth)
			}
		}
		list, err := s.Revisions(ctx, job)
		if err != nil || len(list) != 3 || list[1].Job.MaxDepth != 3 || list[2].Job.Epoch != 3 || list[0].At.IsZero() {
			t.Errorf("revisions %+v, %v", list, err)
		}
	}
}

func lostRevision(t *testing.T, s crawl.JobStore, _ func() crawl.JobStore) {
	revise(t, s, aJob(), 1, true)
	for id, epoch := range map[crawl.JobID]uint32{job: 2, "nobody": 1} {
		if _, err := s.JobAt(context.Background(), id, epoch); !crawl.IsPermanent(err) {
			t.Errorf("revision %d of %q: error %v, want a permanent one", epoch, id, err)
		}
	}
	if list, err := s.Revisions(context.Background(), "nobody"); err != nil || len(list) != 0 {
		t.Errorf("a job that nobody submitted has the revisions %v, error %v", list, err)
	}
}

func fixedSetting(t *testing.T, s crawl.JobStore, _ func() crawl.JobStore) {
	revise(t, s, aJob(), 1, true)
	_, _, err := s.AddRevision(context.Background(), aJob(deeper, func(j *crawl.Job) { j.KeepParams = true }))
	if !crawl.IsPermanent(err) || !strings.Contains(err.Error(), "keep_params") {
		t.Errorf("error %v, want a permanent one that names keep_params", err)
	}
	if got, err := s.Job(context.Background(), job); err != nil || got.MaxDepth != 1 || got.Epoch != 1 {
		t.Errorf("a refused revision is in force: %+v, %v", got, err)
	}
}

func sweepAfterRevision(t *testing.T, s crawl.JobStore, again func() crawl.JobStore) {
	ctx := context.Background()
	want := func(due bool, epoch uint32) crawl.Sweep {
		t.Helper()
		got, err := s.Sweep(ctx, job)
		check(t, err)
		if got.Due() != due || got.Epoch != epoch {
			t.Fatalf("sweep %+v; want due %v, epoch %d", got, due, epoch)
		}
		return got
	}
	want(false, 0)
	revise(t, s, aJob(), 1, true)
	want(false, 0)
	revise(t, s, aJob(slower), 2, true)
	want(false, 2)
	revise(t, s, aJob(slower, deeper), 3, true)
	sweep := want(true, 3)
	sweep.After[3] = 9
	check(t, s.SetSweep(ctx, job, sweep))
	s = again()
	if got := want(true, 3); got != sweep {
		t.Errorf("the sweep goes on at %+v, want %+v", got, sweep)
	}
	revise(t, s, aJob(deeper), 4, true) // it widens nothing, but the sweep was under way
	if got := want(true, 4); got.After[3] != 0 {
		t.Error("the sweep of a new revision does not begin at the first URL")
	}
	check(t, s.SetSweep(ctx, job, crawl.Sweep{Epoch: 4, Done: true}))
	want(false, 4)
}

func sweepOver(t *testing.T, s crawl.JobStore, _ func() crawl.JobStore) {
	revise(t, s, aJob(), 1, true)
	revise(t, s, aJob(deeper), 2, true)
	revise(t, s, aJob(), 3, true)
	if err := s.SetSweep(context.Background(), job, crawl.Sweep{Epoch: 2, Done: true}); !errors.Is(err,
		crawl.ErrSweepOver) {
		t.Errorf("error %v, want ErrSweepOver", err)
	}
	if got, err := s.Sweep(context.Background(), job); err != nil || !got.Due() {
		t.Errorf("sweep %+v, %v: the last revision's was lost", got, err)
	}
}

func wrongRevision(t *testing.T, s crawl.JobStore, _ func() crawl.JobStore) {
	revise(t, s, aJob(), 1, true)
	if _, _, err := s.AddRevision(context.Background(),
		aJob(func(j *crawl.Job) { j.Scope = "moon" })); !crawl.IsPermanent(err) {
		t.Errorf("error %v, want a permanent one", err)
	}
}

func emptyBlacklist(t *testing.T, s crawl.JobStore, again func() crawl.JobStore) {
	revise(t, s, aJob(func(j *crawl.Job) { j.Blacklist, j.BlacklistEntries = "/gone", []string{} }), 1, true)
	if got, err := again().Job(context.Background(), job); err != nil || got.BlacklistEntries == nil {
		t.Errorf("the programs would look for a file that they do not have: %+v, %v", got, err)
	}
}

func revisionIsACopy(t *testing.T, s crawl.JobStore, _ func() crawl.JobStore) {
	mine := aJob()
	revise(t, s, mine, 1, true)
	mine.MaxDepth = 99
	if got, err := s.Job(context.Background(), job); err != nil || got.MaxDepth != 1 {
		t.Errorf("the job is %+v, %v", got, err)
	}
}
