package cluster_test

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

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// scripts start and stop services (see deploy/services/up).
const scripts = "../../../../deploy/services"

// shared are the services of all tests of the package: no one else uses them, and the tests run one after the other.
var shared services

type services struct {
	dir     string
	once    sync.Once
	skip    string // why they cannot run here
	err     error
	started bool
	env     map[string]string // the variables of dir/env
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
	if s.skip != "" {
		if os.Getenv("WHIRLPOOL_TEST_SERVICES") == "required" {
			t.Fatal(s.skip)
		}
		t.Skip(s.skip)
	}
	return s
}

// start starts the services by the first backend that can run here.
func (s *services) start() error {
	reasons := "servers that the tests may kill cannot run here:"
	backends := strings.Fields(os.Getenv("WHIRLPOOL_TEST_BACKEND"))
	if len(backends) == 0 {
		backends = []string{"native", "docker"}
	}
	for _, backend := range backends {
		out, err := exec.Command("bash", "-c", `. "$0/lib.sh"; . "$0/$1.sh"; can_run`, scripts, backend).Output()
		if err == nil {
			return s.up(backend)
		}
		reasons += fmt.Sprintf(" %s: %s (%v);", backend, strings.TrimSpace(string(out)), err)
	}
	s.skip = reasons
	return nil
}

func (s *services) up(backend string) error {
	s.started = true
	args := []string{s.dir, rabbitmq, postgreSQL, mongoDB, memcache}
	if backend == "docker" {
		args = append(args, "--docker")
	}
	if err := errors.Join(os.Chmod(filepath.Dir(s.dir), 0o711), script("up", args...)); err != nil { // PostgreSQL has a user of its own
		return err
	}
	return s.readEnv()
}

// readEnv reads dir/env: lines of `export NAME='value'`.
func (s *services) readEnv() error {
	f, err := os.Open(filepath.Join(s.dir, "env"))
	if err != nil {
		return err
	}
	defer f.Close()
	s.env = map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		if ok {
			s.env[name] = strings.Trim(value, "'")
		}
	}
	if s.env["WHIRLPOOL_TEST_AMQP"] == "" {
		return fmt.Errorf("%s names no broker", f.Name())
	}
	return nil
}

func (s *services) remove() error {
	if !s.started {
		return nil
	}
	return script("down", s.dir, "--purge")
}

func script(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, filepath.Join(scripts, name), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("deploy/services/%s %q: %w\n%s", name, args, err, out)
	}
	return nil
}

// do runs a script (kill9, start, stop, restart) for services.
func (s *services) do(t *testing.T, what string, names ...string) {
	t.Helper()
	check(t, script(what, append([]string{s.dir}, names...)...))
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
