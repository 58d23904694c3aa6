package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// onExecution is what a command does with an execution of a server.
type onExecution func(*cobra.Command, []string, *client.Client, crawl.JobID) error

// orServer makes a command do something else where it is about a server.
func (r *crawlRef) orServer(do func(*cobra.Command, []string, *client.Client) error, run command) command {
	return func(cmd *cobra.Command, args []string) error {
		if !r.server.asked() {
			return run(cmd, args)
		}
		if err := r.check(); err != nil {
			return err
		}
		return failing(func(cmd *cobra.Command, args []string) error {
			c, err := r.server.open()
			if err != nil {
				return err
			}
			return do(cmd, args, c)
		})(cmd, args)
	}
}

// overServer is the execution that a command is about, where it is about a server.
func (r *crawlRef) overServer(do onExecution, run command) command {
	return r.orServer(func(cmd *cobra.Command, args []string, c *client.Client) error {
		id, err := remote{c}.theOnly(cmd.Context(), crawl.JobID(r.job))
		if err != nil {
			return err
		}
		return do(cmd, args, c, id)
	}, run)
}

// onRemote is what is done with jobs, by the service of a server.
func onRemote(do func(*cobra.Command, []string, control.Service) error) func(*cobra.Command, []string,
	*client.Client) error {
	return func(cmd *cobra.Command, args []string, c *client.Client) error { return do(cmd, args, remote{c}) }
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// exportServer writes the records of an execution.
func (f *exportFlags) exportServer(cmd *cobra.Command, args []string, c *client.Client, id crawl.JobID) error {
	if f.outputs != "" {
		return usage("--outputs is for --cluster: a server writes outputs while it crawls; download them with the files of " +
			"the execution")
	}
	if f.copies(args) || f.format == formatMarkdown || f.raw {
		return usage("of a server there are CSV, JSON Lines and Parquet; download its files for a mirror or WACZ")
	}
	if err := f.check(args); err != nil {
		return exitStatus{exitUsage, err}
	}
	from, err := c.Export(cmd.Context(), id, f.query(args))
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return copyOut(cmd.OutOrStdout(), from)
	}
	if err := writeFile(args[0], func(w io.Writer) error { return copyOut(w, from) }); err != nil {
		return errors.Join(err, from.Close())
	}
	cmd.PrintErrf("pages of %s written to %s\n", id, args[0])
	return nil
}
