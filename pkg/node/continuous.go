package node

import (
	"context"
	"fmt"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// endless reports whether a job goes on until it is stopped: it is continuous, and no bound of its time or bytes is
// met.
func (e *Engine) endless(ctx context.Context, id crawl.JobID) bool {
	job, err := e.store.Jobs().Job(ctx, id)
	if err != nil || !job.Revisits() {
		return false
	}
	bound := e.frontier.Bound(id)
	return bound == "" || bound == "max_pages"
}

// rememberName is the named value that says since which revision the pages of a job are remembered that it fetched
// while it visited its URLs once.
func rememberName(id crawl.JobID) string { return "revisits " + string(id) }

// rememberNote is the value. A walk of version 1, which has no version in its note, took pages for left out that were
// not: it is made once more.
func rememberNote(since uint32) string { return strconv.FormatUint(uint64(since), 10) + " v2" }

// rememberPages has the pages of a job visited again that it fetched while it visited its URLs once, once for each
// revision by which it became continuous. The frontier goes by that revision already. Where it is cut short it begins
// anew: what is remembered by then stays.
func (e *Engine) rememberPages(ctx context.Context, id crawl.JobID) error {
	revisions, err := e.store.Jobs().Revisions(ctx, id)
	since := crawl.ContinuousSince(revisions)
	if err != nil || since == 0 {
		return err
	}
	note, found, err := e.store.Meta().Get(ctx, rememberName(id))
	if err != nil || found && string(note) == rememberNote(since) {
		return err
	}
	pages, err := e.store.JobPages(ctx, id)
	if err != nil {
		return err
	}
	job := revisions[len(revisions)-1].Job
	e.frontier.SetJob(job) // who revises the job may not have come as far
	n, err := remember(ctx, e.frontier, e.store, job, func(tasks []crawl.Task) error {
		return addSums(ctx, pages, tasks)
	})
	if err != nil {
		return err
	}
	if n > 0 {
		e.log.Info("pages are visited again that were fetched before the job was continuous", "job", id, "revision", since,
			"pages", n)
	}
	return e.store.Meta().Put(ctx, rememberName(id), []byte(rememberNote(since)))
}

// remember has a frontier visit what is not visited again of a continuous job, and returns how many URLs they are. add
// adds to tasks what is known of them besides; nil: nothing.
func remember(ctx context.Context, f *frontier.Frontier, found crawl.Unremembered, job *crawl.Job,
	add func([]crawl.Task) error) (n int, err error) {
	take := func(tasks []crawl.Task) error {
		if add != nil {
			if err := add(tasks); err != nil {
				return err
			}
		}
		some, err := f.Remember(ctx, job.ID, tasks)
		n += some
		return err
	}
	if err = found.EachUnremembered(ctx, job.ID, take); err == nil {
		err = eachSeed(job, take)
	}
	if err != nil {
		return n, fmt.Errorf("job %q: pages that were fetched before it was continuous: %w", job.ID, err)
	}
	return n, nil
}

// eachSeed hands the tasks of the seeds that a job names to a function: a seed is visited again whatever it answered.
func eachSeed(job *crawl.Job, each func([]crawl.Task) error) error {
	rules, err := urlrules.Compile(job)
	if err != nil {
		return err
	}
	seeds, err := job.SeedURLs()
	if err != nil || len(seeds) == 0 {
		return err
	}
	tasks := make([]crawl.Task, len(seeds))
	for i, u := range seeds {
		tasks[i] = seedTask(job, rules.Canonical(u))
	}
	return each(tasks)
}

// addSums adds to tasks what their pages said, as far as there are records of them. Where there is none, the first of
// two visits tells nothing of whether the page changes.
func addSums(ctx context.Context, pages *local.Pages, tasks []crawl.Task) error {
	for i := range tasks {
		t := &tasks[i]
		line, found, err := pages.PageLine(ctx, t.URL.Key())
		if err != nil || !found {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			continue // an audit tells of damaged lines
		}
		rec, err := jsonl.ParseRecord(line)
		if err != nil || !rec.DuplicateOf.IsZero() {
			continue
		}
		t.Sum = contentseen.ChangeSum(&crawl.Document{Page: crawl.Page{Task: crawl.Task{URL: rec.URL}}, Title: rec.Title,
			Text:   rec.Text,
			Fields: rec.Fields, Links: rec.Links})
	}
	return nil
}
