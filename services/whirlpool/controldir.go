package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// dirFlag declares the flag that names a crawl's directory.
func dirFlag(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVarP(out, "out", "o", "", "directory of the crawl (default: the only crawl-* directory here)")
	_ = cmd.MarkFlagDirname("out") // it was declared a line above
}

// crawlDir returns the directory of a crawl: the one that was named or, with none, the only one at hand.
func crawlDir(named string) (string, error) {
	if named != "" {
		if holdsCrawl(named) {
			return named, nil
		}
		return "", fmt.Errorf("%s holds no crawl (there is no %s): name the directory that `whirlpool crawl` wrote to, its -o or "+
			"./crawl-<host>", named, filepath.Join(named, "state", "format"))
	}
	found, err := filepath.Glob("crawl-*")
	if err != nil {
		return "", err
	}
	var dirs []string
	for _, d := range append([]string{"."}, found...) {
		if holdsCrawl(d) {
			dirs = append(dirs, d)
		}
	}
	switch len(dirs) {
	case 1:
		return dirs[0], nil
	case 0:
		return "", usage("name the directory of the crawl with -o: there is none here")
	}
	return "", usage("name the directory of the crawl with -o: there are %d here, %s", len(dirs), strings.Join(dirs, " "))
}

func holdsCrawl(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "state", "format"))
	return err == nil && info.Mode().IsRegular()
}

// directory is a crawl's directory in use by a command: through the process that runs the crawl, or by itself.
type directory struct {
	report.View
	dir   string
	store *local.Store // nil: the crawl runs
	job   *crawl.Job   // nil: the crawl runs
}

// running reports whether another process runs the crawl.
func (d *directory) running() bool { return d.store == nil }

func (d *directory) Close() error {
	if d.store == nil {
		return nil
	}
	return d.store.Close()
}

// A crawl has its lock for a moment before it has its socket, and other commands have it too, briefly.
const (
	lockPatience = 5 * time.Second
	lockEvery    = 50 * time.Millisecond
)

// openDirectory reaches the crawl in dir.
func openDirectory(ctx context.Context, named string) (*directory, error) {
	dir, err := crawlDir(named)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(lockPatience); ; {
		client, err := report.Dial(ctx, dir)
		if err == nil {
			return &directory{View: client, dir: dir}, nil
		}
		if !errors.Is(err, report.ErrNotRunning) {
			return nil, err
		}
		store, err := local.Open(dir, local.Default())
		if err == nil {
			return openStopped(ctx, dir, store)
		}
		if !locked(err) || time.Now().After(deadline) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockEvery):
		}
	}
}

func locked(err error) bool { return errors.Is(err, syscall.EAGAIN) }

func openStopped(ctx context.Context, dir string, store *local.Store) (*directory, error) {
	d := &directory{dir: dir, store: store}
	job, found, err := node.StoredJob(ctx, store)
	if err == nil && !found {
		err = fmt.Errorf("%s holds a crawl that never began: start it with `whirlpool crawl`", dir)
	}
	if err == nil {
		d.job = job
		d.View, err = report.New(sources(store, job, dir))
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return d, nil
}

// sources are what a crawl on this machine is inspected through.
func sources(s *local.Store, job *crawl.Job, dir string) report.Sources {
	return report.Sources{Dir: dir, Job: job, Jobs: s.Jobs(), Left: s.URLs(), Ledger: s.URLs(), Hosts: s.Hosts(), Robots: s.Hosts(), Log: s.AttemptLog(), Queues: s.Queues(),
		Pages: s.Pages(), Journal: s.Journal(), Dead: s.DeadLetters(), Auditor: s}
}

// withDirectory runs a command over a crawl's directory.
func withDirectory(out *string, run func(cmd *cobra.Command, args []string, d *directory) error) func(*cobra.Command, []string) error {
	return failing(func(cmd *cobra.Command, args []string) (err error) {
		d, err := openDirectory(cmd.Context(), *out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		return run(cmd, args, d)
	})
}
