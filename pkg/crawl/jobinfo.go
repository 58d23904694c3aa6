package crawl

import "time"

// JobState is what a job of a cluster is to do.
type JobState string

// The states of a job.
const (
	JobRunning JobState = "running"
	JobPaused  JobState = "paused"  // nothing new is fetched until it runs again
	JobStopped JobState = "stopped" // by a user, before its end
	JobEnded   JobState = "ended"   // nothing was left to do
)

// JobInfo is a job of a cluster as its store knows it.
type JobInfo struct {
	ID      JobID
	Number  int32 // the store's own; a job that was submitted later has a greater one
	State   JobState
	Created time.Time
	Ended   time.Time // when it was stopped or ended; zero before
	Job     *Job      // as it is now; nil: programs know its id, but nobody submitted it, or Fault
	Fault   error     // why the specification cannot be read; of a list
	Deleted time.Time // when its deletion began, which has not come to its end; else zero
}
