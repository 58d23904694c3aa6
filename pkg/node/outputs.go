package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// outputsEvery is how often outputs follow the records. Tests change it.
var outputsEvery = 500 * time.Millisecond

// outputsAgain is how long the end of a crawl waits for an output that fails.
const outputsAgain = 2 * time.Second

// outputsLast is how long outputs may take when the process ends. What is not delivered then, the next one delivers.
const outputsLast = 20 * time.Second

// outputs write what is stored of a job.
type outputs struct {
	mu  sync.Mutex // held by who delivers
	all map[string]*output

	busy atomic.Bool // a round is under way

	little sync.Mutex // held for a moment
	rest   bool       // nothing more comes, and all is written
	cancel context.CancelFunc
	states map[string]OutputState
}

// output is one of them.
type output struct {
	file     deliver.File // nil: it is not open
	settings string       // what it was opened with
	said     string       // what was said of its failure; empty: it does not fail
	leaves   bool
	wait     time.Duration // until the next try
	seen     int64         // records that were delivered when a try failed last
	next     time.Time     // try
	err      error         // of the last
}

// deliver writes what is stored of a job and not written yet; with over, which says that nothing more comes, whole
// files are made of it. Each output goes its own way: a slow one, or one that fails, does not keep the others. behind
// says that one has not written all.
func (e *Engine) deliver(ctx context.Context, j *engineJob, over bool) (behind bool, err error) {
	j.outs.mu.Lock()
	defer j.outs.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !j.outs.begin(cancel) {
		return false, nil
	}
	job, err := e.store.Jobs().Job(ctx, j.id)
	if err != nil {
		return true, err
	}
	if !job.Pipeline.Delivers() {
		return false, j.outs.close(ctx, nil)
	}
	var (
		round sync.WaitGroup
		keep  = map[string]bool{}
		errs  = make([]error, len(job.Pipeline.Nodes)+1)
	)
	for i := range job.Pipeline.Nodes {
		n := &job.Pipeline.Nodes[i]
		if n.At != crawl.AtOutput {
			continue
		}
		keep[n.ID] = true
		o := j.outs.of(n.ID)
		round.Go(func() {
			if err := e.deliverOne(ctx, j, job, n, o, over); err != nil {
				errs[i] = fmt.Errorf("pipeline.nodes[%d] (%s): %w", i, n.ID, err)
			}
		})
	}
	round.Wait()
	behind = errors.Join(errs...) != nil
	errs[len(errs)-1] = j.outs.close(ctx, keep)
	return behind, errors.Join(errs...)
}

// of is the output of a node. mu is held.
func (o *outputs) of(id string) *output {
	if o.all == nil {
		o.all = map[string]*output{}
	}
	if o.all[id] == nil {
		o.all[id] = &output{}
	}
	return o.all[id]
}

// deliverOne writes one output, unless it failed a moment ago.
func (e *Engine) deliverOne(ctx context.Context, j *engineJob, job *crawl.Job, n *crawl.PluginNode, o *output,
	over bool) error {
	if o.err != nil && time.Now().Before(o.next) {
		return o.err
	}
	err := e.open(ctx, j, job, n, o)
	if err == nil {
		err = catchUp(ctx, o.file, over, func() { j.outs.tell(n, o, nil) })
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // somebody ended it
	}
	if o.err = err; err == nil {
		o.wait = 0
	} else if o.leaves {
		o.putOff()
	}
	e.sayOutput(j, n, o)
	j.outs.tell(n, o, err)
	return err
}

// putOff has an output that failed wait, longer each time. One that has delivered something since it failed last begins
// with a short wait again: otherwise a receiver that refuses a post now and then would get one a minute.
func (o *output) putOff() {
	if o.file != nil {
		if seen := o.file.Figures().Seen; seen != o.seen {
			o.wait, o.seen = 0, seen
		}
	}
	o.wait = min(max(2*o.wait, time.Second), time.Minute)
	o.next = time.Now().Add(o.wait)
}

// catchUp writes all that is stored, and with over makes whole files of it.
func catchUp(ctx context.Context, w deliver.File, over bool, step func()) error {
	for first := true; first || w.Behind(); first = false { // once where nothing is new: a part may be old enough
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.Step(ctx); err != nil {
			return err
		}
		step()
	}
	if !over {
		return nil
	}
	return w.Complete(ctx, true)
}

