package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// unknownJob is the error about a job that the store does not hold.
func unknownJob(id crawl.JobID) error {
	return crawl.Permanent(fmt.Errorf("job %q: the engine does not know it", id))
}

// unready is the error about a job whose plug-ins cannot be loaded.
func unready(id crawl.JobID, err error) error {
	if err = fmt.Errorf("job %q: %w", id, err); errors.Is(err, plugin.ErrUnavailable) {
		return err // it passes
	}
	return crawl.Permanent(err)
}

// Submit stores the job as it is now, seeds it, and lets it run: a new one, one that was stopped or held, and one that
// had ended and whose bounds were widened. A faulty job is a permanent error (crawl.IsPermanent). When it returns, the
// job goes on after whatever ends the process.
//
//nolint:contextcheck // a job runs in the context of the engine, whoever asked for it
func (e *Engine) Submit(ctx context.Context, job *crawl.Job) error {
	if err := job.Validate(); err != nil {
		return crawl.Permanent(fmt.Errorf("job: %w", err))
	}
	job, err := completed(ctx, job)
	if err != nil {
		return crawl.Permanent(fmt.Errorf("job: %w", err))
	}
	if err := e.plugins.Prepare(ctx, job); err != nil {
		return unready(job.ID, err)
	}
	if err := e.checkEnds(ctx, job); err != nil {
		return unready(job.ID, err)
	}
	j := e.enter(job.ID)
	j.turn.Lock()
	defer j.turn.Unlock()
	current, changes, err := Revise(ctx, e.store.Jobs(), job)
	if err != nil {
		return fmt.Errorf("job %q: %w", job.ID, err)
	}
	m := j.marked()
	if m.Ended || m.Stopped {
		j.halt()
	}
	m.Held, m.Why, m.Stopped, m.Ended, m.EndedBy = false, "", false, false, 0
	if m.Started.IsZero() {
		m.Started = time.Now().UTC()
	}
	if err := e.setMark(ctx, j, m); err != nil {
		return err
	}
	e.frontier.SetJob(current)
	if j.runs() && len(changes) > 0 {
		return e.follow(ctx, j, current)
	}
	return e.start(j)
}

// Hold keeps a job from leasing anything, or lets it go on. What is under way goes on.
func (e *Engine) Hold(ctx context.Context, id crawl.JobID, held bool) error {
	return e.remark(ctx, id, func(m *jobMark) { m.Held, m.Why = held, "" })
}

// Stop ends a job: nothing more is leased, now and after a restart, until it is submitted again. What is under way is
// finished, what is queued stays.
func (e *Engine) Stop(ctx context.Context, id crawl.JobID) error {
	return e.remark(ctx, id, func(m *jobMark) { m.Stopped = true })
}

func (e *Engine) remark(ctx context.Context, id crawl.JobID, change func(*jobMark)) error {
	j := e.job(id)
	if j == nil {
		return unknownJob(id)
	}
	j.turn.Lock()
	defer j.turn.Unlock()
	m := j.marked()
	change(&m)
	if err := e.setMark(ctx, j, m); err != nil {
		return err
	}
	if m.Stopped {
		j.halt()
	}
	return nil
}

// Revise makes a revision of a job, and returns what it changes. From the next lease on it applies.
func (e *Engine) Revise(ctx context.Context, job *crawl.Job) ([]crawl.Change, error) {
	j := e.job(job.ID)
	if j == nil {
		return nil, unknownJob(job.ID)
	}
	j.turn.Lock()
	defer j.turn.Unlock()
	return e.revise(ctx, j, job)
}

// revise is Revise; the job's turn is held.
func (e *Engine) revise(ctx context.Context, j *engineJob, job *crawl.Job) ([]crawl.Change, error) {
	if err := e.plugins.Prepare(ctx, job); err != nil {
		return nil, unready(job.ID, err)
	}
	if err := e.checkEnds(ctx, job); err != nil {
		return nil, unready(job.ID, err)
	}
	current, changes, err := Revise(ctx, e.store.Jobs(), job)
	if err != nil || len(changes) == 0 {
		return changes, err
	}
	e.frontier.SetJob(current)
	j.outs.wake()
	if !j.runs() {
		return changes, nil
	}
	return changes, e.follow(ctx, j, current)
}

// follow has a job that runs go by a new revision of it.
func (e *Engine) follow(ctx context.Context, j *engineJob, current *crawl.Job) error {
	if _, err := Seed(ctx, e.bus, e.store.URLs(), e.store.Hosts(), current); err != nil {
		return err
	}
	j.sweepSoon()
	return e.feedMore(j, current)
}

// Seeds adds seeds to a job, as a revision of it, and returns how many of them it did not have.
func (e *Engine) Seeds(ctx context.Context, id crawl.JobID, urls []string) (int, error) {
	j := e.job(id)
	if j == nil {
		return 0, unknownJob(id)
	}
	j.turn.Lock()
	defer j.turn.Unlock()
	job, err := e.store.Jobs().Job(ctx, id)
	if err != nil {
		return 0, err
	}
	fresh := job.NewSeeds(urls)
	if len(fresh) == 0 {
		return 0, nil
	}
	next := *job
	next.Seeds = slices.Concat(job.Seeds, fresh)
	_, err = e.revise(ctx, j, &next)
	return len(fresh), err
}

