package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
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

// Where a crawl that visited its URLs once goes on as a continuous one, what it fetched is to be visited again. Its
// records say what is needed: this runs once for a job, before it goes on, and again if it was cut short.
const (
	rememberBatch = 256
	rememberNote  = "revisits "
)

// rememberPages fills what is remembered of pages between their visits from the records of a job that becomes
// continuous.
func (e *Engine) rememberPages(ctx context.Context, job *crawl.Job) error {
	note := rememberNote + string(job.ID)
	if _, done, err := e.store.Meta().Get(ctx, note); err != nil || done || !job.Revisits() {
		return err
	}
	f, err := e.store.JobPages(ctx, job.ID)
	if err != nil {
		return err
	}
	weight, err := job.Revisit.WeightOf()
	if err != nil {
		return err
	}
	r := remembering{store: e.store, job: job, weight: weight, now: e.opt.Node.Frontier.Calendar.At(time.Now()), calendar: e.opt.Node.Frontier.Calendar}
	err = f.EachLine(ctx, 0, func(_ int64, line []byte) (bool, error) {
		if jsonl.IsReplaced(line) {
			return true, nil
		}
		rec, err := jsonl.ParseRecord(line)
		if err != nil {
			return true, nil //nolint:nilerr // an audit tells of damaged lines
		}
		return true, r.add(ctx, rec)
	})
	if err = errors.Join(err, r.flush(ctx)); err != nil {
		return fmt.Errorf("job %q: what is remembered of its pages: %w", job.ID, err)
	}
	return e.store.Meta().Put(ctx, note, []byte("filled"))
}

type remembering struct {
	store    *local.Store
	job      *crawl.Job
	weight   func(string) float64
	now      time.Time
	calendar revisit.Calendar
	pages    []crawl.Revisit
	entries  []crawl.Entry
	n        int
}

// add takes in a record. Pages are due one after the other, as many a day as the job has visits.
func (r *remembering) add(ctx context.Context, rec *crawl.Record) error {
	r.n++
	budget := r.job.Revisit.Filled().Budget
	s := revisit.State{Visits: uint32(rec.Visit) + 1, Last: r.calendar.At(rec.FetchedAt).Truncate(time.Second), Rate: revisit.Unknown(),
		Due:    r.now.Add(time.Duration(float64(r.n) / float64(budget) * float64(24*time.Hour))),
		Weight: max(revisit.WeightOctet(revisit.PageWeight(r.weight(rec.URL.String()), rec.Depth, 1)), 1)}
	if rec.DuplicateOf.IsZero() {
		s.Sum = contentseen.ChangeSum(&crawl.Document{Page: crawl.Page{Task: crawl.Task{URL: rec.URL}}, Title: rec.Title, Text: rec.Text,
			Fields: rec.Fields, Links: rec.Links})
	}
	r.pages = append(r.pages, crawl.Revisit{URL: rec.URL, State: s})
	r.entries = append(r.entries, crawl.Entry{Key: rec.URL.Key(), Again: &crawl.Task{Depth: rec.Depth, Referrer: rec.Referrer, Epoch: rec.Epoch}})
	if len(r.pages) < rememberBatch {
		return nil
	}
	return r.flush(ctx)
}

// flush stores what was taken in. What is remembered already was observed since, and stays.
func (r *remembering) flush(ctx context.Context) error {
	if len(r.pages) == 0 {
		return nil
	}
	for i := range r.pages {
		got, err := r.store.URLs().Lookup(ctx, r.job.ID, r.entries[i].Key)
		if err != nil {
			return err
		}
		again := r.entries[i].Again
		r.entries[i] = got[0]
		r.entries[i].Again = again
	}
	var pages []crawl.Revisit
	var entries []crawl.Entry
	for i := range r.pages {
		e := &r.entries[i]
		states, err := r.store.Revisits().States(ctx, r.job.ID, e.Key)
		if err != nil {
			return err
		}
		if e.IsPage() && states[0] == (revisit.State{}) {
			pages, entries = append(pages, r.pages[i]), append(entries, *e)
		}
	}
	r.pages, r.entries = r.pages[:0], r.entries[:0]
	if len(pages) == 0 {
		return nil
	}
	if err := r.store.URLs().Finish(ctx, r.job.ID, entries...); err != nil {
		return err
	}
	return r.store.Revisits().Put(ctx, r.job.ID, pages...)
}
