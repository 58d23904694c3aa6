package crawltest

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/databasetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
)

// Cluster is a set of databases, vhosts and a directory that no test has used before, and what happened there. The
// nodes are the test's.
type Cluster struct {
	T        *testing.T
	Slowness float64 // of the machine
	Dir      string
	Database string // name of the databases, and part of the vhosts' names
	Ledger   string // URL of the database in PostgreSQL
	Settings []string
	Troubles []Trouble

	Postgres *postgres.Store
	Mongo    *mongo.Store
}

// Trouble is a time in which something was killed or away.
type Trouble struct {
	What     string
	From, To time.Time
}

// New makes the databases for a crawl of a web. env are the variables of the services (see [ReadEnv]); settings are
// added to those of the programs.
func New(t *testing.T, env map[string]string, srv *fakeweb.Server, settings ...string) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp(t.ArtifactDir(), "cluster-")
	harness.Check(t, err)
	c := &Cluster{T: t, Slowness: harness.Slowness(t), Dir: dir, Database: "e2e_" + strings.ToLower(rand.Text()[:10])}
	c.Ledger, err = databasetest.Make(t.Context(), env["WHIRLPOOL_TEST_POSTGRES"], c.Database)
	harness.Check(t, err)
	for _, part := range []string{"SUBSYSTEMS", "FRONTIER"} {
		name, variable := strings.ToLower(part)+"_"+c.Database, "WHIRLPOOL_RABBITMQ_"+part
		c.Settings = append(c.Settings, variable+"_VHOST="+name, variable+"_USER="+name, variable+"_PASSWORD="+rand.Text())
	}
	c.Settings = append(c.Settings, "WHIRLPOOL_POSTGRES_URL="+c.Ledger,
		"WHIRLPOOL_MONGODB_URL="+env["WHIRLPOOL_TEST_MONGODB"], "WHIRLPOOL_MONGODB_DATABASE="+c.Database,
		"WHIRLPOOL_MEMCACHED_ADDRESSES="+env["WHIRLPOOL_TEST_MEMCACHED"], "WHIRLPOOL_DISK_LIMIT=0.99",
		"WHIRLPOOL_FETCH_ALLOW_PRIVATE=true", "WHIRLPOOL_FETCH_DNS="+srv.DNSAddr(), "WHIRLPOOL_HTTP_LISTEN=127.0.0.1:0",
		"WHIRLPOOL_PPROF_LISTEN=", "WHIRLPOOL_LOG_FORMAT=json", "WHIRLPOOL_LOG_LIMIT=0")
	c.Settings = append(c.Settings, settings...)
	Forget(t, env["WHIRLPOOL_TEST_MEMCACHED"])
	c.open()
	return c
}

// open connects the test with the services, to see what the nodes leave there.
func (c *Cluster) open() {
	c.T.Helper()
	cfg := c.Config(c.Settings)
	pg, mg := node.PostgresConfig(cfg), node.MongoConfig(cfg)
	pg.Log, mg.Log = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	var err error
	c.Postgres, err = postgres.Open(c.T.Context(), pg)
	harness.Check(c.T, err)
	c.T.Cleanup(c.Postgres.Close)
	mg.Life = c.Postgres.Jobs().RecordLife
	c.Mongo, err = mongo.Open(c.T.Context(), mg)
	harness.Check(c.T, err)
	c.T.Cleanup(func() { _ = c.Mongo.Close() })
}

// Move has the ledger moved while the test has no connection to it. move returns the setting of the new list.
func (c *Cluster) Move(move func() (setting string)) {
	c.T.Helper()
	c.Postgres.Close()
	_ = c.Mongo.Close()
	c.Settings = append(c.Settings, move())
	c.open()
}

// Config is that of programs with an environment.
func (c *Cluster) Config(env []string) *process.Config {
	c.T.Helper()
	cfg, err := process.Load("", env)
	harness.Check(c.T, err)
	return cfg
}

// RabbitConfig is how programs with an environment reach their broker.
func (c *Cluster) RabbitConfig(env []string) rabbit.Config {
	c.T.Helper()
	cfg := node.RabbitConfig(c.Config(env))
	cfg.Program, cfg.Log = "e2e", slog.New(slog.DiscardHandler)
	return cfg
}

// Broker are the variables of programs whose broker is one of the tests' (see [ReadEnv]).
func (c *Cluster) Broker(env map[string]string) []string {
	c.T.Helper()
	amqp, err := url.Parse(env["WHIRLPOOL_TEST_AMQP"])
	harness.Check(c.T, err)
	api, err := url.Parse(env["WHIRLPOOL_TEST_RABBITMQ_API"])
	harness.Check(c.T, err)
	amqp.User, api.User = nil, nil
	return []string{"WHIRLPOOL_RABBITMQ_URL=" + amqp.String(), "WHIRLPOOL_RABBITMQ_MANAGEMENT_URL=" + api.String()}
}

