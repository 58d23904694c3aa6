package nodes_test

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
	"slices"
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

const vnodes = 1536 // 512 for each of three nodes, 384 for each of four

// patience bounds a crawl, and all else that others take their time for: what does not come in that time will not come.
const patience = 15 * time.Minute

// pace is how fast the machine is, and how long nodes that are silent stay members of the ring accordingly.
type pace struct {
	slowness       float64
	session, grace time.Duration
}

// mostSession is the longest session that ZooKeeper's server here allows (deploy/services).
const mostSession = time.Minute

// quick is a pace at which silent nodes are dead soon, and those that the machine keeps waiting are not.
func quick(t *testing.T) pace {
	s := harness.Slowness(t)
	p := pace{slowness: s, session: min(harness.Times(s, 2*time.Second), mostSession)}
	p.grace = 3 * p.session / 2
	return p
}

// calm is a pace for tests in which no node is to die.
func calm(t *testing.T) pace {
	s := harness.Slowness(t)
	return pace{slowness: s, session: min(harness.Times(s, 5*time.Second), mostSession), grace: max(harness.Times(s, 30*time.Second), mostSession)}
}

// cluster is a set of nodes of one ring, with vhosts, databases, spools and a ring that no test before it has used.
type cluster struct {
	t        *testing.T
	pace     pace
	services *services
	srv      *fakeweb.Server
	dir      string
	database string
	ledger   string   // the URL of that in PostgreSQL
	settings []string // that all nodes share
	nodes    [maxNodes + 1]*machine
	history  *history

	postgres *postgres.Store
	mongo    *mongo.Store
	troubles []trouble
}

// machine is a node: one program, or seven.
type machine struct {
	n        int
	name     string
	env      []string
	programs []*harness.Process
	gone     bool // it left or was killed, for good
}

// trouble is a time in which something was killed or away.
type trouble struct {
	what     string
	from, to time.Time
}

// newCluster prepares the services for a crawl of a web. Settings are added to the programs' environment.
func newCluster(t *testing.T, srv *fakeweb.Server, p pace, settings ...string) *cluster {
	t.Helper()
	s := ready(t)
	dir, err := os.MkdirTemp(t.ArtifactDir(), "nodes-")
	check(t, err)
	c := &cluster{t: t, pace: p, services: s, srv: srv, dir: dir, database: "e2e_" + strings.ToLower(rand.Text()[:10])}
	pg, err := url.Parse(s.env["WHIRLPOOL_TEST_POSTGRES"])
	check(t, err)
	c.sql(pg.String(), "CREATE DATABASE "+c.database)
	pg.Path = "/" + c.database
	c.ledger = pg.String()
	for _, part := range []string{"SUBSYSTEMS", "FRONTIER"} {
		name, variable := strings.ToLower(part)+"_"+c.database, "WHIRLPOOL_RABBITMQ_"+part
		c.settings = append(c.settings, variable+"_VHOST="+name, variable+"_USER="+name, variable+"_PASSWORD="+rand.Text())
	}
	c.settings = append(c.settings, "WHIRLPOOL_POSTGRES_URL="+pg.String(), "WHIRLPOOL_MONGODB_URL="+s.env["WHIRLPOOL_TEST_MONGODB"],
		"WHIRLPOOL_MONGODB_DATABASE="+c.database, "WHIRLPOOL_MEMCACHED_ADDRESSES="+s.env["WHIRLPOOL_TEST_MEMCACHED"],
		"WHIRLPOOL_ZOOKEEPER_ADDRESSES="+s.env["WHIRLPOOL_TEST_ZOOKEEPER"], "WHIRLPOOL_ZOOKEEPER_SESSION_TIMEOUT="+p.session.String(),
		"WHIRLPOOL_RING_NAME="+c.database, "WHIRLPOOL_RING_GRACE="+p.grace.String(), fmt.Sprintf("WHIRLPOOL_RING_VNODES=%d", vnodes),
		"WHIRLPOOL_DISK_LIMIT=0.99", "WHIRLPOOL_FETCH_ALLOW_PRIVATE=true", "WHIRLPOOL_FETCH_DNS="+srv.DNSAddr(),
		"WHIRLPOOL_HTTP_LISTEN=127.0.0.1:0", "WHIRLPOOL_PPROF_LISTEN=", "WHIRLPOOL_LOG_FORMAT=json", "WHIRLPOOL_LOG_LIMIT=0")
	c.settings = append(c.settings, settings...)
	s.forget(t)
	c.open()
	c.history = observe(t, c.settings)
	t.Cleanup(c.keepLogs)
	return c
}

