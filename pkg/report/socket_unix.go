//go:build unix

package report

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"
)

// maxSocketPath is a length that every system takes: the address of a unix socket has room for 108 bytes on Linux and
// 104 elsewhere, a zero at the end included.
const maxSocketPath = 100

// socketPaths returns where the socket of a crawl directory is: state/control.sock in it, or, where that path is too
// long for a socket, a file among the temporary ones, named by a hash. pointer is then the file that says so.
func socketPaths(dir string) (socket, pointer string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", fmt.Errorf("control socket of %s: %w", dir, err)
	}
	socket = filepath.Join(abs, "state", "control.sock")
	if len(socket) <= maxSocketPath {
		return socket, "", nil
	}
	name := fmt.Sprintf("whirlpool-%016x.sock", xxh3.HashString(abs))
	return filepath.Join(os.TempDir(), name), filepath.Join(abs, "state", "control.path"), nil
}

// listen opens the socket of a crawl directory. The caller has the directory's lock, so a socket that is there already
// was left by a process that died.
func listen(dir string) (l net.Listener, cleanup func() error, err error) {
	socket, pointer, err := socketPaths(dir)
	if err != nil {
		return nil, nil, err
	}
	if err := remove(socket); err != nil {
		return nil, nil, fmt.Errorf("remove the stale control socket: %w", err)
	}
	if l, err = net.Listen("unix", socket); err != nil { //nolint:noctx // it does not wait
		return nil, nil, fmt.Errorf("control socket: %w", err)
	}
	cleanup = func() error { return errors.Join(remove(socket), remove(pointer)) }
	err = os.Chmod(socket, 0o600)
	if err == nil && pointer != "" {
		err = os.WriteFile(pointer, []byte(socket+"\n"), 0o600)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("control socket: %w", err), l.Close(), cleanup())
	}
	return l, cleanup, nil
}

// knocker returns what connects to the crawl that runs in a directory; an error: none does.
func knocker(dir string) (func(context.Context) (net.Conn, error), error) {
	socket, err := find(dir)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", socket) }, nil
}

// find returns the socket that a running crawl would listen at.
func find(dir string) (string, error) {
	socket, pointer, err := socketPaths(dir)
	if err != nil || pointer == "" {
		return socket, err
	}
	data, err := os.ReadFile(pointer)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data)), nil
}
