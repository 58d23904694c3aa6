package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// cluster is a node of programs with vhosts, databases and a spool that no test before it has used.
type cluster struct {
	*crawltest.Cluster
	t        *testing.T
	services *services
	env      []string // of the programs
	job      *crawl.Job
	programs []*harness.Process
	bus      *rabbit.Bus
}

// newCluster prepares the services for a crawl of a web. Settings are added to the programs' environment.
func newCluster(t *testing.T, srv *fakeweb.Server, job *crawl.Job, settings ...string) *cluster {
	t.Helper()
	s := ready(t)
	c := &cluster{Cluster: crawltest.New(t, s.env, srv, settings...), t: t, services: s, job: job}
	c.env = slices.Concat(os.Environ(),
		[]string{"WHIRLPOOL_NODE=e2e", "WHIRLPOOL_DISK_SPOOL=" + filepath.Join(c.Dir, "spool")},
		c.Broker(s.env), c.Settings)
	c.setup()
	var err error
	c.bus, err = rabbit.Open(c.RabbitConfig(c.env))
	check(t, err)
	t.Cleanup(func() { _ = c.bus.Close() })
	return c
}

// setup makes the broker's vhosts, until the test ends.
func (c *cluster) setup() {
	c.t.Helper()
	admin := c.services.env["WHIRLPOOL_TEST_RABBITMQ_API"]
	c.whirlpool("setup", "--broker-admin", admin, "--cluster")
	c.t.Cleanup(func() { c.Teardown(admin, c.env) })
}

// whirlpool runs a command of the real program against the cluster.
func (c *cluster) whirlpool(args ...string) string {
	c.t.Helper()
	return c.Must(c.env, filepath.Join(programs, "whirlpool"), args...)
}

// exitCode runs a command of the real program, and returns its exit status and what it said.
func (c *cluster) exitCode(args ...string) (code int, text string) {
	c.t.Helper()
	return c.exitWith("", args...)
}

// exitWith is exitCode with a variable that the environment does not have.
func (c *cluster) exitWith(variable string, args ...string) (code int, text string) {
	c.t.Helper()
	text, err := c.Command(append(c.env[:len(c.env):len(c.env)], variable), filepath.Join(programs, "whirlpool"), args...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), text
	case err != nil:
		c.t.Fatalf("whirlpool %s: %v", strings.Join(args, " "), err)
	}
	return 0, text
}

// seed gives the cluster its job.
func (c *cluster) seed() {
	c.t.Helper()
	c.whirlpool("seed", "-c", crawltest.WriteJob(c.t, c.Dir, c.job), "--job", string(c.job.ID), "--cluster")
}

// add adds a program; it does not run yet.
func (c *cluster) add(name, exe string, args []string, env ...string) *harness.Process {
	p := &harness.Process{Name: name, Exe: exe, Args: args, Env: append(c.env[:len(c.env):len(c.env)], env...),
		Log: filepath.Join(c.Dir, name+".log")}
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

// wholeNode is the name of the program that plays all roles.
const wholeNode = "node"

// startNode starts the program that does what the seven do.
func (c *cluster) startNode() *harness.Process {
	p := c.add(wholeNode, filepath.Join(programs, "whirlpool"), []string{"node"})
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

// ended reports whether the cluster says that the job has ended.
func (c *cluster) ended() bool { return c.Ended(c.job.ID) }

// settled reports whether the job has ended and nothing of it is queued or under way. Where a program was killed
// shortly before the end, the job's state is that it has ended, and goes on when what the program had comes again. Dead
// letters stay for ever: leftovers tells of them.
func (c *cluster) settled() bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	held, err := crawltest.Held(ctx, c.bus)
	held = slices.DeleteFunc(held, func(text string) bool { return strings.HasPrefix(text, "queue dead holds") })
	return err == nil && len(held) == 0 && c.ended()
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
	tally, err := c.Postgres.URLs().Tally(ctx, c.job.ID)
	fmt.Fprintf(&b, "tally %+v, %v\n", tally, err)
	held, err := crawltest.Held(ctx, c.bus)
	fmt.Fprintln(&b, strings.Join(held, "\n"), err)
	return b.String()
}