// keepLogs says what the nodes said last, where the test has failed.
func (c *cluster) keepLogs() {
	if !c.t.Failed() {
		return
	}
	for _, m := range c.machines() {
		for _, p := range m.programs {
			c.t.Logf("the last words of %s (%s):\n%s", p.Name, p.Log, p.Tail())
		}
	}
}

// sql has a server of PostgreSQL do something.
func (c *cluster) sql(server, statement string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	check(c.t, err)
	_, err = conn.Exec(ctx, statement)
	check(c.t, errors.Join(err, conn.Close(ctx)))
}

// open connects the test with the services, to see what the nodes leave there.
func (c *cluster) open() {
	c.t.Helper()
	cfg, err := process.Load("", c.settings)
	check(c.t, err)
	pg, mg := node.PostgresConfig(cfg), node.MongoConfig(cfg)
	pg.Log, mg.Log = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	c.postgres, err = postgres.Open(c.t.Context(), pg)
	check(c.t, err)
	c.t.Cleanup(c.postgres.Close)
	c.mongo, err = mongo.Open(c.t.Context(), mg)
	check(c.t, err)
	c.t.Cleanup(func() { _ = c.mongo.Close() })
}

// node makes the n-th node: its vhosts, until the test ends, and its place on the disk. No program runs yet.
func (c *cluster) node(n int) *machine {
	c.t.Helper()
	if c.services.brokers[n] == nil { // another test lost it
		check(c.t, c.services.startBroker(n))
	}
	m := &machine{n: n, name: spaceOf(n)}
	broker := c.services.brokers[n]
	amqp, err := url.Parse(broker["WHIRLPOOL_TEST_AMQP"])
	check(c.t, err)
	api, err := url.Parse(broker["WHIRLPOOL_TEST_RABBITMQ_API"])
	check(c.t, err)
	amqp.User, api.User = nil, nil
	m.env = slices.Concat(os.Environ(), c.settings, []string{"WHIRLPOOL_NODE=" + m.name, "WHIRLPOOL_RABBITMQ_URL=" + amqp.String(),
		"WHIRLPOOL_RABBITMQ_MANAGEMENT_URL=" + api.String(), "WHIRLPOOL_DISK_SPOOL=" + filepath.Join(c.dir, m.name, "spool")})
	check(c.t, os.MkdirAll(filepath.Join(c.dir, m.name), 0o700))
	c.nodes[n] = m
	admin := broker["WHIRLPOOL_TEST_RABBITMQ_API"]
	c.whirlpool(m, "setup", "--broker-admin", admin, "--cluster")
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if c.services.brokers[n] == nil {
			return
		}
		if err := rabbit.Teardown(ctx, admin, c.rabbitConfig(m)); err != nil {
			c.t.Errorf("remove the vhosts: %v", err)
		}
	})
	return m
}

// machines are the nodes that were made.
func (c *cluster) machines() []*machine {
	return slices.DeleteFunc(slices.Clone(c.nodes[:]), func(m *machine) bool { return m == nil })
}

// alive are the nodes that neither left nor were killed.
func (c *cluster) alive() []*machine {
	return slices.DeleteFunc(c.machines(), func(m *machine) bool { return m.gone })
}

func (c *cluster) rabbitConfig(m *machine) rabbit.Config {
	c.t.Helper()
	cfg, err := process.Load("", m.env)
	check(c.t, err)
	out := node.RabbitConfig(cfg)
	out.Program, out.Log = "e2e", slog.New(slog.DiscardHandler)
	return out
}

