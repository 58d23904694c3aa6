package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// clusterFlag adds the flag that applies a command to a cluster instead of a directory. Its value is the configuration
// file of a node's programs, or empty to take it from the environment or the usual file.
func clusterFlag(cmd *cobra.Command) *clusterRef {
	ref := &clusterRef{}
	cmd.Flags().StringVar(&ref.file, "cluster", "",
		"ask the cluster that this node configuration `file` names (without =FILE: "+
			"WHIRLPOOL_* variables, WHIRLPOOL_CONFIG or "+process.DefaultFile+")")
	cmd.Flags().Lookup("cluster").NoOptDefVal = clusterFromEnvironment
	ref.cmd = cmd
	return ref
}

// clusterFromEnvironment stands for --cluster without a value.
const clusterFromEnvironment = "environment"

// detachedFile is the misuse "--cluster node.yml": a flag that may stand alone takes its value with = only, so the file
// would be an argument of the command, which seeds it as a URL or exports over it.
func detachedFile(args []string) error {
	for i, a := range args {
		if a == "--" {
			break
		}
		if a != "--cluster" || i+1 == len(args) {
			continue
		}
		switch file := args[i+1]; strings.ToLower(filepath.Ext(file)) {
		case ".yml", ".yaml":
			if !strings.Contains(file, "://") {
				return usage("--cluster takes its file with =: --cluster=%s", file)
			}
		}
	}
	return nil
}

type clusterRef struct {
	cmd  *cobra.Command
	file string
}

// asked reports whether the command is about a cluster.
func (r *clusterRef) asked() bool { return r.cmd.Flags().Changed("cluster") }

// config reads the configuration of the node's programs.
func (r *clusterRef) config() (*process.Config, error) {
	file := r.file
	if file == clusterFromEnvironment {
		file = ""
	}
	cfg, err := process.Load(file, os.Environ())
	if err != nil {
		return nil, exitStatus{exitUsage, err}
	}
	return cfg, nil
}

// open connects to the cluster's services.
func (r *clusterRef) open(ctx context.Context) (*cluster.Cluster, error) {
	cfg, err := r.config()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(r.cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
	return cluster.Open(ctx, cfg, log)
}

// shut ends the connections. What was asked for is done: an error is only told.
func shut(c *cluster.Cluster) {
	if err := c.Close(); err != nil {
		slog.Warn("the connections to the cluster did not end well", "error", err)
	}
}
