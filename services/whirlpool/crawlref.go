package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
)

// crawlRef is what a command is about: the crawl in a directory, a job of a cluster, or an execution of a server.
type crawlRef struct {
	out     string // the directory; empty: the only one at hand
	cluster *clusterRef
	server  *serverRef
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
	r := &crawlRef{cluster: clusterFlag(cmd), server: serverFlags(cmd)}
	dirFlag(cmd, &r.out)
	cmd.Flags().StringVar(&r.job, "job", "",
		"`id` of the cluster's job, or of the server's execution (default: the only one)")
	return r
}

// clusterOnly declares the flag of a command that is about a cluster; missing says so where none is named.
func clusterOnly(cmd *cobra.Command, missing string) *crawlRef {
	return &crawlRef{cluster: clusterFlag(cmd), server: serverFlags(cmd), only: missing}
}

// check refuses flags that do not go together.
func (r *crawlRef) check() error {
	switch {
	case r.server.asked() && (r.cluster.asked() || r.out != ""):
		return usage("--server and --context name a server, --cluster a cluster, and -o a crawl's directory: give one of " +
			"them")
	case r.server.asked():
	case r.only != "" && !r.cluster.asked():
		return usage("%s", r.only)
	case r.cluster.asked() && r.out != "":
		return usage("-o names a crawl's directory and --cluster a cluster: give one of them")
	case r.only == "" && !r.cluster.asked() && r.job != "":
		return usage("--job names a job of a cluster or an execution of a server: say which with --cluster, " +
			"--cluster=node.yml or --server")
	}
	return nil
}

// choose calls one function for a crawl's directory and another for a cluster. It is the only place that distinguishes
// them.
func (r *crawlRef) choose(ctx context.Context, dir func() error, over func(*cluster.Cluster) error) error {
	if err := r.check(); err != nil {
		return err
	}
	if r.server.asked() {
		return usage("this works on a crawl's directory or a cluster, and not on a server")
	}
	if !r.cluster.asked() {
		return dir()
	}
	c, err := r.cluster.open(ctx)
	if err != nil {
		return err
	}
	defer shut(c)
	return over(c)
}

// serve makes a command of what is done with jobs, by whichever service.
func (r *crawlRef) serve(do func(*cobra.Command, []string, control.Service) error) command {
	return r.orServer(onRemote(do), failing(func(cmd *cobra.Command, args []string) error {
		return r.choose(cmd.Context(), func() error { return do(cmd, args, directory.New(r.out)) },
			func(c *cluster.Cluster) error { return do(cmd, args, c) })
	}))
}
