package frontier

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A topical job without scope judges hosts by their first pages (crawl.HostTrial). What is queued of a host that was
// found off the topic is concluded without a fetch, at its turn. Hosts of seeds are not judged.

// maxTried is how many verdicts are remembered; when there are more all are read again.
const maxTried = 1 << 16

// tried are the hosts that were judged. The dispatcher alone uses it.
type tried struct {
	verdicts map[triedKey]crawl.HostTrial
	seeds    *crawl.PerRevision[map[string]bool] // hosts of a job's seeds
}

type triedKey struct {
	job   crawl.JobID
	first uint32 // revision of its life: a job that was deleted and began anew judges anew
	host  string
}

func newTried(jobs crawl.Jobs) tried {
	return tried{map[triedKey]crawl.HostTrial{}, crawl.NewPerRevision(jobs, seedHosts)}
}

func seedHosts(job *crawl.Job) (map[string]bool, error) {
	urls, err := job.SeedURLs()
	hosts := map[string]bool{}
	for _, u := range urls {
		hosts[u.HostKey()] = true
	}
	return hosts, err
}

// tryHost says why a task is not to be fetched because of its host; nil: it is.
func (dp *dispatcher) tryHost(ctx context.Context, job *crawl.Job, task *crawl.Task) (*dismissal, error) {
	if dp.deps.Trials == nil || !job.JudgesHosts() || task.Kind != crawl.KindPage || task.Seed {
		return nil, nil
	}
	host := task.URL.HostKey()
	seeds, err := dp.tried.seeds.Of(job)
	if err != nil || seeds[host] {
		return nil, err
	}
	key := triedKey{job.ID, crawl.EpochOf(job.First), host}
	t, known := dp.tried.verdicts[key]
	if !known {
		if t, err = dp.deps.Trials.Trial(ctx, job.ID, host); err != nil {
			return nil, fmt.Errorf("frontier: %w", err)
		}
		if t.Verdict != crawl.HostOpen {
			if len(dp.tried.verdicts) >= maxTried {
				clear(dp.tried.verdicts)
			}
			dp.tried.verdicts[key] = t
		}
	}
	if t.Verdict != crawl.HostOff {
		return nil, nil
	}
	return &dismissal{crawl.VerdictExcluded, crawl.ReasonTopicHost, t.Why()}, nil
}
