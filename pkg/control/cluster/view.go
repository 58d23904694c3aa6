package cluster

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
)

// Job is a job of a cluster in use.
type Job struct {
	*report.ClusterJob
	Cluster *Cluster
}

// Job reaches a job; the only one, where id is empty.
func (c *Cluster) Job(ctx context.Context, id crawl.JobID) (*Job, error) {
	view, err := c.View()
	if err != nil {
		return nil, err
	}
	j, err := view.Job(ctx, id)
	if errors.Is(err, report.ErrWhichJob) {
		return nil, &control.Misuse{Err: err}
	}
	if err != nil {
		return nil, err
	}
	return &Job{ClusterJob: j, Cluster: c}, nil
}

// View is the cluster for inspection.
func (c *Cluster) View() (*report.Cluster, error) {
	db := c.Postgres
	var ring func(context.Context) (*report.Ring, error) // nil: a node on its own
	var following report.Following = db.Followed()
	if len(c.Config.ZooKeeper.Addresses) > 0 {
		ring, following = c.readRing, db.Following()
	}
	return report.NewCluster(report.ClusterSources{Name: c.name(), Jobs: db.Jobs(), Revisions: db.Jobs(),
		Templates: db.RenderStats(),
		Left:      db.URLs(), Ledger: db.URLs(), Fingerprints: db.ContentSet(), Hosts: db.Hosts(), Robots: db.Hosts(),
		Attempts: db.AttemptLog(), Broker: c.Bus, Ring: ring, Following: following, Unkept: db.Unkept(),
		Spending: db.Spending(), Looks: db.QueueLooks(), Revisits: db.Revisits(),
		Records: func(id crawl.JobID) report.Records { return c.Mongo.Job(id) }, Lately: c.Lately})
}

var (
	_ report.Broker  = (*rabbit.Bus)(nil)
	_ report.Records = (*mongo.Job)(nil)
)

// name says which cluster it is: where its broker and its database are, without passwords.
func (c *Cluster) name() string {
	place := func(raw string) string {
		u, err := url.Parse(raw)
		if err != nil {
			return "?"
		}
		return net.JoinHostPort(u.Hostname(), u.Port()) + strings.TrimRight(u.Path, "/")
	}
	return "rabbitmq " + place(c.Config.RabbitMQ.URL.Reveal()) + ", postgres " + place(c.Config.Postgres.URL.Reveal())
}
