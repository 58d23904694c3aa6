package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// addRenderFlags declares the flags of a job that are about rendering.
func addRenderFlags(cmd *cobra.Command, job *crawl.Job) {
	fl := cmd.Flags()
	fl.Var(&job.Render.Mode, "render",
		"render pages in a browser besides: never, auto (where a test of a few says that it pays) or always")
	fl.VarPF(&negated{&job.Render.NoScroll}, "render-scroll", "",
		"scroll rendered pages to their end once, for lists that load as one reads").NoOptDefVal = "true"
}

// negated is the flag of a setting that says the contrary.
type negated struct{ of *bool }

// Set implements the flag interface.
func (n *negated) Set(s string) error {
	yes, err := strconv.ParseBool(s)
	*n.of = !yes
	return err
}

// String implements the flag interface.
func (n *negated) String() string { return strconv.FormatBool(n.of == nil || !*n.of) }

// Type implements the flag interface.
func (*negated) Type() string { return "bool" }

// overlayRender copies the flags that were given over a job file's settings.
func overlayRender(cmd *cobra.Command, job, flags *crawl.Job) {
	if cmd.Flags().Changed("render") {
		job.Render.Mode = flags.Render.Mode
	}
	if cmd.Flags().Changed("render-scroll") {
		job.Render.NoScroll = flags.Render.NoScroll
	}
}

// checkBrowser says before a crawl starts that its pages cannot be rendered, where the job wants that: an error where
// it insists.
func checkBrowser(job *crawl.Job, path string, to io.Writer) error {
	if !job.Render.Wanted() {
		return nil
	}
	err := node.CheckBrowser(path)
	switch {
	case err == nil:
		return nil
	case job.Render.Insists():
		return fmt.Errorf("render: always: %w", err)
	}
	_, err = fmt.Fprintf(to, "pages are not rendered: %v\n", err)
	return err
}
