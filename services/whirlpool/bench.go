package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// newBench groups the benchmarks. Each prints the command that reproduces it.
func newBench() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine: whole crawl, server, frontier, parser, simhash, ring, search, other crawlers …",
		Long: `Each benchmark measures against the raw limit of the same run, so that its ratios can be compared between
machines, and prints the command that reproduces it.`,
	}
	cmd.AddCommand(
		benchAll(), benchCrawl(), benchOutputs(), benchPlugins(), benchRender(), benchURLSet(), benchFrontier(),
		benchParse(), benchSimhash(), benchServe(), benchCluster(), benchRing(),
		benchRevisit(), benchRevisits(),
		benchTopic(), benchTopicLive(), benchSearch(), benchInduce(),
		benchPostgresClaims(), benchPostgresNear(), benchPostgresRing(), benchPostgresRecovery(), benchPostgresSearch(),
		benchPeers(), benchRaw(),
	)
	return cmd
}

// webReady is the line that `whirlpool fakeweb` prints when it serves.
type webReady struct {
	Port  int      `json:"port"`
	DNS   string   `json:"dns"`
	Seeds []string `json:"seeds"`
	Pages int      `json:"pages"`
}

func benchCrawl() *cobra.Command {
	b := &crawlBench{}
	cmd := &cobra.Command{
		Use:   "crawl",
		Short: "CPU time a page and pages a second of a whole crawl, beside the raw limit",
		Long: `Serves synthetic pages of 30 KB with 40 links from a process of its own, and crawls them twice, each time in a
fresh process: once by the bare minimum (net/http, a tokenizer, a map of seen URLs, nothing stored), once by whirlpool
crawl without delays, everything durable. The figures are those of the operating system for the whole process.`,
	}
	b.accept(cmd, 20_000, b.run)
	cmd.Flags().IntVar(&b.runs, "runs", 3, "pairs of runs; the median is printed last")
	return cmd
}

type crawlBench struct {
	pages, hosts, concurrency, runs int
	dir                             string
	out                             io.Writer
	exe                             string
	web                             webReady
	webPID                          int
}

// accept gives the command of a benchmark its flags, but for runs, and what it runs while the synthetic web is served.
func (b *crawlBench) accept(cmd *cobra.Command, pages int, run func(context.Context) error) {
	cmd.Flags().IntVar(&b.pages, "pages", pages, "pages of the synthetic web")
	cmd.Flags().IntVar(&b.hosts, "hosts", 100, "hosts of the synthetic web")
	cmd.Flags().IntVar(&b.concurrency, "concurrency", 64, "requests at once")
	cmd.Flags().StringVar(&b.dir, "dir", "", "directory for the crawls (default: a temporary one)")
	cmd.Args, cmd.PreRunE = cobra.NoArgs, counts("pages", "hosts", "concurrency", "runs")
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		b.out = cmd.OutOrStdout()
		return b.serving(cmd.Context(), func() error {
			fmt.Fprintf(b.out, "whirlpool bench %s --pages %d --hosts %d --concurrency %d --runs %d   (%d CPUs, %s)\n",
				cmd.Name(), b.pages, b.hosts, b.concurrency, b.runs, runtime.NumCPU(), runtime.Version())
			return run(cmd.Context())
		})
	})
}

