// Command s3 is the tests' store of objects: Versity's S3 gateway over a directory, embedded. It checks signatures
// (SigV4), keeps uploads in parts, and is killed by tests in the middle of one.
//
// It listens on loopback only, keeps everything under -data, and stops at SIGINT or SIGTERM.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:7070", "loopback address and port to listen on")
	data := flag.String("data", "", "directory of the buckets, each a directory (made when missing)")
	access := flag.String("access", "whirlpool", "access key")
	secret := flag.String("secret", "whirlpool", "secret key")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, *data, *access, *secret); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "s3:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, listen, data, access, secret string) error {
	if err := checkLoopback(listen); err != nil {
		return err
	}
	if data == "" {
		return fmt.Errorf("name a directory for the buckets with -data")
	}
	buckets, beside := filepath.Join(data, "buckets"), filepath.Join(data, "beside")
	for _, dir := range []string{buckets, beside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	side, err := meta.NewSideCar(beside) // extended attributes are not to be had on every disk
	if err != nil {
		return fmt.Errorf("directory for what is known of objects: %w", err)
	}
	store, err := posix.New(buckets, side, posix.PosixOpts{NewDirPerm: 0o755, Concurrency: 100, SideCarDir: beside})
	if err != nil {
		return fmt.Errorf("open the buckets in %s: %w", buckets, err)
	}
	return embedgw.RunVersityGW(ctx, store,
		&embedgw.Config{RootUserAccess: access, RootUserSecret: secret, Ports: []string{listen},
			MaxConnections: 1000, MaxRequests: 1000, MultipartMaxParts: 10000, Quiet: true, KeepAlive: true})
}

// checkLoopback refuses every other address: the keys of this server are known.
func checkLoopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("address %q: %w", listen, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("address %q is not on loopback: use 127.0.0.1", listen)
	}
	return nil
}
