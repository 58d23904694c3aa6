package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// outputsEvery is how often outputs follow the records. Tests change it.
var outputsEvery = 500 * time.Millisecond

// outputsAgain is how long the end of a crawl waits for an output that fails.
const outputsAgain = 2 * time.Second

// outputs write what is stored of a job.
type outputs struct {
	mu      sync.Mutex // held by who delivers
	writers map[string]deliver.File
	of      map[string]string // what each writer was made of
	failed  map[string]string // what was said of those that fail
	rest    bool              // nothing more comes, and all is written
}

// deliver writes what is stored of a job and not written yet; with over, which says that nothing more comes, whole
// files are made of it. An output that fails does not keep the others; behind says that one has not written all.
func (e *Engine) deliver(ctx context.Context, j *engineJob, over bool) (behind bool, err error) {
	j.outs.mu.Lock()
	defer j.outs.mu.Unlock()
	if j.outs.rest {
		return false, nil
	}
	job, err := e.store.Jobs().Job(ctx, j.id)
	if err != nil {
		return true, err
	}
	if !job.Pipeline.Delivers() {
		return false, j.outs.close(ctx, nil)
	}
	var errs []error
	keep := map[string]bool{}
	for i := range job.Pipeline.Nodes {
		n := &job.Pipeline.Nodes[i]
		if n.At != crawl.AtOutput {
			continue
		}
		keep[n.ID] = true
		w, err := e.writer(ctx, j, job, n)
		if err == nil {
			err = catchUp(ctx, w, over)
		}
		e.sayOutput(j, n, err)
		if err != nil {
			behind = true
			errs = append(errs, fmt.Errorf("pipeline.nodes[%d] (%s): %w", i, n.ID, err))
		}
	}
	return behind, errors.Join(append(errs, j.outs.close(ctx, keep))...)
}

// catchUp writes all that is stored, and with over makes whole files of it.
func catchUp(ctx context.Context, w deliver.File, over bool) error {
	for first := true; first || w.Behind(); first = false { // once where nothing is new: a part may be old enough
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.Step(ctx); err != nil {
			return err
		}
	}
	if !over {
		return nil
	}
	return w.Complete(ctx)
}

// writer is that of a node, as the job has it now.
func (e *Engine) writer(ctx context.Context, j *engineJob, job *crawl.Job, n *crawl.PluginNode) (deliver.File, error) {
	outs := &j.outs
	o, err := outputOf(job, n, e.store.JobDir(j.id))
	if err != nil {
		return nil, err
	}
	if w := outs.writers[n.ID]; w != nil && outs.of[n.ID] == o.Settings {
		return w, nil
	} else if w != nil {
		delete(outs.writers, n.ID)
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	pages, err := e.store.JobPages(ctx, j.id)
	if err != nil {
		return nil, err
	}
	w, err := deliver.Open(ctx, e.store.Meta(), pages, o, e.log.With("job", j.id, "node", n.ID))
	if err != nil {
		return nil, err
	}
	if outs.writers == nil {
		outs.writers, outs.of, outs.failed = map[string]deliver.File{}, map[string]string{}, map[string]string{}
	}
	outs.writers[n.ID], outs.of[n.ID] = w, o.Settings
	return w, nil
}

// sayOutput says that an output fails, once, and that it goes on.
func (e *Engine) sayOutput(j *engineJob, n *crawl.PluginNode, err error) {
	if j.outs.failed == nil {
		j.outs.failed = map[string]string{}
	}
	before := j.outs.failed[n.ID]
	switch {
	case err == nil && before != "":
		delete(j.outs.failed, n.ID)
		e.log.Error("an output is written again", "job", j.id, "node", n.ID)
	case err != nil && err.Error() != before && !errors.Is(err, context.Canceled):
		j.outs.failed[n.ID] = err.Error()
		e.log.Error("an output cannot be written: it is tried again, and loses nothing; the crawl does not end before", "job", j.id, "node", n.ID, "error", err)
	}
}

// close closes the writers but for some, with what they have read. mu is held.
func (o *outputs) close(ctx context.Context, keep map[string]bool) (err error) {
	for _, id := range slices.Collect(maps.Keys(o.writers)) {
		if !keep[id] {
			err = errors.Join(err, o.writers[id].Complete(ctx), o.writers[id].Close())
			delete(o.writers, id)
			delete(o.of, id)
		}
	}
	return err
}

// wake has outputs look for records again.
func (o *outputs) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = false
}

func (o *outputs) resting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rest
}

// settle closes the files of a job of which nothing more comes.
func (o *outputs) settle(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = true
	return o.close(ctx, nil)
}

// followRecords writes outputs while the engine runs.
func (e *Engine) followRecords(ctx context.Context) {
	tick := time.NewTicker(outputsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		e.deliverAll(ctx)
	}
}

// deliverAll writes the outputs of all jobs that have something to write.
func (e *Engine) deliverAll(ctx context.Context) {
	e.mu.Lock()
	all := slices.Collect(maps.Values(e.jobs))
	e.mu.Unlock()
	for _, j := range all {
		if ctx.Err() != nil || e.store.Err() != nil {
			return
		}
		if j.outs.resting() || e.store.Many() && e.store.JobFault(j.id) != nil {
			continue
		}
		m := j.marked()
		over := (m.Ended || m.Stopped) && e.bus.OutstandingOf(j.id) == 0
		behind, err := e.deliver(ctx, j, over)
		if err != nil && !behind {
			e.log.Warn("outputs of a job could not be closed", "job", j.id, "error", err)
		}
		if over && !behind {
			if err := j.outs.settle(ctx); err != nil {
				e.log.Warn("outputs of a job could not be closed", "job", j.id, "error", err)
			}
		}
	}
}

// delivered reports whether the outputs of a job that has ended have all that is stored. Where one cannot be written,
// it waits a while before it says so.
func (e *Engine) delivered(ctx context.Context, j *engineJob) bool {
	behind, err := e.deliver(ctx, j, true)
	if !behind || ctx.Err() != nil {
		return ctx.Err() == nil
	}
	if err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(outputsAgain):
		}
	}
	return false
}

// Figures returns what the nodes of a job's pipeline did. Of one at provider the calls are its seeds, of one at output
// its rows.
func (e *Engine) Figures(id crawl.JobID) []chain.Figures {
	out := e.plugins.Figures(id)
	j := e.job(id)
	if j == nil {
		return out
	}
	of := func(node string, at crawl.Point) *chain.Figures {
		is := func(f chain.Figures) bool { return f.Node == node && f.At == at }
		if i := slices.IndexFunc(out, is); i >= 0 {
			return &out[i]
		}
		return &chain.Figures{}
	}
	for _, feed := range j.feeds() {
		s, _ := feed.told()
		f := of(feed.from.node, crawl.AtProvider)
		f.Calls, f.Errors = int64(s.Seeds+s.Known), int64(s.Bad)
	}
	j.outs.mu.Lock()
	defer j.outs.mu.Unlock()
	for node, w := range j.outs.writers {
		f, now := of(node, crawl.AtOutput), w.Figures()
		f.Calls, f.Skipped, f.Errors = now.Rows, now.Skipped, now.Faults
	}
	return out
}
