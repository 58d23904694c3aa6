package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// spentSo is what jobs have spent; an error with less than nothing.
type spentSo struct {
	crawl.Spending
	time time.Duration
}

func (s spentSo) Spent(context.Context, crawl.JobID) (crawl.Spent, error) {
	if s.time < 0 {
		return crawl.Spent{}, errors.New("away")
	}
	return crawl.Spent{Time: s.time}, nil
}

// A renderer of a cluster knows when a job fetches nothing more, so that its pages do not wait for what never comes.
func TestARendererKnowsWhenTheTimeIsOver(t *testing.T) {
	for _, c := range []struct {
		name  string
		bound time.Duration
		spent time.Duration
		id    crawl.JobID
		want  bool
	}{
		{"without a bound", 0, time.Hour, "j", true},
		{"in time", time.Hour, time.Minute, "j", true},
		{"over", time.Minute, time.Hour, "j", false},
		{"the store is away", time.Minute, -1, "j", true},
		{"an unknown job", time.Minute, time.Hour, "k", true},
	} {
		job := crawl.DefaultJob()
		job.ID, job.Bounds.MaxTime = "j", crawl.Duration(c.bound)
		goes := spending{crawl.StaticJobs{"j": &job}, spentSo{time: c.spent}}.goes
		if fetches, stopped := goes(c.id); fetches != c.want || stopped {
			t.Errorf("%s: fetches %v, stopped %v", c.name, fetches, stopped)
		}
	}
}
