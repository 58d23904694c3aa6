package chain

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// firstCall is how many times the limit the first call of a node may take: a tier makes ready then what it can.
const firstCall = 10

// handle makes one call.
func (n *node) handle(ctx context.Context, call *plugin.Call) (a *plugin.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = nil, fmt.Errorf("%w: panic: %v\n%s", plugin.ErrTrap, p, debug.Stack())
		}
	}()
	limit := n.timeout
	if n.state.first() {
		limit *= firstCall
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a, err = n.inst.Handle(timed, n.trim(call))
	switch {
	case err != nil && timed.Err() != nil && ctx.Err() == nil && !errors.Is(err, plugin.ErrTimeout):
		return nil, fmt.Errorf("%w of %s: %w", plugin.ErrTimeout, limit, err)
	case err != nil:
		return nil, err
	case a == nil:
		return nil, fmt.Errorf("%w: there is none", plugin.ErrAnswer)
	}
	return a, nil
}

// trim leaves out what the plug-in does not need.
func (n *node) trim(call *plugin.Call) *plugin.Call {
	out := *call
	if !slices.Contains(n.serves.Needs, plugin.NeedsBody) {
		out.Body = nil
	}
	if slices.Contains(n.serves.Needs, plugin.NeedsText) {
		return &out
	}
	switch m := call.Message.(type) {
	case *plugin.Document:
		small := *m
		small.Text = ""
		out.Message = &small
	case *plugin.Record:
		small := *m
		small.Text = ""
		out.Message = &small
	}
	return &out
}

// Step is what a node did to a message.
type Step struct {
	Node    crawl.PluginNode
	Skipped bool           // "when" was not true
	Answer  *plugin.Answer // nil: it was skipped, or failed
	Err     error
	Took    time.Duration
}

type observerKey struct{}

// Observe returns a context in which f hears of each node's step.
func Observe(ctx context.Context, f func(Step)) context.Context {
	return context.WithValue(ctx, observerKey{}, f)
}

func observe(ctx context.Context, s Step) {
	if f, ok := ctx.Value(observerKey{}).(func(Step)); ok {
		f(s)
	}
}
