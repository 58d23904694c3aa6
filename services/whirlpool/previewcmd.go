package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
)

func newExecPreview() *cobra.Command {
	cmd := &cobra.Command{Use: "preview EXECUTION",
		Short: "Tell what an edit of an execution would do, and change nothing", Args: cobra.ExactArgs(1),
		Example: "  whirlpool exec preview postings-1 --set 'exclude=[/calendar/]'\n" +
			"  whirlpool exec preview postings-1 -f new.yml"}
	f := addEdit(cmd)
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		id := crawl.JobID(args[0])
		e, err := f.edit(cmd, c, id)
		if err != nil {
			return err
		}
		p, err := c.Preview(cmd.Context(), id, e)
		for told := false; err == nil && p.State == "counting"; p, err = c.PreviewNow(cmd.Context(), id, p.ID) {
			if p.Answer.Sampled > 0 && !told {
				told = true
				cmd.PrintErrf("by a sample of %d URLs:\n", p.Answer.Sampled)
				tellPreview(cmd.ErrOrStderr(), &p.Answer)
			}
			cmd.PrintErrf("%d of about %d URLs judged\n", p.Answer.Looked, p.Answer.Of)
		}
		if err != nil {
			return err
		}
		return printPreview(cmd, *format, p)
	})
}

func printPreview(cmd *cobra.Command, format string, p *api.Preview) error {
	if p.State != "exact" {
		return fmt.Errorf("the preview is %s: %s", p.State, p.Problem)
	}
	return printOne(cmd, format, &p.Answer)
}

func printOne(cmd *cobra.Command, format string, a *preview.Answer) error {
	switch format {
	case "json":
		return printJSON(cmd.OutOrStdout(), a)
	case "text":
		tellPreview(cmd.OutOrStdout(), a)
		return nil
	}
	return usage("--output %q: text or json", format)
}

// newPreview returns the command that previews an edit of the crawl in a directory.
func newPreview() *cobra.Command {
	cmd := &cobra.Command{Use: "preview -o DIR -c FILE",
		Short: "Tell what other settings would do to a crawl, and change nothing", Args: cobra.NoArgs,
		Long: `Preview judges all that a crawl in a directory knows by the settings of a job file: what of the queue would be
dropped, what of the left-out would come back, and what was fetched and stays, by rule and host. Nothing is changed. The
crawl must not run meanwhile.`,
		Example: "  whirlpool preview -o crawl-example.com -c new.yml"}
	dir := cmd.Flags().StringP("out", "o", "", "`directory` of the crawl (default: the only one at hand)")
	file := cmd.Flags().StringP("config", "c", "", "job `file`")
	_ = cmd.MarkFlagRequired("config") // it was declared above
	asJSON := cmd.Flags().Bool("json", false, "print the answer as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		next, err := jobfile.Load(*file)
		if err != nil {
			return exitStatus{exitUsage, err}
		}
		var last *preview.Answer
		err = directory.New(*dir).Preview(cmd.Context(), &next, func(a *preview.Answer) { last = a })
		if err != nil {
			return err
		}
		format := "text"
		if *asJSON {
			format = "json"
		}
		return printOne(cmd, format, last)
	}
	return cmd
}

// tellPreview writes an answer for people.
func tellPreview(w io.Writer, a *preview.Answer) {
	for _, c := range a.Changes {
		fmt.Fprintln(w, c)
	}
	if len(a.Changes) == 0 {
		fmt.Fprintln(w, "nothing changes")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\tURLS\tSTAY\tDROPPED\tCOME BACK\n")
	fmt.Fprintf(t, "queued\t%d\t%d\t%d\t-\n", a.Queued.URLs, a.Queued.Stays.URLs, a.Queued.Drops.URLs)
	fmt.Fprintf(t, "left out\t%d\t%d\t-\t%d\n", a.LeftOut.URLs, a.LeftOut.Stays.URLs, a.LeftOut.Admits.URLs)
	fmt.Fprintf(t, "fetched\t%d\t%d\t%d (kept)\t-\n", a.Fetched.URLs, a.Fetched.Stays.URLs, a.Fetched.Drops.URLs)
	_ = t.Flush()
	tellCell(w, "dropped from the queue", &a.Queued.Drops)
	tellCell(w, "come back, were left out by", &a.LeftOut.Admits)
	tellCell(w, "fetched already, and kept", &a.Fetched.Drops)
	if a.InFlight > 0 {
		fmt.Fprintf(w, "%d in flight are finished by the settings that they have\n", a.InFlight)
	}
	for _, text := range a.Warnings {
		fmt.Fprintln(w, "warning:", text)
	}
}

func tellCell(w io.Writer, what string, c *preview.Cell) {
	if c.URLs == 0 {
		return
	}
	fmt.Fprintln(w, what+":")
	for _, list := range [][]preview.Count{c.Rules, c.Hosts} {
		for _, n := range list {
			fmt.Fprintf(w, "  %d  %s\n", n.URLs, n.Name)
		}
	}
	for _, e := range c.Examples {
		fmt.Fprintf(w, "    %s\n", e.URL)
	}
}
