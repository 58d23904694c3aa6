package chain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Config is what a Runner works with. Source, When and Log are needed.
type Config struct {
	Source plugin.Source
	// When compiles the condition of a node.
	When func(at crawl.Point, text string) (Condition, error)
	// Stop pauses a job, and says why, when a node with on_error stop fails; nil: the message only comes again.
	Stop    func(ctx context.Context, job crawl.JobID, why string) error
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
	Now     func() time.Time      // nil: time.Now
}

// Condition is a compiled "when".
type Condition interface {
	Bool(m plugin.Message) (bool, error)
}

// Runner runs the nodes of all jobs of a program. It is safe for concurrent use.
type Runner struct {
	cfg     Config
	metrics *metrics

	mu        sync.Mutex
	compiled  map[key]*compiled
	instances map[instanceKey]*instance
	states    map[stateKey]*state
	used      uint64 // counts uses, for who goes first
	closing   sync.WaitGroup
}

// New returns a runner without any job.
func New(cfg Config) *Runner {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Runner{cfg: cfg, metrics: newMetrics(cfg.Metrics), compiled: map[key]*compiled{},
		instances: map[instanceKey]*instance{}, states: map[stateKey]*state{}}
}

// Result is what the nodes of a point made of a message, besides the changes in it.
type Result struct {
	Drop      string // why it goes no further: crawl.PluginReason of the node; empty: it goes on
	Why       string // the same for people, with the plug-in's own reason
	LinksOnly bool   // at response: its links are followed, and it has no record; Drop and Why say by whom
	Body      []byte // at response: what the body became; nil: it stays
	Plugged   crawl.Plugged
}

// Prepare compiles the job's nodes and lets them go: what takes long, such as a module, the Source keeps. Its errors
// name node and plug-in.
func (r *Runner) Prepare(ctx context.Context, job *crawl.Job) error {
	nodes, err := r.compile(ctx, job)
	for _, n := range nodes {
		r.giveBack(n.inst)
	}
	return err
}

// Run passes a message through the job's nodes at its point. It changes the message. An error says that the message
// has to be handled again.
func (r *Runner) Run(ctx context.Context, job *crawl.Job, call *plugin.Call) (Result, error) {
	var out Result
	if !Runs(job, call.Message.Point()) {
		return out, nil
	}
	c, err := r.acquire(ctx, job)
	if err != nil {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if errors.Is(err, plugin.ErrUnavailable) { // it passes: the message comes again, and nobody has to resume the job
			return out, err
		}
		return out, errors.Join(err, r.stop(ctx, job.ID, err))
	}
	defer r.release(c)
	call = &plugin.Call{Message: call.Message, Body: call.Body, Now: call.Now, ID: call.ID}
	for _, n := range c.nodes {
		if n.spec.At != call.Message.Point() {
			continue
		}
		if err := r.pass(ctx, job, n, call, &out); err != nil {
			return out, err
		}
		if out.Drop != "" && !out.LinksOnly {
			break
		}
	}
	return out, nil
}

// Runs reports whether a job has nodes at a point.
func Runs(job *crawl.Job, at crawl.Point) bool {
	return slices.ContainsFunc(job.Pipeline.Nodes, func(n crawl.PluginNode) bool { return n.At == at })
}

// pass lets one node handle the message.
func (r *Runner) pass(ctx context.Context, job *crawl.Job, n *node, call *plugin.Call, out *Result) error {
	before := snapshot(ctx, call.Message)
	if n.when != nil {
		switch yes, err := n.when.Bool(call.Message); {
		case err != nil:
			err = fmt.Errorf("when: %w", err)
			observe(ctx, Step{Node: n.spec, Err: err}, before, call.Message)
			return r.failed(ctx, job, n, call.Message, err, 0, out)
		case !yes:
			n.state.skipped()
			observe(ctx, Step{Node: n.spec, Skipped: true}, before, call.Message)
			return nil
		}
	}
	if !n.state.try(r.cfg.Now()) {
		return r.follow(ctx, job, n, errTripped, out)
	}
	start := time.Now()
	answer, err := n.handle(ctx, call)
	if err != nil && ctx.Err() != nil {
		n.state.undo()
		return context.Cause(ctx) // the program stops: no fault of the plug-in
	}
	took := time.Since(start)
	if err == nil {
		err = r.apply(job, n, answer, call, out)
	}
	if err != nil {
		observe(ctx, Step{Node: n.spec, Err: err, Took: took}, before, call.Message)
		return r.failed(ctx, job, n, call.Message, err, took, out)
	}
	n.state.succeeded(answer.Action, took)
	r.metrics.observe(n, string(answer.Action), took)
	observe(ctx, Step{Node: n.spec, Answer: answer, Took: took}, before, call.Message)
	return nil
}

