package main

import (
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
)

// tryOn says on which server a URL is tried, and with whose definition.
type tryOn struct {
	*serverRef
	workflow, job string
}

func addTryOn(cmd *cobra.Command) *tryOn {
	t := &tryOn{serverRef: serverFlags(cmd)}
	cmd.Flags().StringVar(&t.workflow, "workflow", "", "`id` or slug of a workflow of the server, whose definition it is")
	cmd.Flags().StringVar(&t.job, "job", "", "`id` of an execution of the server, whose definition and stores it is")
	return t
}

// asked reports whether it is about a server.
func (t *tryOn) asked() bool { return t.serverRef.asked() || t.workflow != "" || t.job != "" }

// notThere are flags of a trial on this machine.
var notThere = []string{"dns", "allow-private", "open"}

// run has the server try the URL. Where a workflow or an execution is named, it is with its definition, but for a job
// file.
func (t *tryOn) run(cmd *cobra.Command, opt *tryout.Options) (*trial.Trial, error) {
	for _, name := range notThere {
		if cmd.Flags().Changed(name) {
			return nil, usage("--%s is for a trial on this machine: the server has its own", name)
		}
	}
	given := cmd.Flags().Changed("config")
	if given && t.workflow != "" {
		return nil, usage("-c and --workflow both give a definition: give one of them")
	}
	in := api.DryRun{URL: opt.URL, Depth: opt.Depth, Workflow: t.workflow, Execution: t.job}
	if given || t.workflow == "" && t.job == "" {
		source, err := jobfile.Marshal(opt.Job)
		if err != nil {
			return nil, err
		}
		in.Source = string(source)
	}
	if opt.Given != nil {
		if !utf8.Valid(opt.Given.Body) {
			return nil, usage("--body: a server takes pages in UTF-8 only; without --server others are tried, too")
		}
		in.Body, in.ContentType = string(opt.Given.Body), opt.Given.ContentType
	}
	c, err := t.open()
	if err != nil {
		return nil, err
	}
	out, err := c.DryRun(cmd.Context(), in)
	if err != nil {
		return nil, err
	}
	return &out.Trial, nil
}