// whirlpool runs a command of the real program as on a node.
func (c *cluster) whirlpool(m *machine, args ...string) string {
	c.t.Helper()
	out, err := c.command(m, args...)
	if err != nil {
		c.t.Fatalf("whirlpool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c *cluster) command(m *machine, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "whirlpool"), args...)
	cmd.Env, cmd.Dir = m.env, c.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// seed gives the cluster a job.
func (c *cluster) seed(job *crawl.Job) {
	c.t.Helper()
	data, err := jobfile.Marshal(job)
	file := filepath.Join(c.dir, string(job.ID)+".yml")
	check(c.t, errors.Join(err, os.WriteFile(file, data, 0o600)))
	c.whirlpool(c.alive()[0], "seed", "-c", file, "--job", string(job.ID), "--cluster")
}

// start makes nodes and starts `whirlpool node` on each.
func (c *cluster) start(ns ...int) {
	c.t.Helper()
	for _, n := range ns {
		m := c.node(n)
		c.add(m, "node", filepath.Join(programs, "whirlpool"), []string{"node"}).Start(c.t)
	}
}

// startSeven makes nodes and starts the seven programs on each.
func (c *cluster) startSeven(ns ...int) {
	c.t.Helper()
	for _, n := range ns {
		m := c.node(n)
		for _, name := range harness.Names {
			c.add(m, name, filepath.Join(programs, name), nil).Start(c.t)
		}
	}
}

// startBroken makes nodes and starts one program on each, the tests' own, with a fault.
func (c *cluster) startBroken(fault string, ns ...int) {
	c.t.Helper()
	self, err := os.Executable()
	check(c.t, err)
	for _, n := range ns {
		m := c.node(n)
		c.add(m, "node", self, nil, faultVariable+"="+fault).Start(c.t)
	}
}

// add adds a program to a node; it does not run yet.
func (c *cluster) add(m *machine, name, exe string, args []string, env ...string) *harness.Process {
	p := &harness.Process{Name: m.name + " " + name, Exe: exe, Args: args, Env: slices.Concat(m.env, env),
		Log: filepath.Join(c.dir, m.name, name+".log"), Command: networkOf(m.n)}
	m.programs = append(m.programs, p)
	c.t.Cleanup(p.CleanUp)
	return p
}

// during notes the time that act takes as a trouble.
func (c *cluster) during(what string, act func()) {
	tr := trouble{what: what, from: time.Now()}
	act()
	tr.to = time.Now()
	c.troubles = append(c.troubles, tr)
}

// ended reports whether the cluster says that a job has ended.
func (c *cluster) ended(job crawl.JobID) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	state, err := c.postgres.Jobs().State(ctx, job)
	return err == nil && state == crawl.JobEnded
}

// stuck reports whether a program has ended by itself: the crawl cannot go on.
func (c *cluster) stuck() bool {
	for _, m := range c.alive() {
		for _, p := range m.programs {
			if p.Dead() {
				c.t.Errorf("%s ended by itself: %s", p.Name, p.LastWords())
				return true
			}
		}
	}
	return false
}

// wait waits until a job has ended.
func (c *cluster) wait(job crawl.JobID) {
	c.t.Helper()
	if within(patience, func() bool { return c.ended(job) || c.stuck() }) && !c.t.Failed() {
		return
	}
	c.t.Fatalf("the job %s did not end in %v\n%s", job, patience, c.situation(job))
}

// situation describes what the cluster holds, for people.
func (c *cluster) situation(job crawl.JobID) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var b strings.Builder
	tally, err := c.postgres.URLs().Tally(ctx, job)
	fmt.Fprintf(&b, "tally %+v, %v\n", tally, err)
	for _, fault := range c.queued() {
		fmt.Fprintln(&b, fault)
	}
	open := 0
	err = c.postgres.URLs().Entries(ctx, job, func(row crawl.LedgerRow) error {
		if row.State == crawl.StateDone || row.State == crawl.StateExcluded {
			return nil
		}
		if open++; open <= 3 {
			out, err := c.command(c.alive()[0], "explain", row.URL.String(), "--cluster", "--job", string(job))
			fmt.Fprintf(&b, "%s of %s: %s %v\n", row.URL, vnodeOf(c.t, c.history.now(), row.URL.String()).Owner, out, err)
		}
		return nil
	})
	fmt.Fprintf(&b, "%d URLs are open, %v\n", open, err)
	if len(c.alive()) > 0 {
		out, err := c.command(c.alive()[0], "ring", "balance", "--cluster")
		fmt.Fprintf(&b, "%s %v\n", out, err)
	}
	return b.String()
}

// queued lists what the brokers of the nodes that are alive hold.
func (c *cluster) queued() (held []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, m := range c.alive() {
		bus, err := rabbit.Open(c.rabbitConfig(m))
		check(c.t, err)
		depths, err := bus.Depths(ctx)
		check(c.t, errors.Join(err, bus.Close()))
		for _, d := range depths {
			if d.Ready+d.Unacked > 0 && !harness.Shut(d.Queue) {
				held = append(held, fmt.Sprintf("%s: queue %s holds %d messages, and %d that are being handled", m.name, d.Queue, d.Ready, d.Unacked))
			}
		}
	}
	return held
}
