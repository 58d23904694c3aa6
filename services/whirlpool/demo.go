package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

func newDemo() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Crawl a built-in synthetic web, without any network",
		Long: `Demo serves a small synthetic web on loopback addresses of this machine (hosts with robots.txt, redirects,
copies, slow and failing servers) and crawls it, with the same view as a real crawl.`,
		Args: cobra.NoArgs,
	}
	out := cmd.Flags().StringP("out", "o", "", "directory of the crawl (default: a temporary one, removed at the end)")
	var living livingDemo
	living.register(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		if living.on {
			return living.run(cmd.Context(), *out, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}
		return runDemo(cmd, *out)
	})
	return cmd
}

func runDemo(cmd *cobra.Command, out string) (err error) {
	cfg := fakeweb.Default()
	cfg.CrawlDelay = 200 * time.Millisecond
	srv, err := fakeweb.Serve(context.WithoutCancel(cmd.Context()), fakeweb.New(cfg), fakeweb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	temporary := out == ""
	if temporary {
		tmp, err := os.MkdirTemp("", "whirlpool-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		out = filepath.Join(tmp, "crawl")
	}
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.Contact = "demo", srv.Web().Seeds(), crawl.ScopeAny, "demo@whirlpool.invalid"
	job.PagesPerHost = 500 // one host is a trap without end
	job.Politeness.Delay = crawl.Duration(20 * time.Millisecond)
	job.Retry.Base, job.Retry.SlowMin = crawl.Duration(200*time.Millisecond), crawl.Duration(200*time.Millisecond)
	f := &crawlFlags{out: out, dns: srv.DNSAddr(), allowPrivate: true, concurrency: 64, temporary: temporary}
	fmt.Fprintf(cmd.ErrOrStderr(), "a synthetic web of %d hosts on this machine, 20 ms between requests to a host\n",
		cfg.Hosts)
	return f.run(cmd.Context(), &job, cmd.OutOrStdout(), cmd.ErrOrStderr())
}

func newFakeweb() *cobra.Command {
	return &cobra.Command{
		Use: "fakeweb", Short: "Serve a synthetic web on loopback, for tests and benchmarks", Hidden: true,
		DisableFlagParsing: true,
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			ctx, stop := signals(cmd.Context(), func() {}, func() {})
			defer stop()
			err := fakeweb.Main(ctx, args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}),
	}
}
