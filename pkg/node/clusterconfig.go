package node

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// PostgresConfig translates the settings of a node's programs for the adapter, as MongoConfig and RabbitConfig do.
func PostgresConfig(cfg *process.Config) postgres.Config {
	out := postgres.Default()
	out.URL, out.MaxConns = cfg.Postgres.Address().Reveal(), cfg.Postgres.Connections
	for _, u := range cfg.Postgres.Ledger {
		out.Ledger = append(out.Ledger, u.With("", cfg.Postgres.Password).Reveal())
	}
	return out
}

// MongoConfig is described at PostgresConfig.
func MongoConfig(cfg *process.Config) mongo.Config {
	out := mongo.Default()
	out.URL, out.Database = cfg.MongoDB.Address().Reveal(), cfg.MongoDB.Database
	return out
}

// RabbitConfig is described at PostgresConfig.
func RabbitConfig(cfg *process.Config) rabbit.Config {
	out, r := rabbit.Default(), cfg.RabbitMQ
	out.Subsystems = r.Address(r.Subsystems).Reveal()
	out.Frontier = r.Address(r.Frontier).Reveal()
	out.Management = r.Management.Address().Reveal()
	return out
}

// FetchConfig translates the settings of requests.
func FetchConfig(cfg *process.Config) fetcher.Config {
	out := fetcher.Default()
	out.AllowPrivate, out.PrivateJobs = cfg.Fetch.AllowPrivate, cfg.Fetch.PrivateJobs
	out.MaxIdleConns = process.FitFiles(cfg.Fetch.IdleConnections, system.OpenFiles())
	out.Proxy = cfg.Fetch.Proxy.Reveal()
	return out
}

// backQueues is how many back queues the frontier may use at once. Each takes 85 KB of the broker's memory with three
// tasks in it (RabbitMQ 3.10) and 250 with fifteen, two of its files, and some 15 ms of CPU time when it is made. With
// a thousand, a broker of 600 MB had a memory alarm, and a crawl of 6,000 hosts stood still.
const backQueues = 500

// config translates the settings for the stages.
func (c *cluster) config() Config {
	in, out := c.p.Config, Default()
	out.Frontier.Window, out.Frontier.MaxActive, out.Frontier.MaxHeld = in.Frontier.Window, in.Frontier.ActiveHosts,
		in.Frontier.HeldTasks
	out.Frontier.MaxBack = backQueues
	out.Frontier.ShareAddresses = in.Fetch.Proxy == ""
	out.Frontier.Calendar = c.calendar
	out.Fetch = FetchConfig(in)
	files := system.OpenFiles()
	for _, r := range Roles() {
		out.Workers[r] = bus.Workers{Min: 1, Max: in.Workers.Of(string(r))}
		out.Limits[r] = in.Handlers.Of(string(r)).D()
	}
	out.Workers[Fetcher] = bus.Workers{Min: 1, Max: process.FitFiles(in.Fetch.Concurrency, files)}
	if c.capacity != nil {
		for r, w := range out.Workers {
			out.Workers[r] = c.capacity.of(r, w)
		}
		return out
	}
	if fetches := out.Workers[Fetcher].Max; c.plays(Fetcher) && c.plays(Frontier) && fetches < out.Frontier.Window {
		c.p.Log.Warn("fewer requests at once than leases: silent hosts may hold all of them; make fetch.concurrency as "+
			"large as frontier.window",
			"fetch.concurrency", fetches, "frontier.window", out.Frontier.Window)
	}
	return out
}