// Teardown removes the vhosts of programs with an environment, by the administrator's API.
func (c *Cluster) Teardown(admin string, env []string) {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := rabbit.Teardown(ctx, admin, c.RabbitConfig(env)); err != nil {
		c.T.Errorf("remove the vhosts: %v", err)
	}
}

// Command runs a command in the cluster's directory, with an environment, and returns what it said.
func (c *Cluster) Command(env []string, exe string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env, cmd.Dir = env, c.Dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Must is Command for one that must succeed.
func (c *Cluster) Must(env []string, exe string, args ...string) string {
	c.T.Helper()
	out, err := c.Command(env, exe, args...)
	if err != nil {
		c.T.Fatalf("%s %s: %v\n%s", filepath.Base(exe), strings.Join(args, " "), err, out)
	}
	return out
}

// During notes the time that act takes as a trouble.
func (c *Cluster) During(what string, act func()) {
	tr := Trouble{What: what, From: time.Now()}
	act()
	tr.To = time.Now()
	c.Troubles = append(c.Troubles, tr)
}

// Ended reports whether the cluster says that a job has ended.
func (c *Cluster) Ended(job crawl.JobID) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	state, err := c.Postgres.Jobs().State(ctx, job)
	return err == nil && state == crawl.JobEnded // an error: the database may be away just now
}

// Results reads what a job left: pages in MongoDB, outcomes in PostgreSQL.
func (c *Cluster) Results(job crawl.JobID) *e2e.Results {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	r := e2e.NewResults()
	harness.Check(c.T, c.Mongo.Job(job).Each(ctx, func(p *crawl.Record) error {
		r.AddPage(p)
		return nil
	}))
	harness.Check(c.T, c.Postgres.URLs().Entries(ctx, job, func(row crawl.LedgerRow) error {
		switch row.State {
		case crawl.StateDone, crawl.StateExcluded:
			r.AddOutcome(row.URL.String(), row.Verdict, row.Status)
		}
		return nil
	}))
	return r
}

// Unsettled lists what the ledger must not say of a job that has ended.
func (c *Cluster) Unsettled(job crawl.JobID) (faults []string) {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	counted, stood, err := c.Postgres.URLs().Recount(ctx, job)
	harness.Check(c.T, err)
	if fmt.Sprint(counted) != fmt.Sprint(stood) {
		faults = append(faults, fmt.Sprintf("the tally says %+v, but there are %+v", stood, counted))
	}
	finished := int64(0)
	for _, n := range counted.Verdicts {
		finished += n
	}
	if finished != counted.Claimed {
		faults = append(faults, fmt.Sprintf("%d URLs were claimed, and %d have an outcome", counted.Claimed, finished))
	}
	if !c.Ended(job) {
		faults = append(faults, "the job's state is not that it has ended")
	}
	return faults
}

// Held lists the queues of a broker that hold messages. Queues of URLs that have their outcomes for the time being do
// not count.
func Held(ctx context.Context, bus *rabbit.Bus) (held []string, err error) {
	depths, err := bus.Depths(ctx)
	for _, d := range depths {
		if d.Ready+d.Unacked > 0 && !harness.Shut(d.Queue) {
			held = append(held, fmt.Sprintf("queue %s holds %d messages, and %d that are being handled", d.Queue, d.Ready,
				d.Unacked))
		}
	}
	return held, err
}

// LogAlarms writes to the test's log what programs wrote to theirs with the level ERROR.
func (c *Cluster) LogAlarms(programs []*harness.Process) {
	for _, p := range programs {
		for message, n := range p.Alarms() {
			c.T.Logf("%d × in the log: %s", n, message)
		}
	}
}

// Swapped are what swaps of the plug-in shop/v left, as node v of the pipeline, which says its version in a field: what
// is wrong with records, and how many there are of each version. Versions are those of the job's revisions.
func (c *Cluster) Swapped(job crawl.JobID, versions ...string) (faults []string, records map[string]int) {
	c.T.Helper()
	records = map[string]int{}
	harness.Check(c.T, c.Mongo.Job(job).Each(c.T.Context(), func(r *crawl.Record) error {
		want := ""
		if epoch := int(crawl.EpochOf(r.Epoch)); epoch <= len(versions) {
			want = versions[epoch-1]
		}
		records[want]++
		if names := []string{"v=shop/v@" + want}; !slices.Equal(r.Plugins, names) || len(r.PluginErrors) > 0 {
			faults = append(faults, fmt.Sprintf("%s, of revision %d, went through %q, and %q failed", r.URL, r.Epoch, r.Plugins,
				r.PluginErrors))
		}
		if said := fmt.Sprint(r.Fields); r.DuplicateOf.IsZero() && said != "[{v "+want+"}]" {
			faults = append(faults, fmt.Sprintf("%s, of revision %d, has the fields %s", r.URL, r.Epoch, said))
		}
		return nil
	}))
	return faults, records
}
