package servicetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Registry is a registry of containers of one test, on loopback and without TLS.
type Registry struct {
	Address string // host:port
	Dir     string // of what it keeps
}

// registryProgram finds or installs the program once a process.
var registryProgram = sync.OnceValues(func() (string, error) {
	program, err := script("registryserver")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program) //nolint:noctx // an installation ends
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
})

// StartRegistry starts a registry. Where user is not empty, it lets nobody in but user with password. The test is
// skipped where WHIRLPOOL_TEST_SERVICES is not set, as the program is installed first.
func StartRegistry(t testing.TB, user, password string) *Registry {
	t.Helper()
	if os.Getenv("WHIRLPOOL_TEST_SERVICES") == "" {
		t.Skip("a registry of containers is started with WHIRLPOOL_TEST_SERVICES set only, as by `make test`")
	}
	program, err := registryProgram()
	if err != nil {
		t.Fatalf("find a registry of containers: %v", err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r := &Registry{Address: l.Addr().String(), Dir: filepath.Join(dir, "data")}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(config, []byte(r.config(t, dir, user, password)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.run(t, exec.CommandContext(context.Background(), program, "serve", config))
	return r
}

func (r *Registry) config(t testing.TB, dir, user, password string) string {
	t.Helper()
	text := fmt.Sprintf("version: 0.1\nlog: {level: warn}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %s}\n",
		r.Dir, r.Address)
	if user == "" {
		return text
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(dir, "users")
	if err := os.WriteFile(users, []byte(user+":"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return text + "auth: {htpasswd: {realm: test, path: " + users + "}}\n"
}

// run starts it, waits until it answers, and ends it with the test.
func (r *Registry) run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // it is ended by a signal
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for !r.answers(ctx) {
		select {
		case <-ended:
			t.Fatalf("the registry of containers ended: %s", said.String())
		case <-ctx.Done():
			t.Fatal("the registry of containers does not answer")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (r *Registry) answers(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Address+"/v2/", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusUnauthorized
}
