package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/html"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/contentseenbench"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/frontierbench"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/localbench"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// count is a number of things that also reads as 1e7.
type count int64

// String implements pflag.Value.
func (c *count) String() string { return strconv.FormatInt(int64(*c), 10) }

// Set implements pflag.Value.
func (c *count) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 1 || v > 1e12 {
		return fmt.Errorf("count %q: want a number such as 20000 or 1e7", s)
	}
	*c = count(v)
	return nil
}

// Type implements pflag.Value.
func (*count) Type() string { return "count" }

// inTemp runs a benchmark in a temporary directory, or in dir if it is named.
func inTemp(dir string, run func(dir string) error) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "whirlpool-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	return run(dir)
}

func benchURLSet() *cobra.Command {
	n, dir := count(1e6), ""
	cmd := &cobra.Command{
		Use: "urlset", Short: "Claims a second and memory of the set of known URLs", Args: cobra.NoArgs,
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			return inTemp(dir, func(dir string) error {
				return localbench.URLSet(cmd.Context(), dir, int64(n), cmd.OutOrStdout())
			})
		}),
	}
	cmd.Flags().Var(&n, "n", "URLs to claim")
	cmd.Flags().StringVar(&dir, "dir", "", "directory for the store (default: a temporary one)")
	return cmd
}

func benchFrontier() *cobra.Command {
	urls, hosts, dir := count(1e6), count(1e5), ""
	cmd := &cobra.Command{
		Use: "frontier", Short: "Leases and outcomes a second, and memory, of the frontier over the local store",
		Args: cobra.NoArgs, RunE: failing(func(cmd *cobra.Command, _ []string) error {
			return inTemp(dir, func(dir string) error {
				return frontierbench.Run(cmd.Context(), dir, int(urls), int(hosts), cmd.OutOrStdout())
			})
		}),
	}
	cmd.Flags().Var(&urls, "urls", "URLs to queue")
	cmd.Flags().Var(&hosts, "hosts", "hosts they belong to")
	cmd.Flags().StringVar(&dir, "dir", "", "directory for the store (default: a temporary one)")
	return cmd
}

func benchSimhash() *cobra.Command {
	return &cobra.Command{
		Use:   "simhash [FILE...]",
		Short: "Simhash MB/s, look-up time of near-duplicates, and how many edited pages are recognised",
		Long:  `Without files it measures on generated texts; with HTML or text files, on those.`,
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			return contentseenbench.Run(cmd.OutOrStdout(), args...)
		}),
	}
}

func benchParse() *cobra.Command {
	return &cobra.Command{
		Use:   "parse [FILE...]",
		Short: "MB/s of the parser beside the bare tokenizer of x/net/html, on the same pages",
		Long:  `Without files it measures on synthetic pages of 30 KB with 40 links; with HTML files, on those.`,
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			pages, err := benchPages(args)
			if err != nil {
				return err
			}
			return runBenchParse(cmd.OutOrStdout(), pages)
		}),
	}
}

func benchPages(files []string) (pages [][]byte, err error) {
	for _, f := range files {
		page, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	if len(files) > 0 {
		return pages, nil
	}
	web := fakeweb.New(fakeweb.Plain(4, 200)).WithPort(80)
	for p := range web.Pages {
		r, err := web.Get(nil, p.URL, 0, 0)
		if err != nil {
			return nil, err
		}
		pages = append(pages, r.Body)
	}
	return pages, nil
}

// runBenchParse measures both in turn, so that a drift of the machine's speed meets both.
func runBenchParse(w io.Writer, pages [][]byte) error {
	base, err := weburl.Parse("http://www.example.com/section/page.html")
	if err != nil {
		return err
	}
	size := 0
	for _, p := range pages {
		size += len(p)
	}
	var ours, bare []float64
	for range 5 {
		bare = append(bare, timed(pages, func(p []byte) {
			for z := html.NewTokenizer(bytes.NewReader(p)); z.Next() != html.ErrorToken; {
				for _, more := z.TagName(); more; {
					_, _, more = z.TagAttr()
				}
			}
		}))
		ours = append(ours, timed(pages, func(p []byte) { parser.HTML(p, "text/html", base, parser.DefaultOptions()) }))
	}
	mb := float64(size) / 1e6
	fmt.Fprintf(w, "whirlpool bench parse   (%d pages, %.1f MB; medians of 5)\n", len(pages), mb)
	fmt.Fprintf(w, "%-34s %7.0f MB/s\n", "bare tokenizer (x/net/html)", mb/median(bare))
	fmt.Fprintf(w, "%-34s %7.0f MB/s   %.2f × the tokenizer's time\n", "parse.HTML: links, title, text, …",
		mb/median(ours), median(ours)/median(bare))
	return nil
}

// timed returns the seconds that f takes over all pages, once.
func timed(pages [][]byte, f func([]byte)) float64 {
	begin := time.Now()
	for _, p := range pages {
		f(p)
	}
	return time.Since(begin).Seconds()
}

func benchAll() *cobra.Command {
	return &cobra.Command{
		Use: "all", Short: "All of them, at sizes that take a few minutes", Args: cobra.NoArgs,
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			for _, run := range []func(context.Context) error{
				func(ctx context.Context) error {
					return (&crawlBench{pages: 20_000, hosts: 100, concurrency: 64, runs: 3, out: w}).run(ctx)
				},
				func(context.Context) error {
					pages, err := benchPages(nil)
					return errors.Join(err, runBenchParse(w, pages))
				},
				func(context.Context) error { return contentseenbench.Run(w) }, //nolint:contextcheck // a measurement, ended by its signal
				func(ctx context.Context) error {
					return inTemp("", func(dir string) error { return localbench.URLSet(ctx, dir, 1e7, w) })
				},
				func(ctx context.Context) error {
					return inTemp("", func(dir string) error { return frontierbench.Run(ctx, dir, 1e6, 1e5, w) })
				},
			} {
				if err := run(cmd.Context()); err != nil {
					return err
				}
				fmt.Fprintln(w)
			}
			return nil
		}),
	}
}
