package contentseen

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// offTopic are the trials of hosts that are off the topic.
type offTopic struct{ asked int }

func (*offTopic) Trial(context.Context, crawl.JobID, string) (t crawl.HostTrial, err error) {
	return t, nil
}

func (o *offTopic) ChangeTrial(context.Context, crawl.JobID, string,
	func(*crawl.HostTrial) bool) (crawl.HostTrial, error) {
	o.asked++
	return crawl.HostTrial{Verdict: crawl.HostOff}, nil
}

// The pages of a host that was judged are not counted any more, but those of the next life of its job are.
func TestTheNextLifeOfAJobJudgesAnew(t *testing.T) {
	job := crawl.DefaultJob()
	job.ID, job.Scope, job.TopicModel = "j", crawl.ScopeAny, "a-model"
	trials := &offTopic{}
	h := (&stores{}).handler(job)
	h.st.Trials = trials
	d := document(t)
	d.Relevance = crawl.RelevanceOf(1)
	try := func(want int) {
		t.Helper()
		if err := h.tryHost(context.Background(), &job, d); err != nil || trials.asked != want {
			t.Errorf("%d pages were counted, want %d; error %v", trials.asked, want, err)
		}
	}
	try(1)
	try(1)
	job.First = 4
	try(2)
}
