package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// clusterFlag adds the flag that turns a command from a directory to a cluster: its value is the configuration of a node's programs,
// or empty where the variables, or the usual file, say it all.
func clusterFlag(cmd *cobra.Command) *clusterRef {
	ref := &clusterRef{}
	cmd.Flags().StringVar(&ref.file, "cluster", "", "ask the cluster that this node configuration `file` names (without =FILE: "+
		"WHIRLPOOL_* variables, WHIRLPOOL_CONFIG or "+process.DefaultFile+")")
	cmd.Flags().Lookup("cluster").NoOptDefVal = clusterFromEnvironment
	ref.cmd = cmd
	return ref
}

// clusterFromEnvironment stands for --cluster without a value.
const clusterFromEnvironment = "environment"

type clusterRef struct {
	cmd  *cobra.Command
	file string
}

// asked reports whether the command is about a cluster.
func (r *clusterRef) asked() bool { return r.cmd.Flags().Changed("cluster") }

// cluster is what commands reach a cluster through.
type cluster struct {
	cfg      *process.Config
	postgres *postgres.Store
	mongo    *mongo.Store
	bus      *rabbit.Bus
	nodes    nodes // the brokers of other nodes
}

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

// open connects to the cluster's services. It fails where one cannot be reached: a command does not wait.
func (r *clusterRef) open(ctx context.Context) (_ *cluster, err error) {
	cfg, err := r.config()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(r.cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
	c := &cluster{cfg: cfg, nodes: nodes{log: log}}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	pg := node.PostgresConfig(cfg)
	pg.Name, pg.Log, pg.MaxConns = "whirlpool", log, max(pg.MaxConns, 4) // an audit walks through two tables at once
	if c.postgres, err = postgres.Open(ctx, pg); err != nil {
		return nil, err
	}
	mg := node.MongoConfig(cfg)
	mg.Log = log
	if c.mongo, err = mongo.Open(ctx, mg); err != nil {
		return nil, err
	}
	rb := node.RabbitConfig(cfg)
	rb.Program, rb.Log = "whirlpool", log
	c.bus, err = rabbit.Open(rb)
	return c, err
}

func (c *cluster) close() {
	errs := []error{c.nodes.close()}
	if c.bus != nil {
		errs = append(errs, c.bus.Close())
	}
	if c.mongo != nil {
		errs = append(errs, c.mongo.Close())
	}
	if c.postgres != nil {
		c.postgres.Close()
	}
	if err := errors.Join(errs...); err != nil {
		slog.Warn("the connections to the cluster did not end well", "error", err)
	}
}
