package servicetest

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// S3 is a store of objects of one test, which may kill it and start it again. Its keys are whirlpool and whirlpool.
type S3 struct {
	Address string // host:port
	Dir     string // of its buckets, each a directory; make one to have a bucket
	program string
	cmd     *exec.Cmd
}

// s3Program builds the program once a process.
var s3Program = sync.OnceValues(func() (string, error) {
	program, err := script("s3server")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program) //nolint:noctx // a build ends
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
})

// StartS3 starts a store with a bucket. The test is skipped where WHIRLPOOL_TEST_SERVICES is not set, as the program is
// built first.
func StartS3(t testing.TB, bucket string) *S3 {
	t.Helper()
	if os.Getenv("WHIRLPOOL_TEST_SERVICES") == "" {
		t.Skip("a store of objects is built and started with WHIRLPOOL_TEST_SERVICES set only, as by `make test`")
	}
	program, err := s3Program()
	if err != nil {
		t.Fatalf("build the store of objects: %v", err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &S3{Address: l.Addr().String(), Dir: filepath.Join(t.TempDir(), "s3"), program: program}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "buckets", bucket), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
	t.Cleanup(func() { s.Kill(t) })
	return s
}

// Start starts it, and waits until it listens.
func (s *S3) Start(t testing.TB) {
	t.Helper()
	var said bytes.Buffer
	s.cmd = exec.CommandContext(context.Background(), s.program, "-listen", s.Address, "-data", s.Dir)
	s.cmd.Stdout, s.cmd.Stderr = &said, &said
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Address)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the store of objects does not listen: %s", said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Kill kills it, as kill -9 does.
func (s *S3) Kill(t testing.TB) {
	t.Helper()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
}
