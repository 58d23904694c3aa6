package contentseen

import (
	"context"
	"fmt"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// maxJudged is how many judged hosts are remembered; when there are more they are asked for again.
const maxJudged = 1 << 14

// judged remembers the hosts that were judged: their pages are not counted any more.
type judged struct {
	mu    sync.Mutex
	hosts map[string]bool
}

func (j *judged) has(key string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.hosts[key]
}

func (j *judged) add(key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.hosts == nil || len(j.hosts) >= maxJudged {
		j.hosts = map[string]bool{}
	}
	j.hosts[key] = true
}

// tryHost counts a page for the trial of its host, where the job judges hosts. A page that is not stored counts, too.
func (h *Handler) tryHost(ctx context.Context, job *crawl.Job, d *crawl.Document) error {
	t := &d.Page.Task
	if h.st.Trials == nil || !job.JudgesHosts() || t.Kind != crawl.KindPage || !d.Relevance.Known() {
		return nil
	}
	key := fmt.Sprint(job.ID, " ", crawl.EpochOf(job.First), " ", t.URL.HostKey()) // a job that began anew judges anew
	if h.judged.has(key) {
		return nil
	}
	p := crawl.TriedPage{By: crawl.RenderKey(t), Relevance: d.Relevance}
	trial, err := h.st.Trials.ChangeTrial(ctx, job.ID, t.URL.HostKey(), func(known *crawl.HostTrial) bool {
		return known.Add(p, job.Topic.Trial(), job.Topic.Limit())
	})
	if err != nil {
		return fmt.Errorf("content of %s: %w", t.URL, err)
	}
	if trial.Verdict != crawl.HostOpen {
		h.judged.add(key)
		h.log.Debug("host judged", "job", job.ID, "host", t.URL.HostKey(), "on topic", trial.Verdict == crawl.HostOn,
			"why", trial.Why())
	}
	return nil
}
