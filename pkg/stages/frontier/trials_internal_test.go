package frontier

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// oneTrial is what is stored of every host.
type oneTrial struct{ crawl.HostTrial }

func (o *oneTrial) Trial(context.Context, crawl.JobID, string) (crawl.HostTrial, error) {
	return o.HostTrial, nil
}

func (o *oneTrial) ChangeTrial(context.Context, crawl.JobID, string,
	func(*crawl.HostTrial) bool) (crawl.HostTrial, error) {
	return o.HostTrial, nil
}

// A host that was off the topic of a job that was deleted is open to the next life of that job.
func TestTheNextLifeOfAJobTriesHostsAnew(t *testing.T) {
	job := crawl.DefaultJob()
	job.ID, job.Scope, job.TopicModel = "j", crawl.ScopeAny, "a-model"
	trials := &oneTrial{crawl.HostTrial{Verdict: crawl.HostOff}}
	dp := &dispatcher{Frontier: &Frontier{deps: Deps{Trials: trials}}, tried: newTried(crawl.StaticJobs{"j": &job})}
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	judge := func(job *crawl.Job, want bool) {
		t.Helper()
		d, err := dp.tryHost(t.Context(), job, &crawl.Task{Job: "j", URL: u})
		if err != nil || (d != nil) != want {
			t.Errorf("dismissed: %v, want %v; error %v", d, want, err)
		}
	}
	judge(&job, true)
	trials.HostTrial = crawl.HostTrial{} // it was deleted with the job
	judge(&job, true)
	next := job
	next.First, next.Epoch = 4, 4
	judge(&next, false)
}