// serving calls do while the synthetic web is served and the directory for the crawls is there.
func (b *crawlBench) serving(ctx context.Context, do func() error) (err error) {
	if b.exe, err = os.Executable(); err != nil {
		return err
	}
	return inTemp(b.dir, func(dir string) (err error) {
		b.dir = dir
		stop, err := b.serve(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		return do()
	})
}

// usageOf is what a finished process took.
type usageOf struct {
	cpu, wall time.Duration
	rss       int64 // bytes
	pages     int
}

func (u usageOf) cpuPerPage() float64 { return u.cpu.Seconds() * 1000 / float64(max(u.pages, 1)) }
func (u usageOf) rate() float64       { return float64(u.pages) / u.wall.Seconds() }

func (b *crawlBench) run(ctx context.Context) error {
	fmt.Fprintf(b.out, "%-10s %8s %12s %10s %9s\n", "", "pages", "CPU ms/page", "pages/s", "RSS MB")
	var cpuRatios, rateRatios []float64
	for i := range b.runs {
		raw, err := b.raw(ctx)
		if err != nil {
			return err
		}
		ours, err := b.crawl(ctx, i)
		if err != nil {
			return err
		}
		b.row("raw limit", raw)
		b.row("whirlpool", ours)
		cpuRatios = append(cpuRatios, ours.cpuPerPage()/raw.cpuPerPage())
		rateRatios = append(rateRatios, ours.rate()/raw.rate())
	}
	fmt.Fprintf(b.out, "CPU time a page: %.2f × the raw limit; pages/s: %.2f of it (medians of %d pairs)\n",
		median(cpuRatios), median(rateRatios), b.runs)
	return nil
}

func (b *crawlBench) row(name string, u usageOf) {
	fmt.Fprintf(b.out, "%-10s %8d %12.3f %10.0f %9.0f\n", name, u.pages, u.cpuPerPage(), u.rate(), float64(u.rss)/1e6)
}

// serve starts the synthetic web in a process of its own.
func (b *crawlBench) serve(ctx context.Context) (stop func() error, err error) {
	return b.serveConfig(ctx, fakeweb.Plain(b.hosts, b.pages))
}

// serveConfig starts a synthetic web in a process of its own, with more flags if there are any.
func (b *crawlBench) serveConfig(ctx context.Context, cfg fakeweb.Config,
	more ...string) (stop func() error, err error) {
	web := exec.CommandContext(ctx, b.exe, slices.Concat([]string{"fakeweb", "--stdin"}, fakeweb.Flags(cfg), more)...)
	in, err := web.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := web.StdoutPipe()
	if err != nil {
		return nil, err
	}
	web.Stderr = os.Stderr
	if err := web.Start(); err != nil {
		return nil, fmt.Errorf("synthetic web: %w", err)
	}
	b.webPID = web.Process.Pid
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &b.web)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("synthetic web: %w", err), in.Close(), web.Wait())
	}
	return func() error { return errors.Join(in.Close(), web.Wait()) }, nil
}

// measure runs this program with the arguments and returns what it took.
func (b *crawlBench) measure(ctx context.Context, out io.Writer, args ...string) (usageOf, error) {
	cmd := exec.CommandContext(ctx, b.exe, args...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return usageOf{}, fmt.Errorf("whirlpool %s: %w", args[0], err)
	}
	u := usageOf{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: time.Since(begin)}
	u.rss = system.PeakMemory(cmd.ProcessState)
	return u, nil
}

func (b *crawlBench) raw(ctx context.Context) (usageOf, error) {
	r, w := io.Pipe()
	found := make(chan int, 1)
	go func() {
		var n int
		_, _ = fmt.Fscan(r, &n)
		found <- n
	}()
	args := append([]string{"bench", "raw", "--dns", b.web.DNS, "--concurrency", strconv.Itoa(b.concurrency)},
		b.web.Seeds...)
	u, err := b.measure(ctx, w, args...)
	_ = w.Close()
	u.pages = <-found
	return u, err
}

func (b *crawlBench) crawl(ctx context.Context, i int) (usageOf, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("run-%d", i))
	defer os.RemoveAll(dir)
	u, err := b.measure(ctx, io.Discard, b.crawlArgs(dir)...)
	if err != nil {
		return u, err
	}
	u.pages, err = countLines(filepath.Join(dir, "pages.jsonl"))
	return u, err
}

// crawlArgs are the arguments of a crawl of the synthetic web without delays.
func (b *crawlBench) crawlArgs(dir string) []string {
	return append([]string{"crawl", "-o", dir, "--quiet", "--allow-private", "--delay", "0s", "--dns", b.web.DNS,
		"--scope", "any", "--max-pages", "0", "--ignore-robots", "--no-sitemaps", "--host-connections",
		strconv.Itoa(b.concurrency), "--contact", "bench@whirlpool.invalid", "--concurrency", strconv.Itoa(b.concurrency)},
		b.web.Seeds...)
}

func countLines(file string) (n int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for {
		m, err := f.Read(buf)
		for _, c := range buf[:m] {
			if c == '\n' {
				n++
			}
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
