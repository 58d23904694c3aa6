package engine

import (
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Of how many answers the share of a host says something, and how many hosts are told of.
const (
	leastAnswers = 20
	mostHosts    = 20
)

// troubles are what is wrong with parts of a job.
func (e *Engine) troubles(id crawl.JobID) (out []workflow.Trouble) {
	for _, o := range e.Outputs(id) {
		if o.Error != "" {
			out = append(out, workflow.Trouble{Kind: workflow.TroubleUndelivered, Of: o.Node, Value: 1,
				Text: fmt.Sprintf("output %s is not delivered since %s: %s", o.Node, o.Since.UTC().Format(time.TimeOnly), o.Error)})
		}
	}
	for _, f := range e.Figures(id) {
		if f.Tripped.After(time.Now()) {
			out = append(out, workflow.Trouble{Kind: workflow.TroubleTripped, Of: f.Node, Value: 1,
				Text: fmt.Sprintf("plug-in %s of node %s failed so often that it is left alone until %s", f.Use, f.Node,
					f.Tripped.UTC().Format(time.TimeOnly))})
		}
	}
	for _, h := range e.RefusedBy(id, leastAnswers, mostHosts) {
		out = append(out, workflow.Trouble{Kind: workflow.TroubleBlocked, Of: h.Host,
			Value: float64(h.Refused) / float64(h.All),
			Text:  fmt.Sprintf("%d of the last %d answers of %s were 403 or 429", h.Refused, h.All, h.Host)})
	}
	return out
}

// outputs are the outputs of a job as they are stored with its figures.
func (e *Engine) outputs(id crawl.JobID) (out []workflow.Output) {
	for _, o := range e.Outputs(id) {
		out = append(out, workflow.Output{Node: o.Node, Use: o.Use, Where: o.Where, Rows: o.Figures.Rows, Parts: o.Parts,
			Bytes: o.Bytes, SHA256: o.SHA256, Whole: o.Whole, Faults: o.Figures.Faults, Error: o.Error, Since: o.Since})
	}
	return out
}
