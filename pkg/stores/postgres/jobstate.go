package postgres

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// JobState is that of package crawl.
type JobState = crawl.JobState

// JobInfo is that of package crawl.
type JobInfo = crawl.JobInfo

// The states of a job.
const (
	JobRunning = crawl.JobRunning
	JobPaused  = crawl.JobPaused
	JobStopped = crawl.JobStopped
	JobEnded   = crawl.JobEnded
)
