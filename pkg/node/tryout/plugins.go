package tryout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/hooks"
)

// errStopped says that a node ended the trial, which tells why.
var errStopped = errors.New("a node of the pipeline ended it")

// plugins runs the job's nodes, and knows what each did. nil: the job has none.
type plugins struct {
	*hooks.Hooks
	runner *chain.Runner
	steps  []chain.Step // that were not told yet
}

// usePlugins makes the job's nodes ready. Where that fails, the job is at fault.
func (r *run) usePlugins(ctx context.Context) (context.Context, error) {
	if r.job.Pipeline.Empty() || r.opt.Plugins == nil {
		return ctx, nil
	}
	runner := r.opt.Plugins(r.log)
	r.plugins = &plugins{Hooks: hooks.New(runner), runner: runner}
	if err := runner.Prepare(ctx, r.job); err != nil {
		if ctx.Err() != nil {
			return ctx, context.Cause(ctx)
		}
		return ctx, crawl.Permanent(err)
	}
	return chain.Observe(ctx, func(s chain.Step) { r.plugins.steps = append(r.plugins.steps, s) }), nil
}

func (r *run) closePlugins() error {
	if r.plugins == nil {
		return nil
	}
	return r.plugins.runner.Close()
}

// at returns the steps of the nodes at a point that were not told yet.
func (r *run) at(point crawl.Point) (out []chain.Step) {
	if r.plugins == nil {
		return nil
	}
	for _, s := range r.plugins.steps {
		if s.Node.At == point {
			out = append(out, s)
		}
	}
	return out
}

// before is the message that came to a point, as far as nodes run there; nil: none do.
func (r *run) before(point crawl.Point) object {
	if steps := r.at(point); len(steps) > 0 {
		return messageOf(steps[0].Before)
	}
	return nil
}

// asParsed takes back what nodes changed after the parser and its rules.
func (r *run) asParsed(out object) object {
	if was := r.before(crawl.AtDocument); was != nil {
		for _, key := range []string{"title", "lang", "text", "noindex", "nofollow"} {
			delete(out, key)
			out = with(out, key, was[key])
		}
	}
	if list, ok := r.before(crawl.AtLinks)["links"].([]any); ok {
		out["links"] = len(list)
	}
	return out
}

// replaced takes the body that nodes put in the place of the answer's: rules read that.
func (r *run) replaced() {
	r.body = r.trial.Body()
	for _, s := range r.at(crawl.AtResponse) {
		if s.Answer == nil {
			continue
		}
		if p, ok := s.Answer.Patch.(*plugin.ResponsePatch); ok && p != nil && p.Body != nil {
			r.body = p.Body
		}
	}
}

// without takes the time of nodes out of a step: they have steps of their own.
func (r *run) without(s *step, points ...crawl.Point) {
	for _, point := range points {
		for _, n := range r.at(point) {
			s.nodes += n.Took
		}
	}
}

// tell adds the steps of the nodes at some points to the trial.
func (r *run) tell(points ...crawl.Point) {
	for _, point := range points {
		for _, s := range r.at(point) {
			r.trial.Steps = append(r.trial.Steps, stepOf(&s))
		}
	}
	if r.plugins == nil {
		return
	}
	rest := r.plugins.steps[:0]
	for _, s := range r.plugins.steps {
		told := false
		for _, point := range points {
			told = told || s.Node.At == point
		}
		if !told {
			rest = append(rest, s)
		}
	}
	r.plugins.steps = rest
}

// ended makes an error of a stage the end of the trial, where a node failed whose failure is not passed over.
func (r *run) ended(err error) error {
	if err == nil || r.plugins == nil || len(r.plugins.steps) == 0 {
		return err
	}
	last := r.plugins.steps[len(r.plugins.steps)-1]
	if last.Err == nil {
		return err
	}
	then := "the page is handled again"
	if last.Node.OnError == crawl.OnErrorStop {
		then = "the execution is paused"
	}
	r.trial.Stopped = fmt.Sprintf("node %s (%s) failed, and on_error says that %s: %v", last.Node.ID, last.Node.Use, then,
		last.Err)
	r.tell(crawl.Points()...)
	return errStopped
}

// stepOf is what a node did.
func stepOf(s *chain.Step) trial.Step {
	out := trial.Step{ID: s.Node.ID, Point: s.Node.At, Use: s.Node.Use, Verdict: trial.OK,
		In: trial.Shown(messageOf(s.Before)), Out: trial.Shown(messageOf(s.After)), Took: s.Took.Microseconds()}
	switch a := s.Answer; {
	case s.Skipped:
		out.Verdict, out.Text = trial.Skipped, "when is not true of it"
	case a == nil:
		out.Verdict, out.Text = trial.Failed, fmt.Sprintf("it failed: %v", s.Err)
	case a.Action == plugin.Drop:
		out.Verdict, out.Text = trial.Stopped, "it dropped it: "+a.Reason
	case a.Action == plugin.LinksOnly:
		out.Verdict, out.Text = trial.Against, "its links are followed, and it has no record: "+a.Reason
	case a.Action == plugin.Patch:
		out.Text = "it changed it"
		if p, ok := a.Patch.(*plugin.ResponsePatch); ok && p.Body != nil {
			out.Text = "it replaced the body"
			out.Out["body_bytes"] = float64(len(p.Body))
		}
	default:
		out.Text = "it let it pass"
	}
	if s.Answer != nil {
		out.Log = boundLines(s.Answer.Log)
	}
	out.Text = boundText(out.Text)
	out.Diff = trial.Compare(out.In, out.Out)
	return out
}

func messageOf(text json.RawMessage) (o object) {
	_ = json.Unmarshal(text, &o) // it was made as JSON
	return o
}

func boundText(s string) string {
	text, _ := trial.Bound(s, trial.MaxShown).(string)
	return text
}

func boundLines(lines []string) (out []string) {
	for _, l := range lines[:min(len(lines), maxLines)] {
		out = append(out, boundText(l))
	}
	return out
}