// Discard deletes what is stored of a job that was stopped, or has ended; with keepRecords, all but its pages.jsonl,
// crawl.log, bodies and archives. A kill in the middle is finished by the next start. The id may be used again after
// that. A job that is not known is no error.
func (e *Engine) Discard(ctx context.Context, id crawl.JobID, keepRecords bool) error {
	j := e.job(id)
	if j == nil && keepRecords {
		return nil
	}
	if j == nil { // what an earlier call kept may be there
		return os.RemoveAll(e.store.JobDir(id))
	}
	j.turn.Lock()
	defer j.turn.Unlock()
	if m := j.marked(); !m.Stopped && !m.Ended {
		return fmt.Errorf("job %q runs: stop it before you discard it", id)
	}
	j.halt()
	if err := errors.Join(e.still(ctx, id), j.outs.settle(ctx)); err != nil {
		return err
	}
	if err := e.archives.end(id); err != nil {
		return fmt.Errorf("discard job %q: %w", id, err)
	}
	if err := e.store.DiscardJob(ctx, id, keepRecords); err != nil {
		return err
	}
	e.frontier.Discard(id)
	e.frontier.Hold(id, false) // its tasks are dropped as they come to hand
	e.letters.gone(id)
	e.bus.Forget(id)
	e.mu.Lock()
	delete(e.jobs, id)
	e.mu.Unlock()
	return errors.Join(e.store.Meta().Delete(ctx, rememberName(id)), e.store.Meta().Delete(ctx, markName(id)))
}

// still waits until nothing of a job is under way. What is under way of one whose results cannot be written would wait
// for ever: it is let go when the job is discarded.
func (e *Engine) still(ctx context.Context, id crawl.JobID) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for e.context() != nil && e.store.JobFault(id) == nil &&
		(e.bus.OutstandingOf(id) > 0 || e.frontier.JobStats(id).InFlight > 0) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("discard job %q: requests of it are still under way: try again: %w", id, context.Cause(ctx))
		case <-e.store.Broken():
			return e.store.Err()
		case <-tick.C:
		}
	}
	return nil
}

// ReplayLetters delivers dead letters of a job again: those with the ids, all where none are given, each as the message
// that revive makes of it. It returns their number. Interrupted in the middle, a letter may be delivered and stay;
// replayed twice it does no harm.
func (e *Engine) ReplayLetters(ctx context.Context, id crawl.JobID, revive func(bus.DeadLetter) bus.Message,
	ids ...crawl.MessageID) (int, error) {
	var msgs []bus.Message
	var found []crawl.MessageID
	err := e.letters.ListReadable(ctx, func(l bus.DeadLetter) error {
		if crawl.JobOf(l.Message.Event) == id && (len(ids) == 0 || slices.Contains(ids, l.Message.ID)) {
			msgs, found = append(msgs, revive(l)), append(found, l.Message.ID)
		}
		return nil
	})
	if err != nil || len(msgs) == 0 {
		return 0, err
	}
	if err := e.bus.Replay(ctx, msgs...); err != nil {
		return 0, err
	}
	if err := e.letters.Remove(ctx, found...); err != nil {
		return 0, err
	}
	e.letters.gone(id, found...)
	return len(msgs), nil
}

// heldHostsName is the named value of the hosts that are held.
const heldHostsName = "held hosts"

// HoldHost keeps a host from being asked by any job, also after a restart.
func (e *Engine) HoldHost(ctx context.Context, key string) error {
	e.frontier.HoldHost(key, true)
	return e.noteHosts(ctx)
}

// ReleaseHost lets a host be asked again.
func (e *Engine) ReleaseHost(ctx context.Context, key string) error {
	e.frontier.HoldHost(key, false)
	return e.noteHosts(ctx)
}

// HeldHosts returns the hosts that are held.
func (e *Engine) HeldHosts() []string { return e.frontier.HeldHosts() }

func (e *Engine) noteHosts(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	data, err := json.Marshal(e.frontier.HeldHosts())
	if err == nil {
		err = e.store.Meta().Put(ctx, heldHostsName, data)
	}
	if err != nil {
		return fmt.Errorf("note the hosts that are held: %w", err)
	}
	return nil
}

func (e *Engine) loadHosts(ctx context.Context) error {
	data, found, err := e.store.Meta().Get(ctx, heldHostsName)
	if err != nil || !found {
		return err
	}
	var keys []string
	if err := json.Unmarshal(data, &keys); err != nil {
		return errors.Join(errors.New("the list of hosts that are held is damaged"), err)
	}
	for _, k := range keys {
		e.frontier.HoldHost(k, true)
	}
	return nil
}
