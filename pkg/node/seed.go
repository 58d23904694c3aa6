package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/filter"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// Seed hands the job's seeds to the DUE, those that the ledger does not know. The same seeds make the same message, so
// seeding again, after a crash in the middle too, queues nothing twice.
func Seed(ctx context.Context, b bus.Bus, ledger crawl.Ledger, job *crawl.Job) (int, error) {
	rules, err := filter.Compile(job)
	if err != nil {
		return 0, err
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return 0, err
	}
	batch := crawl.Batch{Job: job.ID}
	seen := map[weburl.URL]bool{}
	for _, u := range seeds {
		u = rules.Canonical(u)
		entries, err := ledger.Lookup(ctx, job.ID, u.Key())
		if err != nil {
			return 0, fmt.Errorf("look up seed %s: %w", u, err)
		}
		if st := entries[0].State; seen[u] || st == crawl.StateOpen || st == crawl.StateDone {
			continue
		}
		seen[u] = true
		batch.Tasks = append(batch.Tasks, crawl.Task{Job: job.ID, URL: u, Seed: true, Priority: crawl.DefaultPriority + 1})
	}
	if len(batch.Tasks) == 0 {
		return 0, nil
	}
	id := crawl.MessageID(xxh3.HashString128(string(job.ID) + "\n" + strings.Join(job.Seeds, "\n")).Bytes())
	err = b.Publish(ctx, bus.Message{ID: id, Event: &crawl.Split{Batch: batch}})
	if err != nil {
		return 0, fmt.Errorf("seed job %s: %w", job.ID, err)
	}
	return len(batch.Tasks), nil
}
