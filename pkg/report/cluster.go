package report

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Jobs lists the jobs of a cluster.
type Jobs interface {
	List(ctx context.Context) ([]crawl.JobInfo, error)
}

// ClusterLedger is the ledger of a cluster.
type ClusterLedger interface {
	crawl.Ledger
	// Entries hands every entry of a job to each, in the order of the keys.
	Entries(ctx context.Context, job crawl.JobID, each func(crawl.LedgerRow) error) error
	// Recount counts what Tally says, both at one moment.
	Recount(ctx context.Context, job crawl.JobID) (counted, stood crawl.Tally, err error)
}

// Fingerprints are what content-seen keeps.
type Fingerprints interface {
	Fingerprint(ctx context.Context, job crawl.JobID, k weburl.Key) (f crawl.StoredFingerprint, found bool, err error)
	// Each hands every fingerprint of a job to each, in the order of the keys.
	Each(ctx context.Context, job crawl.JobID, each func(weburl.Key, crawl.StoredFingerprint) error) error
}

// ClusterHosts are the host records of a cluster.
type ClusterHosts interface {
	crawl.Hosts
	Count(ctx context.Context) (int64, error)
}

// Attempts finds the log lines of a URL.
type Attempts interface {
	Attempts(ctx context.Context, job crawl.JobID, k weburl.Key, limit int) ([]crawl.LogLine, error)
}

// Broker tells what waits in the queues.
type Broker interface {
	Depths(ctx context.Context) ([]bus.Depth, error)
	Dead(ctx context.Context, limit int) ([]bus.Letter, error)
	Programs(ctx context.Context) ([]bus.Program, error)
	Alarms(ctx context.Context) ([]bus.Alarm, error)
	Policies(ctx context.Context) ([]bus.QueuePolicy, error)
}

// Following knows the pages whose content or links have not come to their end.
type Following interface {
	// Missing hands the task of every such page of a job to each that was fetched before a time.
	Missing(ctx context.Context, job crawl.JobID, before time.Time, each func(crawl.Task) error) error
}

// Records are the stored pages of one job.
type Records interface {
	PageLines
	Count(ctx context.Context) (int64, error)
	// Heads reads every record, and yields the key under which it is stored and what it is, in the order of the keys.
	Heads(ctx context.Context, yield func(k weburl.Key, h crawl.RecordHead) error) error
}

// ClusterSources are the stores through which a cluster is inspected.
type ClusterSources struct {
	Spending     crawl.Spending // what jobs spend of their bounds; nil: not counted
	Revisions    crawl.JobStore // nil: a job has no revision but the one that applies
	Templates    Templates      // what renders brought; nil: there were none
	Left         crawl.LeftOuts // nil: no more than the ledger says is known of what was left out
	Name         string         // of the cluster, for people: where its database is
	Jobs         Jobs
	Ledger       ClusterLedger
	Fingerprints Fingerprints
	Hosts        ClusterHosts
	Robots       crawl.RobotsStore
	Attempts     Attempts
	Broker       Broker
	Records      func(crawl.JobID) Records
	// Ring returns the nodes of the cluster as they are now, whose brokers are asked instead of Broker; nil: a node on
	// its own.
	Ring func(ctx context.Context) (*Ring, error)
	// Following tells of the pages that have not come to their end.
	Following Following
	// Unkept tells why pages have no record.
	Unkept crawl.Unkept
	// Looks asks the frontiers what they hold.
	Looks Looks
	// Revisits is what is remembered of pages between their visits; nil: each URL is visited once.
	Revisits crawl.Revisits
	// Lately keeps for a while what the brokers said; nil: they are asked each time.
	Lately *Pipelines
}

// Cluster inspects a cluster: its pipeline and its jobs. It is safe for concurrent use if its sources are.
type Cluster struct {
	src ClusterSources
	now func() time.Time
	// pause waits between two looks.
	pause func(ctx context.Context, d time.Duration) error
}

// NewCluster returns the view of a cluster. Every source is needed.
func NewCluster(src ClusterSources) (*Cluster, error) {
	if src.Jobs == nil || src.Ledger == nil || src.Fingerprints == nil || src.Hosts == nil || src.Robots == nil ||
		src.Attempts == nil || src.Broker == nil && src.Ring == nil || src.Records == nil || src.Following == nil ||
		src.Unkept == nil || src.Looks == nil {
		return nil, errors.New("inspect a cluster: a source is missing")
	}
	return &Cluster{src: src, now: time.Now, pause: sleep}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// ErrNoJob is returned for a job that was not submitted, and ErrWhichJob where none was named and there is not exactly
// one.
var (
	ErrNoJob    = errors.New("the cluster has no such job")
	ErrWhichJob = errors.New("name a job with --job")
)

// Jobs returns the jobs that were submitted and are not being deleted, the oldest first.
func (c *Cluster) Jobs(ctx context.Context) ([]crawl.JobInfo, error) {
	all, err := c.src.Jobs.List(ctx)
	if err != nil {
		return nil, err
	}
	var out []crawl.JobInfo
	for _, j := range all {
		if j.Job != nil && j.Deleted.IsZero() {
			out = append(out, j)
		}
	}
	return out, nil
}

// Job returns the view of a job; of the only one, where id is empty.
func (c *Cluster) Job(ctx context.Context, id crawl.JobID) (*ClusterJob, error) {
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	if id == "" && len(jobs) == 1 {
		return c.job(jobs[0]), nil
	}
	for _, j := range jobs {
		if j.ID == id {
			return c.job(j), nil
		}
	}
	switch {
	case len(jobs) == 0 && id == "":
		return nil, fmt.Errorf("%w: there are none yet, `whirlpool seed` gives it one", ErrNoJob)
	case id == "":
		return nil, fmt.Errorf("%w: there are %d, %s", ErrWhichJob, len(jobs), jobNames(jobs))
	}
	return nil, fmt.Errorf("%w %q: it has %s", ErrNoJob, id, jobNames(jobs))
}

// jobNames lists jobs for people, the newest first.
func jobNames(jobs []crawl.JobInfo) string {
	const most = 20
	text := ""
	for i := range jobs {
		if i == most {
			return text + more(len(jobs)-most)
		}
		if j := jobs[len(jobs)-1-i]; i == 0 {
			text = string(j.ID)
		} else {
			text += ", " + string(j.ID)
		}
	}
	if text == "" {
		return "none"
	}
	return text
}
