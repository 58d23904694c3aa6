// Package cluster does with the jobs of a cluster what control.Service promises: through the stores that the nodes
// share, and their brokers.
package cluster

import (
	"context"
	"errors"
	"log/slog"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// Cluster is what a cluster is reached through.
type Cluster struct {
	Config   *process.Config
	Postgres *postgres.Store
	Mongo    *mongo.Store
	Bus      *rabbit.Bus
	// Lately keeps what the brokers said, for who shows it all the time; nil: they are asked each time.
	Lately *report.Pipelines
	nodes  nodes // the brokers of other nodes
}

var _ control.Service = (*Cluster)(nil)

// Open connects to the cluster's services that a node's configuration names. It fails where PostgreSQL cannot be
// reached: nobody waits for it. The brokers and the page store are asked when something is wanted of them: a job can be
// paused while they are away.
func Open(ctx context.Context, cfg *process.Config, log *slog.Logger) (_ *Cluster, err error) {
	c := &Cluster{Config: cfg, nodes: nodes{log: log}}
	defer func() {
		if err != nil {
			_ = c.Close() // the error that is returned says more
		}
	}()
	pg := node.PostgresConfig(cfg)
	pg.Name, pg.Log, pg.MaxConns = "whirlpool", log, max(pg.MaxConns, 4) // an audit walks through two tables at once
	if c.Postgres, err = postgres.Open(ctx, pg); err != nil {
		return nil, err
	}
	mg := node.MongoConfig(cfg)
	mg.Log, mg.Life = log, c.Postgres.Jobs().RecordLife
	if c.Mongo, err = mongo.OpenLater(mg); err != nil {
		return nil, err
	}
	rb := node.RabbitConfig(cfg)
	rb.Program, rb.Log = "whirlpool", log
	c.Bus, err = rabbit.Open(rb)
	return c, err
}

// Close ends the connections.
func (c *Cluster) Close() error {
	errs := []error{c.nodes.close()}
	if c.Bus != nil {
		errs = append(errs, c.Bus.Close())
	}
	if c.Mongo != nil {
		errs = append(errs, c.Mongo.Close())
	}
	if c.Postgres != nil {
		c.Postgres.Close()
	}
	return errors.Join(errs...)
}
