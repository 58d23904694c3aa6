package report

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ClusterJob inspects one job of a cluster. It is a View.
type ClusterJob struct {
	*Cluster
	Info    crawl.JobInfo // when the view was made
	records Records
	story   story
}

func (c *Cluster) job(info crawl.JobInfo) *ClusterJob {
	j := &ClusterJob{Cluster: c, Info: info, records: c.src.Records(info.ID)}
	j.story = story{job: info.Job, left: c.src.Left, history: historyOf(info.Job, c.src.Revisions), ledger: c.src.Ledger,
		hosts: c.src.Hosts, robots: c.src.Robots, pages: j.records, templates: c.src.Templates, revisits: c.src.Revisits,
		now: c.now, running: info.State == crawl.JobRunning || info.State == crawl.JobEnded, where: j.find,
		fingerprint: j.known}
	j.story.attempts = func(ctx context.Context, u weburl.URL) ([]crawl.LogLine, error) {
		return c.src.Attempts.Attempts(ctx, info.ID, u.Key(), maxAttempts)
	}
	return j
}

// find says where an open URL is, if it can only be there.
func (j *ClusterJob) find(ctx context.Context, _ weburl.URL) (string, error) {
	p, err := j.depths(ctx)
	switch {
	case err != nil:
		return "", err
	case p.UnderWay() == 0:
		return whereQueued, nil
	case p.Frontier.Tasks() == 0:
		return whereInFlight, nil
	}
	return "", nil
}

// known returns the fingerprint of a page.
func (j *ClusterJob) known(ctx context.Context, u weburl.URL) (*Fingerprint, error) {
	f, found, err := j.src.Fingerprints.Fingerprint(ctx, j.Info.ID, u.Key())
	if err != nil || !found {
		return nil, err
	}
	return &Fingerprint{Similarity: similarity(f.Sameness), DuplicateOf: f.Of, Distance: f.Distance,
		Simhash: fmt.Sprintf("%016x", f.Simhash), Digest: f.Digest.String(), At: f.At}, nil
}

func similarity(s crawl.Sameness) string {
	switch s {
	case crawl.ExactCopy:
		return "exact"
	case crawl.NearCopy:
		return "near"
	}
	return ""
}

// Explain implements View.
func (j *ClusterJob) Explain(ctx context.Context, url string) (*Explanation, error) {
	return j.story.Explain(ctx, url)
}

// Status implements View. Of a job that runs it takes a second, to find its rate. Where only the brokers cannot be
// asked it returns what the stores say, with the error.
func (j *ClusterJob) Status(ctx context.Context) (*Status, error) {
	before, err := j.line(ctx, j.Info)
	if err != nil {
		return nil, err
	}
	begin := j.now()
	if before.State == StateRunning && before.Open > 0 {
		if err := j.pause(ctx, sampleTime); err != nil {
			return nil, err
		}
	}
	tally, err := j.src.Ledger.Tally(ctx, j.Info.ID)
	if err != nil {
		return nil, fmt.Errorf("status of job %s: %w", j.Info.ID, err)
	}
	spec := j.Info.Job
	s := &Status{Cluster: j.src.Name, Job: j.Info.ID, Seeds: spec.Seeds, SeedList: spec.SeedList, State: before.State,
		Time: j.now(), Started: j.Info.Created, Ended: j.Info.Ended, Pages: tally.Pages, MaxPages: spec.MaxPages,
		Claimed: tally.Claimed, Open: openOf(tally), Verdicts: tally.Verdicts, Statuses: tally.Statuses,
		Excluded: tally.Excluded}
	if s.Spent, err = spentOf(ctx, j.src.Spending, spec); err != nil {
		return nil, fmt.Errorf("status of job %s: %w", j.Info.ID, err)
	}
	if s.Freshness, err = freshnessOf(ctx, j.src.Revisits, spec, s.Time); err != nil {
		return nil, fmt.Errorf("status of job %s: %w", j.Info.ID, err)
	}
	if s.Render, err = renderingOf(ctx, j.src.Templates, j.Info.ID, tally); err != nil {
		return nil, fmt.Errorf("status of job %s: %w", j.Info.ID, err)
	}
	if err := j.story.history.tell(ctx, s); err != nil {
		return nil, err
	}
	if d := s.Time.Sub(begin); d >= sampleTime/2 {
		s.Rate = float64(s.Pages-before.Pages) / d.Seconds()
	}
	if s.Records, err = j.countRecords(ctx); err != nil {
		s.RecordsUnknown = err.Error() // the rest does not depend on it
	}
	if s.Pipeline, err = j.Lately(ctx); err != nil {
		return s, err // what the stores say does not depend on the brokers
	}
	s.queues()
	return s, nil
}

// queues says what the pipeline holds.
func (s *Status) queues() {
	f := &s.Pipeline.Frontier
	s.Queued, s.Waiting, s.ActiveHosts = f.Tasks(), f.Later, int(f.BackQueues)
	s.InFlight, s.DeadLetters = s.Pipeline.in(crawl.TopicFetch, crawl.TopicOutcome), s.Pipeline.DeadLetters
}

// countTime is how long a status waits for the page store, which may be busy with the crawl.
const countTime = 3 * time.Second

func (j *ClusterJob) countRecords(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	return j.records.Count(ctx)
}

// maxLetters is how many dead letters of each vhost are looked at.
const maxLetters = 10_000

// Letters implements View: the dead letters of the job, and those that cannot be read.
func (j *ClusterJob) Letters(ctx context.Context) ([]Letter, error) {
	all, err := j.Cluster.Letters(ctx)
	if partial(err) != nil {
		return nil, err
	}
	mine := []Letter{}
	for _, l := range all {
		if l.Job == j.Info.ID || l.Job == "" {
			mine = append(mine, l)
		}
	}
	return mine, err
}

// Letters returns the dead letters of all jobs, the oldest first. Where the brokers of some nodes do not answer it
// returns those of the others, and ErrUnreachable.
func (c *Cluster) Letters(ctx context.Context) ([]Letter, error) {
	ds, away := c.dead(ctx, maxLetters)
	if partial(away) != nil {
		return nil, away
	}
	out := []Letter{}
	for i := range ds {
		l, err := letterOf(&ds[i].DeadLetter)
		if err != nil {
			return nil, err
		}
		l.Node, l.Vhost, l.Bytes = ds[i].node, ds[i].Vhost, len(ds[i].Body)
		if l.Event == nil {
			l.Reason += "; it cannot be read"
		}
		l.Reason = strings.TrimPrefix(l.Reason, "; ")
		out = append(out, l)
	}
	sortLetters(out)
	return out, away
}

func (j *ClusterJob) newAudit() *clusterAudit {
	id := j.Info.ID
	a := &clusterAudit{j: j, job: id, ClusterAudit: &crawl.ClusterAudit{Job: id}, dead: map[weburl.Key]bool{}}
	a.Cluster = a.ClusterAudit
	return a
}