// open opens an output, as the job has it now.
func (e *Engine) open(ctx context.Context, j *engineJob, job *crawl.Job, n *crawl.PluginNode, out *output) error {
	o, want, err := outputOf(job, n, e.store.JobDir(j.id))
	if err != nil {
		return err
	}
	if out.leaves = want.Leaves(); out.file != nil && out.settings == o.Settings {
		return nil
	}
	if err := out.close(); err != nil {
		return err
	}
	pages, err := e.store.JobPages(ctx, j.id)
	if err != nil {
		return err
	}
	owner := ""
	if out.leaves {
		if owner, err = e.owner(ctx, j.id); err != nil {
			return err
		}
	}
	if want.Packs() {
		o.Make = e.packager(job, pages)
	}
	private := !e.store.Many() || e.opt.PrivateOutputs || e.opt.Node.Fetch.AllowPrivate
	out.file, err = openOutput(ctx, &o, want, &deliver.Remote{Owner: owner, Job: string(j.id), Node: n.ID}, private,
		e.store.Meta(), pages, e.log.With("job", j.id, "node", n.ID))
	if out.settings = o.Settings; err != nil {
		out.file = nil
	}
	return err
}

func (o *output) close() error {
	if o.file == nil {
		return nil
	}
	err := o.file.Close()
	o.file = nil
	return err
}

// sayOutput says that an output fails, once, and that it goes on.
func (e *Engine) sayOutput(j *engineJob, n *crawl.PluginNode, o *output) {
	switch {
	case o.err == nil && o.said != "":
		o.said = ""
		e.log.Error("an output is written again", "job", j.id, "node", n.ID)
	case o.err != nil && o.err.Error() != o.said:
		o.said = o.err.Error()
		e.log.Error("an output cannot be written: it is tried again, and loses nothing; the crawl does not end before",
			"job", j.id, "node", n.ID, "error", o.err)
	}
}

// close closes the outputs but for some, with what they have read. mu is held.
func (o *outputs) close(ctx context.Context, keep map[string]bool) error {
	var errs []error
	for id, out := range o.all {
		if keep[id] {
			continue
		}
		if out.file != nil {
			errs = append(errs, out.file.Complete(ctx, false))
		}
		errs = append(errs, out.close())
		delete(o.all, id)
	}
	if keep != nil {
		o.forget(keep)
	}
	return errors.Join(errs...)
}

// followRecords writes outputs while the engine runs.
func (e *Engine) followRecords(ctx context.Context) {
	tick := time.NewTicker(outputsEvery)
	defer tick.Stop()
	var rounds sync.WaitGroup
	defer rounds.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		e.deliverAll(ctx, &rounds)
	}
}

// deliverAll begins a round of each job that has something to write, unless one is under way.
func (e *Engine) deliverAll(ctx context.Context, rounds *sync.WaitGroup) {
	for _, j := range e.everyJob() {
		if ctx.Err() != nil || e.store.Err() != nil {
			return
		}
		if j.outs.resting() || e.store.Many() && e.store.JobFault(j.id) != nil || !j.outs.busy.CompareAndSwap(false, true) {
			continue
		}
		rounds.Go(func() {
			defer j.outs.busy.Store(false)
			e.deliverRound(ctx, j)
		})
	}
}

// deliverRound delivers once, and lets the outputs rest where nothing more comes.
func (e *Engine) deliverRound(ctx context.Context, j *engineJob) {
	m := j.marked()
	over := (m.Ended || m.Stopped) && e.bus.OutstandingOf(j.id) == 0
	behind, err := e.deliver(ctx, j, over)
	if err != nil && !behind {
		e.log.Warn("outputs of a job could not be closed", "job", j.id, "error", err)
	}
	if over && !behind && ctx.Err() == nil {
		if err := j.outs.settle(ctx); err != nil {
			e.log.Warn("outputs of a job could not be closed", "job", j.id, "error", err)
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

// deliverLast delivers what was finished while the engine stopped.
func (e *Engine) deliverLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outputsLast)
	defer cancel()
	var rounds sync.WaitGroup
	e.deliverAll(ctx, &rounds)
	rounds.Wait()
}

// settle closes the outputs of a job when the process ends.
//
//nolint:contextcheck // what ran has ended, and its context with it
func (e *Engine) settle(j *engineJob) error {
	ctx, cancel := context.WithTimeout(context.Background(), outputsLast)
	defer cancel()
	return j.outs.settle(ctx)
}
