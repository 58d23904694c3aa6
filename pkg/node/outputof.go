package node

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"time"

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

// Tests change these.
var (
	// outputPart is how many bytes of records a part of an output that cannot grow is made of; 0: the usual.
	outputPart int64
	outputAge  time.Duration // after which a part is whole that is not full; 0: the usual
)

// outputOf is what a node at output writes, for a crawl in a directory. It opens nothing.
func outputOf(job *crawl.Job, n *crawl.PluginNode, dir string) (o deliver.Output, want *builtin.Written, err error) {
	if want, err = builtin.WrittenOf(n); err != nil {
		return o, nil, err
	}
	o = deliver.Output{Note: "output " + string(job.ID) + " " + n.ID, Dir: filepath.Join(dir, OutputsDir), File: want.File,
		PartBytes: outputPart, PartAge: outputAge,
		Options: export.Options{Format: export.JSONL, Columns: want.Columns, RawText: want.RawText}}
	if want.File != "" {
		o.Options.Format = export.FormatOf(want.File)
	}
	if want.Originals {
		o.Options.Keep = export.Originals
	}
	if want.Packs() {
		o.Make = noPackage
		if len(want.Columns) > 0 || n.When != "" || want.Originals {
			return o, want, faultAt("file", "%q: a package has the whole archive: leave out columns, originals and when",
				want.File)
		}
	}
	if err := deliver.Check(&o); err != nil {
		return o, want, faultAt("columns", "%v", err)
	}
	if n.When != "" {
		when, err := expr.Condition(n.At, n.When)
		if err != nil {
			return o, want, faultAt("when", "%v", err)
		}
		o.When = func(r *crawl.Record) (bool, error) {
			return when.Bool(&plugin.Delivery{Job: string(job.ID), Record: hooks.RecordOf(r)})
		}
	}
	o.Settings, err = settingsOf(want, n.When)
	return o, want, err
}

// settingsOf is what makes the rows and says where they go: where it changes, all are delivered again. How they go does
// not count: credentials, sizes.
func settingsOf(want *builtin.Written, when string) (string, error) {
	if !want.Leaves() && !want.Packs() {
		text, err := json.Marshal([]any{fileSettings{want.File, want.Columns, want.Originals, want.RawText}, when})
		return string(text), err
	}
	text, err := json.Marshal([]any{want.Where(), fileSettings{want.File, want.Columns, want.Originals, want.RawText},
		when})
	return string(text), err
}

// fileSettings are those of a file of rows. Their names are part of notes.
type fileSettings struct {
	File      string
	Columns   []string
	Originals bool
	RawText   bool
}

// noPackage stands for what makes a package while an output is only looked at.
func noPackage(context.Context, string) error { return nil }

// OutputsOf is what the nodes at output of a job ask for, for who writes the records of a crawl as a whole.
func OutputsOf(job *crawl.Job) (all []WantedOutput, err error) {
	for i := range job.Pipeline.Nodes {
		n := &job.Pipeline.Nodes[i]
		if n.At != crawl.AtOutput {
			continue
		}
		o, want, err := outputOf(job, n, "")
		if err != nil {
			return nil, nodeFault(i, n, err)
		}
		all = append(all, WantedOutput{Output: o, want: want, node: n.ID})
	}
	return all, nil
}

// ownerNote is where the name is noted by which this crawl is known where its outputs go.
func ownerNote(id crawl.JobID) string { return "outputs of " + string(id) }

// owner is that name: made once, and kept with the crawl's state.
func (e *Engine) owner(ctx context.Context, id crawl.JobID) (string, error) {
	value, found, err := e.store.Meta().Get(ctx, ownerNote(id))
	if err != nil || found {
		return string(value), err
	}
	name := rand.Text()
	return name, e.store.Meta().Put(ctx, ownerNote(id), []byte(name))
}
