package node

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// firstLook calls a function at the first look at what was left out.
type firstLook struct {
	crawl.LeftOuts
	do func()
}

func (f *firstLook) LeftOut(ctx context.Context, job crawl.JobID, after weburl.Key, n int) ([]crawl.LeftOut, error) {
	if f.do != nil {
		f.do()
		f.do = nil
	}
	return f.LeftOuts.LeftOut(ctx, job, after, n)
}

// A crawl has not ended while a pass lets in what is then to be fetched, though nothing was under way when it began.
func TestAJobHasNotEndedWhileItsSweepLetsIn(t *testing.T) {
	s := newSwept(t, func(j *crawl.Job) { j.MaxDepth = 2 })
	asked, over := make(chan bool, 1), make(chan bool)
	s.left = &firstLook{s.store.URLs(), func() {
		go func() {
			done, err := s.lastPass(context.Background(), "j", func(context.Context) (bool, error) {
				s.bus.mu.Lock()
				defer s.bus.mu.Unlock()
				still := len(s.bus.fresh) == 0 // what was let in waits for its fetch
				asked <- still
				return still, nil
			})
			over <- done || err != nil
		}()
	}}
	if err := s.pass(context.Background(), "j"); err != nil {
		t.Fatal(err)
	}
	if <-asked {
		t.Error("whether something is under way was asked before everything was let in")
	}
	if <-over {
		t.Error("the sweep is done with URLs under way")
	}
	if state, err := s.jobs.Sweep(context.Background(), "j"); err != nil || !state.Due() {
		t.Errorf("the sweep is %+v, %v: want it due", state, err)
	}
}

// A revision that comes while the last pass runs has a sweep of its own, so the job has not ended.
func TestAJobHasNotEndedThatIsRevisedInTheLastPass(t *testing.T) {
	s := newSwept(t, func(j *crawl.Job) { j.Exclude = []string{"/x"} })
	s.left = &firstLook{s.store.URLs(), func() {
		job, err := s.jobs.Job(context.Background(), "j")
		if err != nil {
			t.Fatal(err)
		}
		next := *job
		next.MaxDepth = 2
		if _, _, err := s.store.Jobs().AddRevision(context.Background(), &next); err != nil {
			t.Fatal(err)
		}
	}}
	if done, err := s.lastPass(context.Background(), "j", nothingUnderWay); done || err != nil {
		t.Errorf("done %v, error %v: want it not done", done, err)
	}
	if err := s.pass(context.Background(), "j"); err != nil {
		t.Fatal(err)
	}
	if got := s.let(t); got[0] == 0 {
		t.Errorf("let in %v: want those of the newer depth", got)
	}
}
