// Command ferretdb is the tests' stand-in for MongoDB where no container engine runs: FerretDB with SQLite, embedded,
// because Debian has no MongoDB and FerretDB's own command does not run when it is built from its published module.
//
// It listens on loopback only unless -open says that the network is closed, keeps everything under -data, and stops at
// SIGINT or SIGTERM. What a client was told is written outlives kill -9 of this process, but not a power failure (see
// pragmas).
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// pragmas spare the fsync of every commit: the write-ahead log is in the operating system's hands when a commit
// returns, and a test loses processes, never the machine.
var pragmas = url.Values{"_pragma": {"synchronous(off)", "journal_mode(wal)", "busy_timeout(10000)",
	"auto_vacuum(none)"}}

func main() {
	listen := flag.String("listen", "127.0.0.1:27017", "loopback address and port to listen on")
	open := flag.Bool("open", false, "listen on any address: for a network namespace without a way out")
	data := flag.String("data", "", "directory of the database files (made when missing)")
	verbose := flag.Bool("v", false, "log commands that fail, too")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, *open, *data, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "ferretdb:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, listen string, open bool, data string, verbose bool) error {
	if err := checkLoopback(listen); err != nil && !open {
		return err
	}
	if data == "" {
		return fmt.Errorf("name a directory for the database files with -data")
	}
	dir, err := filepath.Abs(data)
	if err != nil {
		return fmt.Errorf("directory %s: %w", data, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the database files: %w", err)
	}
	level := slog.LevelError
	if verbose {
		level = slog.LevelWarn
	}
	db, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: listen},
		Logger:    slog.New(frugal{slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})}),
		Handler:   "sqlite",
		SQLiteURL: "file:" + dir + "/?" + pragmas.Encode(),
	})
	if err != nil {
		return fmt.Errorf("open the database in %s on %s: %w", dir, listen, err)
	}
	return db.Run(ctx)
}

// frugal drops the attributes of derived loggers. FerretDB derives one for each SQL statement, with all documents in
// it, and slog formats them although nothing is logged: more than half of the processor time of inserts.
type frugal struct{ slog.Handler }

func (f frugal) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f frugal) WithGroup(string) slog.Handler      { return f }

// checkLoopback refuses every other address: the server asks nobody for a password.
func checkLoopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("address %q: %w", listen, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("address %q is not on loopback, and this server has no passwords: use 127.0.0.1", listen)
	}
	return nil
}
