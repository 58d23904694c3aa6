package node

import (
	"context"
	"time"
)

// watchEvery is how often a crawl looks whether it has ended.
const watchEvery = 20 * time.Millisecond

// watch returns true when the job has ended, false when ctx is done.
func (l *Local) watch(ctx context.Context) bool {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		if l.feeding() {
			if l.frontier.Exhausted(l.Job.ID) {
				l.endSeeds() // there is no room for more; a larger budget goes on with the list
			}
			continue
		}
		if l.Finished(l.Job.ID) && l.concluded(ctx) {
			return true
		}
	}
}
