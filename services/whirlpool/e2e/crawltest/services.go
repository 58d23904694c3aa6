package crawltest

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
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Scripts is the directory of the scripts that start and stop services.
const Scripts = "../../../../deploy/services"

// Commander makes a command, for example one that runs in another network.
type Commander func(exe string, args ...string) *exec.Cmd

// Backend is the first backend of WHIRLPOOL_TEST_BACKEND (native, docker where it is empty) that can run services which
// the tests may kill. Where none can, it is empty, and skip says why.
func Backend() (backend, skip string) {
	backends := strings.Fields(os.Getenv("WHIRLPOOL_TEST_BACKEND"))
	if len(backends) == 0 {
		backends = []string{"native", "docker"}
	}
	skip = "servers that the tests may kill cannot run here:"
	for _, backend := range backends {
		out, err := CanRun(backend)
		if err == nil {
			return backend, ""
		}
		skip += fmt.Sprintf(" %s: %s (%v);", backend, out, err)
	}
	return "", skip
}

// CanRun asks whether a backend can run services. With an error it returns the reason.
func CanRun(backend string) (string, error) {
	out, err := exec.CommandContext(context.Background(), "bash", "-c", `. "$0/lib.sh"; . "$0/$1.sh"; can_run`, Scripts,
		backend).Output()
	return strings.TrimSpace(string(out)), err
}

// Skip skips a test for a reason, which fails it where the services are required. An empty reason is none.
func Skip(t *testing.T, reason string) {
	t.Helper()
	switch {
	case reason == "":
	case os.Getenv("WHIRLPOOL_TEST_SERVICES") == "required":
		t.Fatal(reason)
	default:
		t.Skip(reason)
	}
}

// Script runs a script of deploy/services for a directory of services. Variables are added to its environment.
func Script(command Commander, script, dir string, variables []string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := command(filepath.Join(Scripts, script), append([]string{dir}, args...)...)
	cmd.Env = append(os.Environ(), variables...)
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("deploy/services/%s %s %q: %w\n%s", script, dir, args, err, out)
	}
	return nil
}

// ReadEnv reads the variables that say where the services of a directory are: lines of `export NAME='value'`.
func ReadEnv(dir string) (map[string]string, error) {
	f, err := os.Open(filepath.Join(dir, "env"))
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

// Forget empties a memcached: what earlier tests' webs said would be believed.
func Forget(t *testing.T, address string) {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp", address)
	harness.Check(t, err)
	defer conn.Close()
	harness.Check(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	_, err = fmt.Fprint(conn, "flush_all\r\n")
	harness.Check(t, err)
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if harness.Check(t, err); answer != "OK\r\n" {
		t.Fatalf("memcached answers %q to flush_all", answer)
	}
}

// SQL has a server of PostgreSQL do something.
func SQL(t *testing.T, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	harness.Check(t, err)
	_, err = conn.Exec(ctx, statement)
	harness.Check(t, errors.Join(err, conn.Close(ctx)))
}
