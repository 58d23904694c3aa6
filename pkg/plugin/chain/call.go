package chain

import (
	"context"
	"encoding/json"
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

// waits is how long a call may wait, for a processor or for what it asks, beside the CPU time of its limit.
const waits = 2 * time.Second

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
	timed, cancel := context.WithTimeout(ctx, limit+waits)
	defer cancel()
	own := n.trim(call)
	own.CPU = limit
	a, err = n.inst.Handle(timed, own)
	switch {
	case err != nil && timed.Err() != nil && ctx.Err() == nil && !errors.Is(err, plugin.ErrTimeout):
		return nil, fmt.Errorf("%w of %s, or %s by the clock: %w", plugin.ErrTimeout, limit, limit+waits, err)
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
	// Before and After are the message as JSON.
	Before, After json.RawMessage
}

type observerKey struct{}

// Observe returns a context in which f hears of each node's step.
func Observe(ctx context.Context, f func(Step)) context.Context {
	return context.WithValue(ctx, observerKey{}, f)
}

// observe tells what became of a message, which was before.
func observe(ctx context.Context, s Step, before json.RawMessage, m plugin.Message) {
	if f, ok := ctx.Value(observerKey{}).(func(Step)); ok {
		s.Before, s.After = before, snapshot(ctx, m)
		f(s)
	}
}

// snapshot is a message as JSON, where somebody observes; else it costs nothing.
func snapshot(ctx context.Context, m plugin.Message) json.RawMessage {
	if ctx.Value(observerKey{}) == nil {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil // a value that JSON has not: nothing is told of it
	}
	return text
}
