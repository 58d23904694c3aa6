package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// programs lists the programs of a node.
func programs() string {
	names := crawl.StageNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func newNode() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "node [--config FILE] [--print-config]",
		Short: "Run all stages of a cluster node in one process",
		Long: `Node does what the programs ` + programs() + ` do together, over the same
services: RabbitMQ, PostgreSQL, MongoDB and memcached. It reads the same configuration, a file and WHIRLPOOL_*
variables, and waits for services that are not there yet. Jobs come by "whirlpool seed". SIGTERM stops it in order; it
goes on where it stopped.`,
		Example: `  whirlpool node --config node.yml
  whirlpool node --config node.yml --print-config`,
		DisableFlagParsing: true, // the flags are those of every program of a node
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
			return cmd.Help()
		}
		run := func(ctx context.Context, p *process.Program) error { return node.RunCluster(ctx, p) }
		code := process.Run(bus.WholeProgram, args, run)
		if code != exitOK {
			return exitStatus{code: code}
		}
		return nil
	}
	return cmd
}
