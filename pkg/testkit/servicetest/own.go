package servicetest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Own are servers that exist for one test, which may stop and kill them.
type Own struct {
	dir string
	env map[string]string
}

// Start starts services by deploy/services (rabbitmq, postgres, mongodb, memcached, zookeeper) and removes them when
// the test ends, also by a signal or its time limit. The test is skipped where this machine cannot run them; with
// WHIRLPOOL_TEST_SERVICES=required it fails.
func Start(t testing.TB, names ...string) *Own {
	t.Helper()
	backends := strings.Fields(os.Getenv("WHIRLPOOL_TEST_BACKEND"))
	if len(backends) == 0 {
		backends = []string{"native", "docker"}
	}
	if os.Getenv("WHIRLPOOL_TEST_SERVICES") == "" {
		t.Skip("servers that the test may kill are started with WHIRLPOOL_TEST_SERVICES set only, as by `make test`")
	}
	scripts, err := script("")
	if err != nil {
		t.Fatal(err)
	}
	for _, backend := range backends {
		if exec.Command("bash", "-c", `. "$0/lib.sh"; . "$0/$1.sh"; can_run`, scripts, backend).Run() != nil {
			continue
		}
		root := t.TempDir()
		o := &Own{dir: filepath.Join(root, "services"), env: map[string]string{}}
		o.guard(t, root)
		args := names
		if backend == "docker" {
			args = append([]string{"--docker"}, names...)
		}
		o.run(t, "up", args...)
		o.readEnv(t)
		return o
	}
	if os.Getenv("WHIRLPOOL_TEST_SERVICES") == "required" {
		t.Fatalf("servers that the test may kill cannot run here by any of %q", backends)
	}
	t.Skipf("servers that the test may kill cannot run here by any of %q", backends)
	return nil
}

// Address returns what WHIRLPOOL_TEST_NAME is for these servers.
func (o *Own) Address(t testing.TB, name string) string {
	t.Helper()
	value := o.env["WHIRLPOOL_TEST_"+name]
	if value == "" {
		t.Fatalf("the services started for this test have no %s", name)
	}
	return value
}

// Do runs a script of deploy/services: kill9, start, stop or restart.
func (o *Own) Do(t testing.TB, what string, names ...string) {
	t.Helper()
	o.run(t, what, names...)
}

func (o *Own) guard(t testing.TB, root string) {
	remove, err := Guard(o.dir, root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
}

func (o *Own) run(t testing.TB, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	program, err := script(name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, append([]string{o.dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("deploy/services/%s %q: %v\n%s", name, args, err, out)
	}
}

func (o *Own) readEnv(t testing.TB) {
	t.Helper()
	f, err := os.Open(filepath.Join(o.dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "="); ok {
			o.env[name] = strings.Trim(value, "'")
		}
	}
	if len(o.env) == 0 {
		t.Fatal(fmt.Errorf("%s names no address", f.Name()))
	}
}

// script is the path of a file of deploy/services of this module. Tests run in the directory of their package, so it is
// found beside the first go.mod above.
func script(name string) (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "deploy/services", name), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod in %s or above it: the scripts that start servers are not found", start)
		}
	}
}
