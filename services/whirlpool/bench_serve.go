package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
)

// serveBench measures `whirlpool serve` over a large data directory, beside a running crawl.
type serveBench struct {
	dir, cores       string
	pages, hosts     int
	small            int // executions of a few pages
	asks, pairs      int
	window, settling int // seconds
	out              io.Writer

	exe string
	web webReady
}

// serveParts are what it can measure, in this order.
var serveParts = []string{"data", "start", "idle", "pages", "studio"}

func benchServe() *cobra.Command {
	b := &serveBench{}
	cmd := &cobra.Command{
		Use: "serve [PART...]",
		Short: "Answers of whirlpool serve over a large data directory beside a running crawl, and what an open studio " +
			"costs it",
		Long: `Makes a data directory by crawling a synthetic web through whirlpool serve, and measures a server on it, in
parts:

  data    makes what is missing of the directory: two executions of --pages URLs of which a tenth are fetched, and
          --executions small ones. A directory that was kept is used again.
  start   how long a start takes until the first answer
  idle    memory and open files of a server on the directory that crawls nothing
  pages   how long each request takes that the pages of the studio make, while a crawl without delays runs
  studio  what an open studio costs a crawl: windows with and without it, in turn, of one crawl

Without parts it measures all. --cores pins the server, not the synthetic web or the reader, by taskset(1). Linux only.`,
		ValidArgs: serveParts,
		Args:      cobra.OnlyValidArgs,
		PreRunE:   counts("pages", "hosts", "executions", "asks", "pairs", "window"),
		RunE: failing(func(cmd *cobra.Command, parts []string) error {
			b.out = cmd.OutOrStdout()
			return b.run(cmd.Context(), parts)
		}),
	}
	fl := cmd.Flags()
	fl.StringVar(&b.dir, "dir", "", "data directory, kept and used again (default: a temporary one)")
	fl.StringVar(&b.cores, "cores", "", "processors of the server, as in 2,3 (default: all)")
	fl.IntVar(&b.pages, "pages", 1_000_000, "pages of the synthetic web")
	fl.IntVar(&b.hosts, "hosts", 5_000, "hosts of the synthetic web")
	fl.IntVar(&b.small, "executions", 200, "executions of a few pages, besides")
	fl.IntVar(&b.asks, "asks", 60, "times that each request is made")
	fl.IntVar(&b.pairs, "pairs", 8, "pairs of windows with and without a studio")
	fl.IntVar(&b.window, "window", 20, "seconds of a window")
	fl.IntVar(&b.settling, "settling", 4, "seconds before a window that do not count")
	return cmd
}

func (b *serveBench) run(ctx context.Context, parts []string) (err error) {
	if b.exe, err = os.Executable(); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "whirlpool bench serve %s --pages %d --hosts %d --executions %d --asks %d --pairs %d --window %d "+
		"--cores %q   (%d CPUs, %s)\n",
		strings.Join(parts, " "), b.pages, b.hosts, b.small, b.asks, b.pairs, b.window, b.cores, runtime.NumCPU(),
		runtime.Version())
	return inTemp(b.dir, func(dir string) error {
		b.dir = dir
		return b.parts(ctx, parts)
	})
}

func (b *serveBench) parts(ctx context.Context, parts []string) (err error) {
	stop, err := b.serveWeb(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	measures := map[string]func(context.Context) error{"data": b.data, "start": b.start, "idle": b.idle,
		"pages": b.answers, "studio": b.studio}
	for _, part := range serveParts {
		if part != "data" && len(parts) > 0 && !slices.Contains(parts, part) {
			continue
		}
		if err := measures[part](ctx); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

// serveWeb starts the synthetic web: hosts of different sizes, copies, pages that are gone and pages that change.
func (b *serveBench) serveWeb(ctx context.Context) (func() error, error) {
	web := &crawlBench{exe: b.exe}
	stop, err := web.serveConfig(ctx, webOfServe(b.hosts, b.pages))
	b.web = web.web
	return stop, err
}

// with runs a server on the directory while do runs.
func (b *serveBench) with(ctx context.Context, do func(*servedChild, *client.Client) error) (err error) {
	s, err := b.startServer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	return do(s, s.client)
}
