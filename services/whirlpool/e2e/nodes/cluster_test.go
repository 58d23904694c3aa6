package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

const vnodes = 1536 // 512 for each of three nodes, 384 for each of four

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
	// What is lost is looked for after a few sessions, so that they stay short.
	return pace{slowness: s, session: harness.Paced(s, 5*time.Second),
		grace: max(harness.Times(s, 30*time.Second), mostSession)}
}

// cluster is a set of nodes of one ring, with vhosts, databases, spools and a ring that no test before it has used.
type cluster struct {
	*crawltest.Cluster
	t        *testing.T
	pace     pace
	services *services
	nodes    [maxNodes + 1]*machine
	history  *history
}

// machine is a node: one program, or seven.
type machine struct {
	n        int
	name     string
	env      []string
	programs []*harness.Process
	gone     bool // it left or was killed, for good
}

// newCluster prepares the services for a crawl of a web. Settings are added to the programs' environment.
func newCluster(t *testing.T, srv *fakeweb.Server, p pace, settings ...string) *cluster {
	t.Helper()
	s := ready(t)
	ringSettings := []string{"WHIRLPOOL_ZOOKEEPER_ADDRESSES=" + s.env["WHIRLPOOL_TEST_ZOOKEEPER"],
		"WHIRLPOOL_ZOOKEEPER_SESSION_TIMEOUT=" + p.session.String(), "WHIRLPOOL_RING_GRACE=" + p.grace.String(),
		fmt.Sprintf("WHIRLPOOL_RING_VNODES=%d", vnodes)}
	c := &cluster{Cluster: crawltest.New(t, s.env, srv, slices.Concat(ringSettings, settings)...), t: t, pace: p,
		services: s}
	c.Slowness = p.slowness
	c.Settings = append(c.Settings, "WHIRLPOOL_RING_NAME="+c.Database)
	c.history = observe(t, c.Settings)
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

// node makes the n-th node: its vhosts, until the test ends, and its place on the disk. No program runs yet.
func (c *cluster) node(n int) *machine {
	c.t.Helper()
	if c.services.brokers[n] == nil { // another test lost it
		check(c.t, c.services.startBroker(n))
	}
	m := &machine{n: n, name: spaceOf(n)}
	broker := c.services.brokers[n]
	m.env = slices.Concat(os.Environ(), c.Settings, c.Broker(broker),
		[]string{"WHIRLPOOL_NODE=" + m.name, "WHIRLPOOL_DISK_SPOOL=" + filepath.Join(c.Dir, m.name, "spool")})
	check(c.t, os.MkdirAll(filepath.Join(c.Dir, m.name), 0o700))
	c.nodes[n] = m
	admin := broker["WHIRLPOOL_TEST_RABBITMQ_API"]
	c.whirlpool(m, "setup", "--broker-admin", admin, "--cluster")
	c.t.Cleanup(func() {
		if c.services.brokers[n] != nil {
			c.Teardown(admin, m.env)
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

// whirlpool runs a command of the real program as on a node.
func (c *cluster) whirlpool(m *machine, args ...string) string {
	c.t.Helper()
	return c.Must(m.env, filepath.Join(programs, "whirlpool"), args...)
}

func (c *cluster) command(m *machine, args ...string) (string, error) {
	return c.Command(m.env, filepath.Join(programs, "whirlpool"), args...)
}

// seed gives the cluster a job.
func (c *cluster) seed(job *crawl.Job) {
	c.t.Helper()
	c.whirlpool(c.alive()[0], "seed", "-c", crawltest.WriteJob(c.t, c.Dir, job), "--job", string(job.ID), "--cluster")
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
		Log: filepath.Join(c.Dir, m.name, name+".log"), Command: networkOf(m.n)}
	m.programs = append(m.programs, p)
	c.t.Cleanup(p.CleanUp)
	return p
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
	if within(patience, func() bool { return c.Ended(job) || c.stuck() }) && !c.t.Failed() {
		return
	}
	c.t.Fatalf("the job %s did not end in %v\n%s", job, patience, c.situation(job))
}

// situation describes what the cluster holds, for people.
func (c *cluster) situation(job crawl.JobID) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var b strings.Builder
	tally, err := c.Postgres.URLs().Tally(ctx, job)
	fmt.Fprintf(&b, "tally %+v, %v\n", tally, err)
	for _, fault := range c.queued() {
		fmt.Fprintln(&b, fault)
	}
	open := 0
	err = c.Postgres.URLs().Entries(ctx, job, func(row crawl.LedgerRow) error {
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, m := range c.alive() {
		bus, err := rabbit.Open(c.RabbitConfig(m.env))
		check(c.t, err)
		there, err := crawltest.Held(ctx, bus)
		check(c.t, errors.Join(err, bus.Close()))
		for _, h := range there {
			held = append(held, m.name+": "+h)
		}
	}
	return held
}
