package nodes_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// maxNodes is how many nodes there are at once, at most: so many brokers.
const maxNodes = 4

// shared are the services of all tests of the package: the tests run one after the other.
var shared services

type services struct {
	dir     string
	once    sync.Once
	skip    string // why they cannot run here
	err     error
	backend string
	env     map[string]string // of what all nodes share
	brokers [maxNodes + 1]map[string]string
}

// ready starts the services when the first test needs them.
func ready(t *testing.T) *services {
	t.Helper()
	long(t)
	s := &shared
	s.once.Do(func() {
		began := time.Now()
		s.err = s.start()
		t.Logf("services of %d nodes started in %v", maxNodes, time.Since(began).Round(time.Millisecond))
		if errNoSpace != nil {
			t.Logf("no namespaces, so the server's log cannot tell who asked: %v", errNoSpace)
		}
	})
	check(t, s.err)
	crawltest.Skip(t, s.skip)
	return s
}

// start starts what the nodes share, and their brokers, all at once.
func (s *services) start() error {
	if s.backend = "native"; errNoSpace != nil {
		if s.backend, s.skip = crawltest.Backend(); s.backend == "" {
			return nil
		}
	}
	jobs := []func() error{func() (err error) {
		s.env, err = s.up(exec.Command, "shared", hub, "postgres", "mongodb", "memcached", "zookeeper")
		return err
	}}
	for n := 1; n <= maxNodes; n++ {
		jobs = append(jobs, func() error {
			if errNoSpace == nil {
				if err := makeSpace(n); err != nil {
					return err
				}
			}
			return s.startBroker(n)
		})
	}
	errs := make([]error, len(jobs))
	var all sync.WaitGroup
	for i, job := range jobs {
		all.Go(func() { errs[i] = job() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// prepare installs what the services need, before there is no network any more.
func prepare(home string) error {
	out, err := exec.Command("bash", "-c",
		`set -euo pipefail; . "$0/lib.sh"; . "$0/native.sh"; dir="$1"; mkdir -p "$dir/log"; prepare`,
		crawltest.Scripts, filepath.Join(home, "prepared")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("prepare the services: %w\n%s", err, out)
	}
	return nil
}

// startBroker starts the broker of the n-th node; one that has been removed is new.
func (s *services) startBroker(n int) (err error) {
	s.brokers[n], err = s.up(networkOf(n), spaceOf(n), address(n), "rabbitmq")
	return err
}

// loseBroker kills the broker of a node and deletes all it had.
func (s *services) loseBroker(n int) error {
	if err := s.script(networkOf(n), "down", spaceOf(n), "", "--purge"); err != nil {
		return err
	}
	s.brokers[n] = nil
	return nil
}

// networkOf makes commands that run in the network of the n-th node.
func networkOf(n int) crawltest.Commander {
	return func(exe string, args ...string) *exec.Cmd { return in(n, exe, args...) }
}

// up starts services in a directory, at an address where the backend can, and returns the variables that say where they
// are.
func (s *services) up(command crawltest.Commander, name, at string, services ...string) (map[string]string, error) {
	args := services
	switch {
	case s.backend == "docker":
		args, at = append(args, "--docker"), ""
	case errNoSpace != nil && at == hub:
		at = ""
	}
	if err := s.script(command, "up", name, at, args...); err != nil {
		return nil, err
	}
	return crawltest.ReadEnv(filepath.Join(s.dir, name))
}

// script runs a script of deploy/services for a directory of services.
func (s *services) script(command crawltest.Commander, script, name, at string, args ...string) error {
	if err := os.MkdirAll(s.dir, 0o711); err != nil { // PostgreSQL has a user of its own
		return err
	}
	var variables []string
	if at != "" { // in a network of its own: all brokers have the same ports, as those of a real cluster do
		variables = []string{"WHIRLPOOL_TEST_ADDRESS=" + at, "WHIRLPOOL_TEST_PORT=20000"}
	}
	return crawltest.Script(command, script, filepath.Join(s.dir, name), variables, args...)
}

// remove ends the services where no PID namespace does.
func (s *services) remove() error {
	dirs, err := filepath.Glob(filepath.Join(s.dir, "*"))
	for _, dir := range dirs {
		err = errors.Join(err, s.script(exec.Command, "down", filepath.Base(dir), "", "--purge"))
	}
	return err
}
