package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// States of a step.
const (
	StepBegun  = "begun"
	StepDone   = "done"
	StepFailed = "failed"
)

// stepTries is how often a step is tried before it has failed.
const stepTries = 3

// step is a step of the finalizer. It may be done again, whole.
type step struct {
	name string
	do   func(ctx context.Context, x *Execution) (any, error)
}

// steps returns the steps of an execution, which depend on its outcome.
func (c *conductor) steps(x *Execution) []step {
	list := []step{
		{"stats", func(ctx context.Context, x *Execution) (any, error) { return c.engine.Stats(ctx, x.ID) }},
		{"audit", func(ctx context.Context, x *Execution) (any, error) { return c.engine.Audit(ctx, x.ID) }},
	}
	if x.Outcome != Succeeded {
		list = append([]step{{"release", c.release}}, list...)
	} else {
		list = append(list, step{"then", c.then})
	}
	return append(list, step{"retention", c.retention})
}

// release makes sure that nothing more is fetched.
func (c *conductor) release(ctx context.Context, x *Execution) (any, error) {
	p, err := c.engine.Progress(ctx, x.ID)
	if err == nil && !p.Known {
		return nil, nil
	}
	return nil, c.engine.Stop(ctx, x.ID)
}

// finalize does the steps that are not done, and brings the execution to its end.
func (c *conductor) finalize(ctx context.Context, x *Execution) error {
	before, err := c.store.Steps(ctx, x.ID, x.Attempt)
	if err != nil {
		return err
	}
	done := map[string]Step{}
	for _, s := range before {
		done[s.Name] = s
	}
	var lost []string
	for _, s := range c.steps(x) {
		out := done[s.name]
		if out.State != StepDone && out.State != StepFailed {
			if out, err = c.step(ctx, x, s); err != nil {
				return err
			}
			done[s.name] = out
		}
		if out.State == StepFailed {
			lost = append(lost, "step "+s.name+" failed: "+failureOf(out))
		}
	}
	if x.Desired == Run && x.Outcome == Succeeded {
		p, err := c.engine.Progress(ctx, x.ID)
		if err != nil {
			return err
		}
		if p.Known && (p.Revised || !p.Ended) { // nodes let a job that had ended run again by themselves
			return c.goOn(ctx, x)
		}
	}
	return c.conclude(ctx, x, done, lost)
}

// goOn lets an execution run again that was revised while its end was made.
func (c *conductor) goOn(ctx context.Context, x *Execution) error {
	return c.move(ctx, x.ID, Finalizing, Pending, func(x *Execution, data *moved) []Event {
		x.Reason, x.BrakedBy, x.Outcome = "its settings were changed while it ended", "", ""
		x.Attempt++
		data.Reason, data.Attempt = x.Reason, x.Attempt
		return nil
	})
}

// step runs one step and records its result. It returns only errors of the store.
func (c *conductor) step(ctx context.Context, x *Execution, s step) (out Step, err error) {
	out = Step{Name: s.name, State: StepBegun, At: c.now()}
	if err := c.store.SetStep(ctx, x.ID, x.Attempt, out); err != nil {
		return out, err
	}
	tries := stepTries
	if x.Outcome == Failed {
		tries = 1
	}
	var result any
	for try := 0; try < tries; try++ {
		if try > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(c.opt.RetryBase << try):
			}
		}
		if result, err = s.do(ctx, x); err == nil || ctx.Err() != nil || crawl.IsPermanent(err) {
			break
		}
	}
	if ctx.Err() != nil {
		return out, ctx.Err() // the next process does it
	}
	out.State, out.At = StepDone, c.now()
	if err != nil {
		out.State, result = StepFailed, map[string]string{"error": err.Error()}
	}
	if out.Result, err = json.Marshal(result); err != nil {
		return out, fmt.Errorf("result of step %s: %w", s.name, err)
	}
	return out, c.store.SetStep(ctx, x.ID, x.Attempt, out)
}

