package node

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Seed hands the job's seeds to the DUE, those that the ledger does not know. The same seeds make the same message, so
// seeding again, after a crash in the middle too, queues nothing twice.
//
// A robots.txt that another job has fetched is not fetched for this one. What sitemaps it names is said here then, for
// the origins of the seeds.
func Seed(ctx context.Context, b bus.Bus, ledger crawl.Ledger, rules crawl.RobotsStore, job *crawl.Job) (int, error) {
	scope, err := urlrules.Compile(job)
	if err != nil {
		return 0, err
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return 0, err
	}
	batch := crawl.Batch{Job: job.ID, Epoch: lifeEpoch(job)}
	seen := map[weburl.URL]bool{}
	for _, u := range seeds {
		u = scope.Canonical(u)
		entries, err := ledger.Lookup(ctx, job.ID, u.Key())
		if err != nil {
			return 0, fmt.Errorf("look up seed %s: %w", u, err)
		}
		if st := entries[0].State; seen[u] || st == crawl.StateOpen || st == crawl.StateDone {
			continue
		}
		seen[u] = true
		batch.Tasks = append(batch.Tasks, seedTask(job, u))
	}
	examples, err := newExamples(ctx, ledger, job, scope, seen)
	if err != nil {
		return 0, err
	}
	if batch.Tasks = append(batch.Tasks, examples...); len(batch.Tasks) == 0 {
		return 0, nil
	}
	id := seedsID(job, examples)
	msgs := []bus.Message{{ID: id, Event: &crawl.Filtered{Batch: batch}}}
	known, err := knownSitemaps(ctx, rules, job, batch.Tasks)
	if err != nil {
		return 0, err
	}
	for i, e := range known {
		msgs = append(msgs, bus.Message{ID: id.Child("sitemaps", i), Event: e})
	}
	if err := b.Publish(ctx, msgs...); err != nil {
		return 0, fmt.Errorf("seed job %s: %w", job.ID, err)
	}
	return len(batch.Tasks), nil
}

// seedsID names the message of a job's seeds and examples.
func seedsID(job *crawl.Job, examples []crawl.Task) crawl.MessageID {
	names := slices.Clone(job.Seeds)
	for i := range examples {
		names = append(names, examples[i].URL.String())
	}
	return xxh3.HashString128(string(job.ID) + lifeText(job) + "\n" + strings.Join(names, "\n")).Bytes()
}

// newExamples are the tasks of examples that the ledger does not know.
func newExamples(ctx context.Context, ledger crawl.Ledger, job *crawl.Job, rules *urlrules.Rules,
	seeds map[weburl.URL]bool) (tasks []crawl.Task, err error) {
	for _, t := range exampleTasks(job, rules, seeds) {
		entries, err := ledger.Lookup(ctx, job.ID, t.URL.Key())
		if err != nil {
			return nil, fmt.Errorf("look up example %s: %w", t.URL, err)
		}
		if entries[0].State != crawl.StateOpen && entries[0].State != crawl.StateDone {
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

// exampleTasks are the tasks of the pages that a job names as being about its topic: where they lie within the job's
// rules, the crawl goes on from them as from any page that is about it. They widen no scope, as seeds do.
func exampleTasks(job *crawl.Job, rules *urlrules.Rules, seeds map[weburl.URL]bool) (tasks []crawl.Task) {
	for _, example := range job.Topic.Examples {
		u, err := weburl.Parse(example)
		if !crawl.IsURL(example) || err != nil || !job.Topical() || job.SeedsOnly {
			continue
		}
		t := crawl.Task{Job: job.ID, URL: rules.Canonical(u), Kind: crawl.KindPage, Epoch: lifeEpoch(job),
			Priority: crawl.MaxPriority, Relevance: crawl.RelevanceOf(1)}
		if reason, _ := rules.Judge(&t, time.Now()); reason == "" && !seeds[t.URL] {
			seeds[t.URL] = true
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// seedTask is the task of a seed, which is canonical. One that is fetched for itself is a page, whatever its name.
func seedTask(job *crawl.Job, u weburl.URL) crawl.Task {
	t := crawl.Task{Job: job.ID, URL: u, Kind: kindOf(u), Seed: true, Epoch: lifeEpoch(job),
		Priority: crawl.DefaultPriority + 1}
	if job.SeedsOnly {
		t.Kind = crawl.KindPage
	}
	return t
}

// lifeEpoch is the epoch of a job's seeds: none where the job was never deleted.
func lifeEpoch(job *crawl.Job) uint32 {
	if job.First == 0 {
		return 0
	}
	return job.Epoch
}

// lifeText tells the messages of a job's lives apart.
func lifeText(job *crawl.Job) string {
	if job.First == 0 {
		return ""
	}
	return fmt.Sprintf(" from %d", job.First)
}

// kindOf is what a seed is by its name: sitemaps and feeds are read for the pages that they list. One that is not named
// so is found out when it answers.
func kindOf(seed weburl.URL) crawl.Kind {
	name := strings.ToLower(path.Base(seed.Path()))
	for _, ending := range []string{".xml", ".xml.gz", ".rss", ".atom", ".rdf"} {
		if strings.HasSuffix(name, ending) {
			return crawl.KindSitemap
		}
	}
	if strings.HasPrefix(name, "sitemap") && (strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".gz")) {
		return crawl.KindSitemap
	}
	return crawl.KindPage
}

// robotsLookups is how many robots.txt files are looked up at once.
const robotsLookups = 16

// knownSitemaps are the sitemaps that the stored rules of the seeds' origins name.
func knownSitemaps(ctx context.Context, rules crawl.RobotsStore, job *crawl.Job,
	seeds []crawl.Task) (out []crawl.Event, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(robotsLookups)
	seen, found := map[string]bool{}, make([][]crawl.Event, len(seeds))
	for i := range seeds {
		origin := job.RulesOf(seeds[i].URL)
		if seen[origin] {
			continue
		}
		seen[origin] = true
		g.Go(func() (err error) {
			found[i], err = sitemapsOf(ctx, rules, job, origin)
			return err
		})
	}
	err = g.Wait()
	return slices.Concat(found...), err
}

func sitemapsOf(ctx context.Context, rules crawl.RobotsStore, job *crawl.Job, name string) ([]crawl.Event, error) {
	rec, found, err := rules.Robots(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("robots.txt of a seed at %s: %w", crawl.OriginOf(name), err)
	}
	u, err := weburl.Parse(crawl.OriginOf(name) + "/robots.txt")
	if !found || err != nil {
		return nil, nil //nolint:nilerr // an origin that has no such URL has no rules
	}
	task := crawl.Task{Job: job.ID, URL: u, Kind: crawl.KindRobots, For: name, Seed: true, Epoch: lifeEpoch(job)}
	return fetcher.StoredSitemaps(job, &task, &rec), nil
}
