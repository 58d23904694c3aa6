package cluster_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// cluster is a node of programs with vhosts, databases and a spool that no test before it has used.
type cluster struct {
	t        *testing.T
	slowness float64 // of the machine
	services *services
	dir      string
	env      []string // of the programs
	job      *crawl.Job
	programs []*harness.Process

	postgres *postgres.Store
	mongo    *mongo.Store
	bus      *rabbit.Bus
	troubles []trouble
}

// trouble is a time in which something was killed or away.
type trouble struct {
	what     string
	from, to time.Time
}

// newCluster prepares the services for a crawl of a web. Settings are added to the programs' environment.
func newCluster(t *testing.T, srv *fakeweb.Server, job *crawl.Job, settings ...string) *cluster {
	t.Helper()
	s := ready(t)
	dir, err := os.MkdirTemp(t.ArtifactDir(), "cluster-")
	check(t, err)
	c := &cluster{t: t, slowness: harness.Slowness(t), services: s, dir: dir, job: job, env: os.Environ()}
	database := "e2e_" + strings.ToLower(rand.Text()[:10])
	pg, err := url.Parse(s.env["WHIRLPOOL_TEST_POSTGRES"])
	check(t, err)
	c.makeDatabase(pg.String(), database)
	pg.Path = "/" + database
	amqp, err := url.Parse(s.env["WHIRLPOOL_TEST_AMQP"])
	check(t, err)
	api, err := url.Parse(s.env["WHIRLPOOL_TEST_RABBITMQ_API"])
	check(t, err)
	amqp.User, api.User = nil, nil
	for _, part := range []string{"SUBSYSTEMS", "FRONTIER"} {
		name, variable := strings.ToLower(part)+"_"+database, "WHIRLPOOL_RABBITMQ_"+part
		c.env = append(c.env, variable+"_VHOST="+name, variable+"_USER="+name, variable+"_PASSWORD="+rand.Text())
	}
	c.env = append(c.env, "WHIRLPOOL_NODE=e2e", "WHIRLPOOL_RABBITMQ_URL="+amqp.String(), "WHIRLPOOL_RABBITMQ_MANAGEMENT_URL="+api.String(),
		"WHIRLPOOL_POSTGRES_URL="+pg.String(), "WHIRLPOOL_MONGODB_URL="+s.env["WHIRLPOOL_TEST_MONGODB"], "WHIRLPOOL_MONGODB_DATABASE="+database,
		"WHIRLPOOL_MEMCACHED_ADDRESSES="+s.env["WHIRLPOOL_TEST_MEMCACHED"], "WHIRLPOOL_DISK_SPOOL="+filepath.Join(dir, "spool"),
		"WHIRLPOOL_DISK_LIMIT=0.99", "WHIRLPOOL_FETCH_ALLOW_PRIVATE=true", "WHIRLPOOL_FETCH_DNS="+srv.DNSAddr(),
		"WHIRLPOOL_HTTP_LISTEN=127.0.0.1:0", "WHIRLPOOL_PPROF_LISTEN=", "WHIRLPOOL_LOG_FORMAT=json", "WHIRLPOOL_LOG_LIMIT=0")
	c.env = append(c.env, settings...)
	s.forget(t)
	c.setup()
	c.open()
	return c
}

// makeDatabase makes a database of PostgreSQL, which goes with the services.
func (c *cluster) makeDatabase(server, name string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	check(c.t, err)
	_, err = conn.Exec(ctx, "CREATE DATABASE "+name)
	check(c.t, errors.Join(err, conn.Close(ctx)))
}

// setup makes the broker's vhosts, until the test ends.
func (c *cluster) setup() {
	c.t.Helper()
	admin := c.services.env["WHIRLPOOL_TEST_RABBITMQ_API"]
	c.whirlpool("setup", "--broker-admin", admin, "--cluster")
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := rabbit.Teardown(ctx, admin, c.rabbitConfig()); err != nil {
			c.t.Errorf("remove the vhosts: %v", err)
		}
	})
}

func (c *cluster) config() *process.Config {
	c.t.Helper()
	cfg, err := process.Load("", c.env)
	check(c.t, err)
	return cfg
}

func (c *cluster) rabbitConfig() rabbit.Config {
	cfg := node.RabbitConfig(c.config())
	cfg.Program, cfg.Log = "e2e", slog.New(slog.DiscardHandler)
	return cfg
}

