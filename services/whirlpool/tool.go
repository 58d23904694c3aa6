package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc/warctool"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen/simhashtool"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser/parsetool"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots/robotstool"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl/urltool"
)

// newTool groups the tools for one step of the crawler, so that others can test it.
func newTool() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tool",
		Short: "Run one step of the crawler on files or standard input",
		Long: `Each tool runs one step of the crawler on a FILE ("-" is standard input) and prints JSON lines, so that the
step can be tested from outside, or used on its own. url and canon read standard input where no FILE is named; canon
prints plain lines, jobfile and induce a job file, and markdown Markdown. markdown, structured, render and induce take
URLs, too.`,
	}
	cmd.AddCommand(toolRobots(), toolURL(), toolCanon(), toolLinks(), toolText(), toolSimhash(), toolWARC(), toolJobfile(),
		toolMarkdown(), toolStructured(), toolRender(), toolTopic(), toolInduce())
	return cmd
}

// open opens FILE, "-" being standard input.
func open(cmd *cobra.Command, file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return os.Open(file)
}

// overFile makes a command of what turns the lines of a file into others. Without FILE it reads standard input.
func overFile(run func(io.Reader, io.Writer) error) func(*cobra.Command, []string) error {
	return failing(func(cmd *cobra.Command, args []string) error {
		r, err := open(cmd, append(args, "-")[0])
		if err != nil {
			return err
		}
		defer r.Close()
		return run(r, cmd.OutOrStdout())
	})
}

func toolRobots() *cobra.Command {
	return &cobra.Command{
		Use:   "robots FILE USER-AGENT URL",
		Short: "May USER-AGENT fetch URL under the robots.txt FILE (RFC 9309)? Exit status 0: yes, 1: no, 2: bad usage",
		Args:  cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := open(cmd, args[0])
			if err != nil {
				return exitStatus{exitUsage, err}
			}
			defer r.Close()
			allowed, err := robotstool.RunTool(args[0], r, args[1], args[2], cmd.OutOrStdout())
			switch {
			case err != nil:
				return exitStatus{exitUsage, err}
			case !allowed:
				return exitStatus{code: exitFailure}
			}
			return nil
		},
	}
}

func toolURL() *cobra.Command {
	return &cobra.Command{
		Use:     "url [FILE]",
		Short:   `Parse URLs as the WHATWG standard says: lines of {"input","base"} become {"href"} or {"failure":true}`,
		Example: `  echo '{"input":"../b?x#y","base":"http://EXAMPLE.com/a/c"}' | whirlpool tool url`,
		Args:    cobra.MaximumNArgs(1),
		RunE:    overFile(urltool.RunURL),
	}
}

func toolCanon() *cobra.Command {
	return &cobra.Command{
		Use:     "canon [FILE]",
		Short:   "Bring URLs, one a line, into the form under which the crawler knows them",
		Example: `  echo 'HTTP://Example.com:80/a/./b?utm_source=x&q=1#top' | whirlpool tool canon`,
		Args:    cobra.MaximumNArgs(1),
		RunE:    overFile(urltool.RunCanon),
	}
}

func toolLinks() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "links --base URL FILE",
		Short: `List the links of an HTML file as {"url","rel","text"}`,
		Args:  cobra.ExactArgs(1),
	}
	base := cmd.Flags().String("base", "", "`URL` that the file came from")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *base == "" {
			return usage("tool links: --base URL says where the file came from")
		}
		if _, err := weburl.Parse(*base); err != nil {
			return usage("tool links: --base %q: %v", *base, err)
		}
		return failing(func(cmd *cobra.Command, args []string) error {
			return parsetool.RunLinks(*base, args[0], cmd.OutOrStdout())
		})(cmd, args)
	}
	return cmd
}

func toolText() *cobra.Command {
	return &cobra.Command{
		Use:   "text FILE",
		Short: `Extract {"title","text","lang","charset"} of an HTML or text file`,
		Args:  cobra.ExactArgs(1),
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			return parsetool.RunText(args[0], cmd.OutOrStdout())
		}),
	}
}

func toolSimhash() *cobra.Command {
	return &cobra.Command{
		Use:   "simhash FILE...",
		Short: `Fingerprint the main text of files: {"file","simhash","features"}`,
		Args:  cobra.MinimumNArgs(1),
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			return simhashtool.RunSimhash(args, cmd.OutOrStdout())
		}),
	}
}

func toolWARC() *cobra.Command {
	return &cobra.Command{
		Use:   "warc FILE",
		Short: "Validate a WARC file; exit status 1 on a fault",
		Args:  cobra.ExactArgs(1),
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			ok, err := warctool.Run(args[0], cmd.OutOrStdout())
			if err == nil && !ok {
				return exitStatus{exitFailure, fmt.Errorf("%s has faults", args[0])}
			}
			return err
		}),
	}
}
