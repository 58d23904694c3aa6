package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
)

// crawlRef is what a command is about: the crawl in a directory, or a job of a cluster.
type crawlRef struct {
	out     string // the directory; empty: the only one at hand
	cluster *clusterRef
	job     string // empty: the only one
	only    string // what to say where no cluster is named; empty: a directory will do
}

// dirFlag declares the flag that names a crawl's directory.
func dirFlag(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVarP(out, "out", "o", "", "directory of the crawl (default: the only crawl-* directory here)")
	_ = cmd.MarkFlagDirname("out") // it was declared a line above
}

// refFlags declares the flags that say what a command is about.
func refFlags(cmd *cobra.Command) *crawlRef {
	r := &crawlRef{cluster: clusterFlag(cmd)}
	dirFlag(cmd, &r.out)
	cmd.Flags().StringVar(&r.job, "job", "", "`id` of the cluster's job (default: the only one)")
	return r
}

// clusterOnly declares the flag of a command that is about a cluster; missing says so where none is named.
func clusterOnly(cmd *cobra.Command, missing string) *crawlRef {
	return &crawlRef{cluster: clusterFlag(cmd), only: missing}
}

// check refuses flags that do not go together.
func (r *crawlRef) check() error {
	switch {
	case r.only != "" && !r.cluster.asked():
		return usage("%s", r.only)
	case r.cluster.asked() && r.out != "":
		return usage("-o names a crawl's directory and --cluster a cluster: give one of them")
	case r.only == "" && !r.cluster.asked() && r.job != "":
		return usage("--job names a job of a cluster: say which with --cluster or --cluster=node.yml")
	}
	return nil
}

// service reaches what the command is about. Here, and nowhere else, it is chosen who does what is done with jobs.
func (r *crawlRef) service(ctx context.Context) (control.Service, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.cluster.asked() {
		return r.cluster.open(ctx)
	}
	return directory.New(r.out), nil
}

// serve makes a command of what is done with a service.
func (r *crawlRef) serve(do func(*cobra.Command, []string, control.Service) error) func(*cobra.Command, []string) error {
	return failing(func(cmd *cobra.Command, args []string) error {
		s, err := r.service(cmd.Context())
		if err != nil {
			return err
		}
		defer func() {
			if err := s.Close(); err != nil { // what was asked for is done
				slog.Warn("the connections to the cluster did not end well", "error", err)
			}
		}()
		return do(cmd, args, s)
	})
}
