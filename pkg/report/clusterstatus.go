package report

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ClusterStatus is a cluster at a moment.
type ClusterStatus struct {
	Name     string    `json:"cluster"`
	Time     time.Time `json:"time"`
	Jobs     []JobLine `json:"jobs"`
	Pipeline *Pipeline `json:"pipeline"`
}

// JobLine is a job in a few figures.
type JobLine struct {
	Job      crawl.JobID `json:"job"`
	State    State       `json:"state"`
	Created  time.Time   `json:"created"`
	Ended    time.Time   `json:"ended,omitzero"`
	Pages    int64       `json:"pages"`
	Rate     float64     `json:"pages_per_second"`
	Claimed  int64       `json:"claimed"`
	Open     int64       `json:"open"`
	Done     int64       `json:"done"`
	Excluded int64       `json:"excluded"`
	MaxPages int         `json:"max_pages"`      // 0: no limit
	Note     string      `json:"note,omitempty"` // why URLs of a job that has finished are open
}

// sampleTime is how long pages are counted to find the rate of a job that runs.
const sampleTime = time.Second

// Status returns all jobs and the pipeline; with an error, the jobs alone, where only the brokers cannot be asked. If a
// job runs it takes a second, to find its rate.
func (c *Cluster) Status(ctx context.Context) (*ClusterStatus, error) {
	s := &ClusterStatus{Name: c.src.Name, Time: c.now()}
	before, err := c.Lines(ctx)
	if err != nil {
		return nil, err
	}
	if s.Jobs = before; slices.ContainsFunc(before,
		func(l JobLine) bool { return l.State == StateRunning && l.Open > 0 }) {
		if err := c.pause(ctx, sampleTime); err != nil {
			return nil, err
		}
		if s.Jobs, err = c.Lines(ctx); err != nil {
			return nil, err
		}
		took := c.now().Sub(s.Time).Seconds()
		for i := range min(len(before), len(s.Jobs)) { // new ones come last
			s.Jobs[i].Rate = float64(s.Jobs[i].Pages-before[i].Pages) / max(took, 1e-3)
		}
	}
	s.Pipeline, err = c.Lately(ctx)
	return s, err
}

// Lines returns all jobs, the oldest first, without their rates.
func (c *Cluster) Lines(ctx context.Context) ([]JobLine, error) {
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]JobLine, len(jobs))
	for i, j := range jobs {
		if lines[i], err = c.line(ctx, j); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func (c *Cluster) line(ctx context.Context, j crawl.JobInfo) (JobLine, error) {
	tally, err := c.src.Ledger.Tally(ctx, j.ID)
	if err != nil {
		return JobLine{}, fmt.Errorf("status of job %s: %w", j.ID, err)
	}
	spent, err := spentOf(ctx, c.src.Spending, j.Job)
	if err != nil {
		return JobLine{}, fmt.Errorf("status of job %s: %w", j.ID, err)
	}
	note := limitText(stateOf(j.State), openOf(tally), tally.Pages, j.Job.MaxPages)
	if note == "" {
		note = boundText(stateOf(j.State), openOf(tally), spent.met())
	}
	return JobLine{Job: j.ID, State: stateOf(j.State), Created: j.Created, Ended: j.Ended, Pages: tally.Pages,
		Claimed: tally.Claimed, Open: openOf(tally), Done: tally.Claimed - openOf(tally), Excluded: sum(tally.Excluded),
		MaxPages: j.Job.MaxPages, Note: note}, nil
}

// limitText says why URLs of a crawl that has finished are open; empty where none is, or that is not why.
func limitText(state State, open, pages int64, limit int) string {
	if state != StateFinished || open == 0 || limit <= 0 || pages < int64(limit) {
		return ""
	}
	return fmt.Sprintf("its page limit (max_pages %d) is met, so %s not fetched", limit,
		are(open, "URL that waits", "URLs that wait"))
}

func are(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one + " is"
	}
	return fmt.Sprintf("%d %s are", n, many)
}

// stateOf is a job's state under the name that crawls in directories have for it.
func stateOf(s crawl.JobState) State {
	if s == crawl.JobEnded {
		return StateFinished
	}
	return State(s)
}

// openOf is how many URLs are queued or in flight.
func openOf(t crawl.Tally) int64 { return t.Claimed - sum(t.Verdicts) }

func sum(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
