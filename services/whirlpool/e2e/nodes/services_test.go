package nodes_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// scripts start and stop services (see deploy/services/up).
const scripts = "../../../../deploy/services"

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
	if s.skip != "" {
		if os.Getenv("WHIRLPOOL_TEST_SERVICES") == "required" {
			t.Fatal(s.skip)
		}
		t.Skip(s.skip)
	}
	return s
}

// start starts what the nodes share, and their brokers, all at once.
func (s *services) start() error {
	if s.backend = "native"; errNoSpace != nil {
		if s.backend = s.choose(); s.backend == "" {
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

// choose returns the first backend that can run here; none, with the reasons in s.skip.
func (s *services) choose() string {
	backends := strings.Fields(os.Getenv("WHIRLPOOL_TEST_BACKEND"))
	if len(backends) == 0 {
		backends = []string{"native", "docker"}
	}
	s.skip = "servers of the tests' own cannot run here:"
	for _, backend := range backends {
		out, err := backendSays(backend)
		if err == nil {
			s.skip = ""
			return backend
		}
		s.skip += fmt.Sprintf(" %s: %s (%v);", backend, out, err)
	}
	return ""
}

// backendSays asks whether services can run in a way, and returns the reason with the error.
func backendSays(backend string) (string, error) {
	out, err := exec.Command("bash", "-c", `. "$0/lib.sh"; . "$0/$1.sh"; can_run`, scripts, backend).Output()
	return strings.TrimSpace(string(out)), err
}

// prepare installs what the services need, before there is no network any more.
func prepare(home string) error {
	out, err := exec.Command("bash", "-c", `set -euo pipefail; . "$0/lib.sh"; . "$0/native.sh"; dir="$1"; mkdir -p "$dir/log"; prepare`,
		scripts, filepath.Join(home, "prepared")).CombinedOutput()
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

type commander func(exe string, args ...string) *exec.Cmd

// networkOf makes commands that run in the network of the n-th node.
func networkOf(n int) commander {
	return func(exe string, args ...string) *exec.Cmd { return in(n, exe, args...) }
}

// up starts services in a directory, at an address where the backend can, and returns the variables that say where they
// are.
func (s *services) up(command commander, name, at string, services ...string) (map[string]string, error) {
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
	return readEnv(filepath.Join(s.dir, name, "env"))
}

// script runs a script of deploy/services for a directory of services.
func (s *services) script(command commander, script, name, at string, args ...string) error {
	if err := os.MkdirAll(s.dir, 0o711); err != nil { // PostgreSQL has a user of its own
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := command(filepath.Join(scripts, script), append([]string{filepath.Join(s.dir, name)}, args...)...)
	if at != "" {
		cmd.Env = append(os.Environ(), "WHIRLPOOL_TEST_ADDRESS="+at)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("deploy/services/%s %s %q: %w\n%s", script, name, args, err, out)
	}
	return nil
}

// readEnv reads lines of `export NAME='value'`.
func readEnv(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	env := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, value, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "="); ok {
			env[name] = strings.Trim(value, "'")
		}
	}
	return env, lines.Err()
}

// remove ends the services where no PID namespace does.
func (s *services) remove() error {
	dirs, err := filepath.Glob(filepath.Join(s.dir, "*"))
	for _, dir := range dirs {
		err = errors.Join(err, s.script(exec.Command, "down", filepath.Base(dir), "", "--purge"))
	}
	return err
}

// forget empties memcached: what earlier tests' webs said would be believed.
func (s *services) forget(t *testing.T) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", s.env["WHIRLPOOL_TEST_MEMCACHED"], 5*time.Second)
	check(t, err)
	defer conn.Close()
	check(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	_, err = fmt.Fprint(conn, "flush_all\r\n")
	check(t, err)
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if check(t, err); answer != "OK\r\n" {
		t.Fatalf("memcached answers %q to flush_all", answer)
	}
}
