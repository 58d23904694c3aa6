package node

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// A job that ended by its page limit has open URLs. A frontier that has just begun knows nothing of it: it is no reason
// to let the job run again, and end once more at another time.
func TestAJobThatEndedByItsLimitStaysEndedWhenTheFrontierBegins(t *testing.T) {
	w := &jobWatch{frontier: &frontier.Frontier{}}
	for name, tc := range map[string]struct {
		state crawl.JobState
		limit int
		want  bool
	}{
		"ended":                     {crawl.JobEnded, 10, true},
		"ended, and the limit rose": {crawl.JobEnded, 11, false},
		"ended without a limit":     {crawl.JobEnded, 0, false},
		"running":                   {crawl.JobRunning, 10, false}, // its pages may be under way
	} {
		job := crawl.DefaultJob()
		job.MaxPages = tc.limit
		got, err := w.exhausted(t.Context(), crawl.JobInfo{ID: "j", State: tc.state, Job: &job}, 10)
		if err != nil || got != tc.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