func failureOf(s Step) string {
	var f struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(s.Result, &f) // written above
	return f.Error
}

// conclude brings an execution to its last state.
func (c *conductor) conclude(ctx context.Context, x *Execution, done map[string]Step, lost []string) error {
	stats, errStats := resultOf[Stats](done["stats"])
	audit, errAudit := resultOf[AuditSummary](done["audit"])
	if err := errors.Join(errStats, errAudit); err != nil {
		return err
	}
	if stats != nil && stats.Letters > 0 {
		lost = append(lost, fmt.Sprintf("%d messages were given up (dead letters)", stats.Letters))
	}
	if audit != nil && !audit.OK {
		lost = append(lost, fmt.Sprintf("the audit found %d faults", len(audit.Faults)))
	}
	to, left := x.Outcome, ""
	if stats != nil && stats.Open > 0 {
		left = leftOpen(stats)
		if stats.Bound == "" {
			lost = append(lost, left)
		}
	} else if stats != nil && stats.Pages == 0 {
		left = noPage(stats)
	}
	if to == Succeeded && len(lost) > 0 {
		to = Partial
	}
	return c.moveIf(ctx, x.ID, Finalizing, to, unrevisedSince(x.Epoch), func(x *Execution, data *moved) []Event {
		x.Stats, x.Audit, x.Outcome = stats, audit, ""
		switch to {
		case Partial:
			x.Reason = strings.Join(lost, "; ")
		case Succeeded:
			x.Reason = left
		}
		if stats != nil {
			if stats.DurationS == 0 && !x.Started.IsZero() {
				stats.DurationS = c.now().Sub(x.Started).Seconds()
			}
			data.Pages, data.Letters = stats.Pages, stats.Letters
		}
		if audit != nil {
			data.Faults = len(audit.Faults)
		}
		data.Reason = x.Reason
		return nil
	})
}

// unrevisedSince is true of an execution that has still the revision. One that has another is finalized again, or goes
// on.
func unrevisedSince(epoch uint32) func(*Execution) bool {
	return func(x *Execution) bool { return x.Epoch == epoch }
}

// leftOpen says why URLs have no outcome, and what to do.
func leftOpen(s *Stats) string {
	if s.Bound != "" {
		return fmt.Sprintf("%s is met: %d URLs are left; give it more and resume to fetch them", s.Bound, s.Open)
	}
	return fmt.Sprintf("%d URLs are open though no budget is spent: resume to fetch them, or look at its dead letters",
		s.Open)
}

// noPage says what became of the URLs of an execution that fetched no page.
func noPage(s *Stats) string {
	var parts []string
	for _, verdict := range slices.Sorted(maps.Keys(s.Verdicts)) {
		if n := s.Verdicts[verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", verdict, n))
		}
	}
	return strings.TrimSuffix("no page was fetched; of its URLs: "+strings.Join(parts, ", "), "; of its URLs: ")
}

// resultOf is the result of a step that was done; nil otherwise.
func resultOf[T any](s Step) (*T, error) {
	if s.State != StepDone {
		return nil, nil
	}
	var out *T
	if err := json.Unmarshal(s.Result, &out); err != nil {
		return nil, fmt.Errorf("result of step %s: %w", s.Name, err)
	}
	return out, nil
}

// then starts the workflow that follows, once.
func (c *conductor) then(ctx context.Context, x *Execution) (any, error) {
	job, err := c.jobOf(ctx, x)
	if err != nil || job.Lifecycle.Then == "" {
		return nil, err
	}
	once := fmt.Sprintf("then %s %d", x.ID, x.Attempt)
	next, err := c.start(WithAccount(ctx, x.Account), conductorName, job.Lifecycle.Then, Overrides{}, Cause{Kind: "then",
		By: string(x.ID)}, once)
	var over *OverQuota
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) || errors.As(err, &over) {
		err = crawl.Permanent(fmt.Errorf("lifecycle.then: workflow %s: %w", job.Lifecycle.Then, err))
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"execution": next.ID}, nil
}
