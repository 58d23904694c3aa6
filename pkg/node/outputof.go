package node

import (
	"encoding/json"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/hooks"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
)

// OutputsDir is where the files of nodes at output lie, in the directory of a crawl.
const OutputsDir = "outputs"

// outputPart is how many bytes of records a part of an output that cannot grow is made of; 0: the usual. Tests change
// it.
var outputPart int64

// outputOf is what a node at output writes, for a crawl in a directory.
func outputOf(job *crawl.Job, n *crawl.PluginNode, dir string) (o deliver.Output, err error) {
	want, err := builtin.WrittenOf(n)
	if err != nil {
		return o, err
	}
	o = deliver.Output{Note: "output " + string(job.ID) + " " + n.ID, Dir: filepath.Join(dir, OutputsDir), File: want.File, PartBytes: outputPart,
		Options: export.Options{Format: export.FormatOf(want.File), Columns: want.Columns, RawText: want.RawText}}
	if want.Originals {
		o.Options.Keep = export.Originals
	}
	if err := deliver.Check(&o); err != nil {
		return o, faultAt("columns", "%v", err)
	}
	if n.When != "" {
		when, err := expr.Condition(n.At, n.When)
		if err != nil {
			return o, faultAt("when", "%v", err)
		}
		o.When = func(r *crawl.Record) (bool, error) {
			return when.Bool(&plugin.Delivery{Job: string(job.ID), Record: hooks.RecordOf(r)})
		}
	}
	text, err := json.Marshal([]any{want, n.When})
	o.Settings = string(text)
	return o, err
}

// OutputsOf is what the nodes at output of a job ask for, for who writes the records of a crawl as a whole.
func OutputsOf(job *crawl.Job) (all []deliver.Output, err error) {
	for i := range job.Pipeline.Nodes {
		n := &job.Pipeline.Nodes[i]
		if n.At != crawl.AtOutput {
			continue
		}
		o, err := outputOf(job, n, "")
		if err != nil {
			return nil, nodeFault(i, n, err)
		}
		all = append(all, o)
	}
	return all, nil
}
