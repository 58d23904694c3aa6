package clusterengine

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// What a job that is to do nothing has left is counted again when its figures or its state are others, and not before.
func TestAJobThatRestsIsNotCountedAgain(t *testing.T) {
	now := time.Unix(1000, 0)
	e := &Engine{now: func() time.Time { return now }, quiet: map[crawl.JobID]*quiet{}}
	paused := &crawl.JobInfo{ID: "a", State: crawl.JobPaused}
	if e.emptied(paused, "10 pages") {
		t.Error("it rests before anybody looked")
	}
	e.quiets(paused, "10 pages") // its state was never seen: nothing is noted
	if e.emptied(paused, "10 pages") {
		t.Error("it rests although its state was never seen")
	}
	if obeyed, settled := e.still(paused, "10 pages 0"); obeyed || settled {
		t.Errorf("it obeyed at once: %v, %v", obeyed, settled)
	}
	e.quiets(paused, "10 pages")
	for _, c := range []struct {
		name    string
		job     crawl.JobInfo
		figures string
		rests   bool
	}{
		{"the same", crawl.JobInfo{ID: "a", State: crawl.JobPaused}, "10 pages", true},
		{"a page more", crawl.JobInfo{ID: "a", State: crawl.JobPaused}, "11 pages", false},
		{"it was stopped", crawl.JobInfo{ID: "a", State: crawl.JobStopped}, "10 pages", false},
		{"another job", crawl.JobInfo{ID: "b", State: crawl.JobPaused}, "10 pages", false},
	} {
		if got := e.emptied(&c.job, c.figures); got != c.rests {
			t.Errorf("%s: rests %v", c.name, got)
		}
	}
	now = now.Add(emptyTime)
	if e.emptied(paused, "10 pages") {
		t.Error("it is believed to rest for ever")
	}
	e.quiets(paused, "10 pages")
	e.still(&crawl.JobInfo{ID: "a", State: crawl.JobStopped}, "10 pages 0")
	if e.emptied(paused, "10 pages") {
		t.Error("it was stopped meanwhile, and rests as if it had been paused all the time")
	}
}