// apply does what an answer says.
func (r *Runner) apply(job *crawl.Job, n *node, a *plugin.Answer, call *plugin.Call, out *Result) error {
	switch a.Action {
	case plugin.Pass:
	case plugin.Patch:
		if err := addsFault(n, a.Patch); err != nil {
			return err
		}
		if err := patch(job, n, call, a.Patch, out); err != nil {
			return err
		}
	case plugin.Drop, plugin.LinksOnly:
		if a.Action == plugin.LinksOnly && n.spec.At != crawl.AtResponse {
			return fmt.Errorf("%w: action %q at point %s: say pass, patch or drop", plugin.ErrAnswer, a.Action, n.spec.At)
		}
		out.Drop, out.Why = crawl.PluginReason(n.spec.ID), n.spec.Use
		if a.Reason != "" {
			out.Why += ": " + a.Reason
		}
		out.LinksOnly = a.Action == plugin.LinksOnly
	default:
		return fmt.Errorf("%w: action %q: say pass, patch or drop", plugin.ErrAnswer, a.Action)
	}
	out.Plugged.Plugins = append(out.Plugged.Plugins, n.spec.ID+"="+n.spec.Use)
	for _, line := range a.Log {
		r.cfg.Log.Debug("plug-in: "+line, "job", job.ID, "node", n.spec.ID, "plugin", n.spec.Use)
	}
	return nil
}

// failed notes a failure, and does what on_error says.
func (r *Runner) failed(ctx context.Context, job *crawl.Job, n *node, m plugin.Message, err error,
	took time.Duration, out *Result) error {
	r.metrics.observe(n, "error", took)
	until, first := n.state.failed(r.cfg.Now(), took)
	switch {
	case !until.IsZero():
		r.cfg.Log.Error("a plug-in keeps failing: it is left alone for a while, and on_error holds", "job", job.ID,
			"node", n.spec.ID, "plugin", n.spec.Use, "on_error", n.onError(), "until", until, "error", err)
	case first: // whoever tries a plug-in must not look for it; all of them would drown the log
		r.cfg.Log.Error("a plug-in failed, and on_error holds; further failures are told in the pages' plugin_errors alone",
			"job", job.ID, "node", n.spec.ID, "plugin", n.spec.Use, "on_error", n.onError(), "url", urlOf(m), "error", err)
	default:
		r.cfg.Log.Debug("a plug-in failed", "job", job.ID, "node", n.spec.ID, "plugin", n.spec.Use, "on_error", n.onError(),
			"error", err)
	}
	return r.follow(ctx, job, n, err, out)
}

// urlOf is the URL of the page that a message is about.
func urlOf(m plugin.Message) string {
	switch m := m.(type) {
	case *plugin.Request:
		return m.URL
	case *plugin.Response:
		return m.URL
	case *plugin.Document:
		return m.URL
	case *plugin.Links:
		return m.URL
	case *plugin.Record:
		return m.URL
	}
	return ""
}

var errTripped = errors.New("it failed so often that it is left alone for a while")

// follow does what on_error says.
func (r *Runner) follow(ctx context.Context, job *crawl.Job, n *node, err error, out *Result) error {
	err = fmt.Errorf("pipeline node %s (%s): %w", n.spec.ID, n.spec.Use, err)
	switch n.onError() {
	case crawl.OnErrorRetry:
		return err
	case crawl.OnErrorDrop:
		out.Drop, out.Why, out.LinksOnly = crawl.PluginReason(n.spec.ID), err.Error(), false
		return nil
	case crawl.OnErrorStop:
		return errors.Join(err, r.stop(ctx, job.ID, err))
	}
	out.Plugged.PluginErrors = append(out.Plugged.PluginErrors, n.spec.ID)
	return nil
}

// stop pauses a job.
func (r *Runner) stop(ctx context.Context, job crawl.JobID, why error) error {
	r.cfg.Log.Error("the crawl is paused by its pipeline", "job", job, "error", why)
	if r.cfg.Stop == nil {
		return nil
	}
	return r.cfg.Stop(ctx, job, why.Error())
}
