package cluster_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// shared are the services of all tests of the package: no one else uses them, and the tests run one after the other.
var shared services

type services struct {
	dir   string
	once  sync.Once
	skip  string // why they cannot run here
	err   error
	guard func() error      // removes them; nil: they were not started
	env   map[string]string // the variables of dir/env
}

// names of the services that a crawl uses.
const (
	rabbitmq   = "rabbitmq"
	postgreSQL = "postgres"
	mongoDB    = "mongodb"
	memcache   = "memcached"
)

// ready starts the services, and builds the programs, when the first test needs them.
func ready(t *testing.T) *services {
	t.Helper()
	s := &shared
	s.once.Do(func() {
		began := time.Now()
		built := make(chan error, 1)
		go func() { built <- harness.Build(programs, "../../..") }()
		s.err = errors.Join(s.start(), <-built)
		t.Logf("services started and programs built in %v", time.Since(began).Round(time.Millisecond))
	})
	check(t, s.err)
	crawltest.Skip(t, s.skip)
	return s
}

// start starts the services by the first backend that can run here.
func (s *services) start() (err error) {
	var backend string
	if backend, s.skip = crawltest.Backend(); backend == "" {
		return nil
	}
	root := filepath.Dir(s.dir)
	if s.guard, err = servicetest.Guard(s.dir, root); err != nil {
		return err
	}
	args := []string{rabbitmq, postgreSQL, mongoDB, memcache}
	if backend == "docker" {
		args = append(args, "--docker")
	}
	err = os.Chmod(root, 0o711) // PostgreSQL has a user of its own
	if err = errors.Join(err, crawltest.Script(exec.Command, "up", s.dir, nil, args...)); err != nil {
		return err
	}
	s.env, err = crawltest.ReadEnv(s.dir)
	return err
}

func (s *services) remove() error {
	if s.guard == nil {
		return nil
	}
	return s.guard()
}

// do runs a script (kill9, start, stop, restart) for services.
func (s *services) do(t *testing.T, what string, names ...string) {
	t.Helper()
	check(t, crawltest.Script(exec.Command, what, s.dir, nil, names...))
}

// rabbitmqctl runs the broker's tool.
func (s *services) rabbitmqctl(t *testing.T, args ...string) {
	t.Helper()
	command := []string{filepath.Join(s.dir, "bin", "rabbitmqctl")}
	if _, err := os.Stat(command[0]); err != nil {
		_, port, _ := strings.Cut(strings.TrimPrefix(s.env["WHIRLPOOL_TEST_AMQP"], "amqp://"), "127.0.0.1:")
		command = []string{"docker", "exec", "whirlpool-test-" + port + "-rabbitmq-1", "rabbitmqctl"}
	}
	command = append(command, args...)
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%q: %v\n%s", command, err, out)
	}
}

// toolTime is how long the broker's tool takes for next to nothing.
func (s *services) toolTime(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	s.rabbitmqctl(t, "set_vm_memory_high_watermark", "0.4") // as it is
	return time.Since(began)
}
