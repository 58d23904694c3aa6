package node

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// OutputState is how far an output of a job is.
type OutputState struct {
	Node string
	Use  string
	deliver.Place
	Figures deliver.Figures
	Error   string    // why it cannot be written; empty: it can
	Since   time.Time // when it last could, where it cannot
}

// begin lets a round begin that can be cancelled, unless nothing more comes.
func (o *outputs) begin(cancel context.CancelFunc) bool {
	o.little.Lock()
	defer o.little.Unlock()
	o.cancel = cancel
	return !o.rest
}

// wake has outputs look for records again.
func (o *outputs) wake() {
	o.little.Lock()
	defer o.little.Unlock()
	o.rest = false
}

func (o *outputs) resting() bool {
	o.little.Lock()
	defer o.little.Unlock()
	return o.rest
}

// settle closes the outputs of a job of which nothing more comes. It ends a round that is under way.
func (o *outputs) settle(ctx context.Context) error {
	o.little.Lock()
	o.rest = true
	if o.cancel != nil {
		o.cancel()
	}
	o.little.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.close(ctx, nil)
}

// tell notes how far an output is.
func (o *outputs) tell(n *crawl.PluginNode, out *output, err error) {
	o.little.Lock()
	defer o.little.Unlock()
	if o.states == nil {
		o.states = map[string]OutputState{}
	}
	s := o.states[n.ID]
	s.Node, s.Use = n.ID, n.Use
	if out.file != nil {
		s.Place, s.Figures = out.file.Place(), out.file.Figures()
	}
	switch {
	case err == nil:
		s.Error, s.Since = "", time.Time{}
	case s.Error == "":
		s.Error, s.Since = err.Error(), time.Now()
	default:
		s.Error = err.Error()
	}
	o.states[n.ID] = s
}

// forget leaves out what is told of nodes that are gone.
func (o *outputs) forget(keep map[string]bool) {
	o.little.Lock()
	defer o.little.Unlock()
	maps.DeleteFunc(o.states, func(id string, _ OutputState) bool { return !keep[id] })
}

// told returns how far the outputs are, by their names.
func (o *outputs) told() []OutputState {
	o.little.Lock()
	defer o.little.Unlock()
	return slices.SortedFunc(maps.Values(o.states), func(a, b OutputState) int { return strings.Compare(a.Node, b.Node) })
}

// Outputs returns how far the outputs of a job are, by the names of their nodes: as this process knows it.
func (e *Engine) Outputs(id crawl.JobID) []OutputState {
	if j := e.job(id); j != nil {
		return j.outs.told()
	}
	return nil
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
	for _, s := range j.outs.told() {
		f := of(s.Node, crawl.AtOutput)
		f.Calls, f.Skipped, f.Errors = s.Figures.Rows, s.Figures.Skipped, s.Figures.Faults
	}
	return out
}