// open connects the test with the services, to see what the programs leave there.
func (c *cluster) open() {
	c.t.Helper()
	pg, mg := node.PostgresConfig(c.config()), node.MongoConfig(c.config())
	pg.Log, mg.Log = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	var err error
	c.postgres, err = postgres.Open(c.t.Context(), pg)
	check(c.t, err)
	c.t.Cleanup(c.postgres.Close)
	c.mongo, err = mongo.Open(c.t.Context(), mg)
	check(c.t, err)
	c.t.Cleanup(func() { _ = c.mongo.Close() })
	c.bus, err = rabbit.Open(c.rabbitConfig())
	check(c.t, err)
	c.t.Cleanup(func() { _ = c.bus.Close() })
}

// whirlpool runs a command of the real program against the cluster.
func (c *cluster) whirlpool(args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "whirlpool"), args...)
	cmd.Env, cmd.Dir = c.env, c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("whirlpool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// exitCode runs a command of the real program, and returns its exit status and what it said.
func (c *cluster) exitCode(args ...string) (code int, text string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "whirlpool"), args...)
	cmd.Env, cmd.Dir = c.env, c.dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		c.t.Fatalf("whirlpool %s: %v", strings.Join(args, " "), err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// seed gives the cluster its job.
func (c *cluster) seed() {
	c.t.Helper()
	data, err := jobfile.Marshal(c.job)
	file := filepath.Join(c.dir, "job.yml")
	check(c.t, errors.Join(err, os.WriteFile(file, data, 0o600)))
	c.whirlpool("seed", "-c", file, "--job", string(c.job.ID), "--cluster")
}

// add adds a program; it does not run yet.
func (c *cluster) add(name, exe string, args []string, env ...string) *harness.Process {
	p := &harness.Process{Name: name, Exe: exe, Args: args, Env: append(c.env[:len(c.env):len(c.env)], env...),
		Log: filepath.Join(c.dir, name+".log")}
	c.programs = append(c.programs, p)
	c.t.Cleanup(p.CleanUp)
	return p
}

// startSeven starts the seven programs, or those of them whose names are given.
func (c *cluster) startSeven(some ...string) {
	if len(some) == 0 {
		some = harness.Names
	}
	for _, name := range some {
		c.add(name, filepath.Join(programs, name), nil).Start(c.t)
	}
}

// startNode starts the program that does what the seven do.
func (c *cluster) startNode() *harness.Process {
	p := c.add("node", filepath.Join(programs, "whirlpool"), []string{"node"})
	p.Start(c.t)
	return p
}

// program returns the program with the name.
func (c *cluster) program(name string) *harness.Process {
	for _, p := range c.programs {
		if p.Name == name {
			return p
		}
	}
	c.t.Fatalf("no program is called %s", name)
	return nil
}

// during notes the time that act takes as a trouble.
func (c *cluster) during(what string, act func()) {
	tr := trouble{what: what, from: time.Now()}
	act()
	tr.to = time.Now()
	c.troubles = append(c.troubles, tr)
}

// patience bounds a crawl.
const patience = 15 * time.Minute

// ended reports whether the cluster says that the job has ended.
func (c *cluster) ended() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	state, err := c.postgres.Jobs().State(ctx, c.job.ID)
	return err == nil && state == crawl.JobEnded // an error: the database may be away just now
}

// wait waits until the job has ended.
func (c *cluster) wait() {
	c.t.Helper()
	if within(patience, c.ended) {
		return
	}
	c.t.Errorf("the job did not end in %v\n%s", patience, c.situation())
	for _, p := range c.programs {
		c.t.Logf("%s\n%s", p.Name, p.Tail())
	}
	c.t.FailNow()
}

// situation describes what the cluster holds, for people.
func (c *cluster) situation() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var b strings.Builder
	tally, err := c.postgres.URLs().Tally(ctx, c.job.ID)
	fmt.Fprintf(&b, "tally %+v, %v\n", tally, err)
	depths, err := c.bus.Depths(ctx)
	for _, d := range depths {
		if d.Ready+d.Unacked > 0 {
			fmt.Fprintf(&b, "queue %s: %d ready, %d unacknowledged\n", d.Queue, d.Ready, d.Unacked)
		}
	}
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}
