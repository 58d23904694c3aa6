package node

import (
	"context"
	"time"
)

// watchEvery is how often a crawl looks whether it has ended; diskEvery, whether the disk is full.
const (
	watchEvery = 20 * time.Millisecond
	diskEvery  = 5 * time.Second
)

// diskLimit is the part of the disk at which a crawl pauses (as Zeno and Browsertrix do).
const diskLimit = 0.90

// watch returns true when the job has ended, false when ctx is done. While the disk is nearly full it pauses the frontier.
func (l *Local) watch(ctx context.Context) bool {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var looked time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case now := <-tick.C:
			if now.Sub(looked) >= diskEvery {
				looked = now
				l.guardDisk()
			}
		}
		if l.Finished(l.Job.ID) {
			return true
		}
	}
}

// guardDisk pauses or resumes the frontier as the disk fills or empties.
func (l *Local) guardDisk() {
	used, err := l.Store.DiskUsed()
	if err != nil {
		l.log.Warn("cannot tell how full the disk is", "error", err)
		return
	}
	full := used >= diskLimit
	if l.hold(&l.brake.disk, full) {
		if full {
			l.log.Error("the crawl pauses: the disk is nearly full; it goes on by itself when there is room", "used", used,
				"limit", diskLimit)
		} else {
			l.log.Info("the crawl goes on: there is room on the disk", "used", used)
		}
	}
}
