package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

func benchCluster() *cobra.Command {
	b := &clusterBench{}
	var oneProcess bool
	cmd := &cobra.Command{
		Use:   "cluster --cluster[=FILE]",
		Short: "Pages a second of a node over the real services, and who takes the CPU time",
		Long: `Serves synthetic pages of 30 KB with 40 links from a process of its own, starts the programs of a node (those
that lie beside this one), gives them a job, and measures until every page has its outcome: pages a second, and the CPU
time a page of our programs and of each service on this machine (Linux). Then it crawls the same web with whirlpool
crawl. The services must run already, prepared by "whirlpool setup", and be used by nobody else. The database keeps the
job.`,
		Args:    cobra.NoArgs,
		PreRunE: counts("pages", "hosts"),
	}
	ref := clusterFlag(cmd)
	cmd.Flags().IntVar(&b.pages, "pages", 10_000, "pages of the synthetic web")
	cmd.Flags().IntVar(&b.hosts, "hosts", 100, "hosts of the synthetic web")
	cmd.Flags().StringVar(&b.profiles, "profile", "", "directory for a CPU profile of 15 s of each program")
	cmd.Flags().BoolVar(&oneProcess, "one-process", false, "run all stages in one process: whirlpool node")
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		if !ref.asked() {
			return usage("bench cluster needs --cluster: the services of a node that nobody else uses")
		}
		b.out = cmd.OutOrStdout()
		b.programs = []string{"whirlpool"}
		if !oneProcess {
			b.programs = nil
			for _, r := range node.Roles() {
				b.programs = append(b.programs, string(r))
			}
		}
		return b.serving(cmd.Context(), func() error { return b.run(cmd.Context(), ref) })
	})
	return cmd
}

type clusterBench struct {
	crawlBench
	programs []string
	profiles string // directory; empty: none
	children map[string]*child
}

// child is a program of ours that the benchmark started.
type child struct {
	cmd     *exec.Cmd
	metrics string // address
	pprof   string // address; empty: none
}

func (b *clusterBench) run(ctx context.Context, ref *clusterRef) (err error) {
	c, err := ref.open(ctx)
	if err != nil {
		return err
	}
	defer shut(c)
	file, err := os.CreateTemp("", "whirlpool-bench-*.log")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := b.startPrograms(ctx, ref, file); err != nil {
		return errors.Join(err, b.stopPrograms())
	}
	own, err := b.measureJob(ctx, c)
	if err = errors.Join(err, b.stopPrograms()); err != nil {
		return err
	}
	return b.compare(ctx, own)
}

// compare crawls the same web with whirlpool crawl. Own is the CPU time a page of the node's programs, in ms.
func (b *clusterBench) compare(ctx context.Context, own float64) error {
	b.concurrency = 64
	alone, err := b.crawl(ctx, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.out, "whirlpool crawl, same pages: %.3f CPU ms/page, %.0f pages/s; our programs: %.2f × its "+
		"CPU time\n", alone.cpuPerPage(),
		alone.rate(), own/alone.cpuPerPage())
	return err
}

// startPrograms starts the programs with the configuration of ref, for pages on loopback.
func (b *clusterBench) startPrograms(ctx context.Context, ref *clusterRef, log *os.File) error {
	b.children = map[string]*child{}
	for _, name := range b.programs {
		exe, args := filepath.Join(filepath.Dir(b.exe), name), []string(nil)
		if name == "whirlpool" {
			exe, args = b.exe, []string{"node"}
		}
		if ref.file != clusterFromEnvironment {
			args = append(args, "--config", ref.file)
		}
		listen, err := freeAddress(ctx)
		if err != nil {
			return err
		}
		k := &child{cmd: exec.CommandContext(ctx, exe, args...), metrics: listen}
		k.cmd.Env = append(os.Environ(), "WHIRLPOOL_FETCH_ALLOW_PRIVATE=true", "WHIRLPOOL_FETCH_DNS="+b.web.DNS,
			"WHIRLPOOL_HTTP_LISTEN="+listen, "WHIRLPOOL_LOG_LEVEL=warn",
			"WHIRLPOOL_DISK_SPOOL="+filepath.Join(b.dir, "spool"))
		if b.profiles != "" {
			if k.pprof, err = freeAddress(ctx); err != nil {
				return err
			}
		}
		k.cmd.Env = append(k.cmd.Env, "WHIRLPOOL_PPROF_LISTEN="+k.pprof)
		k.cmd.Stdout, k.cmd.Stderr = log, log
		k.cmd.Cancel = func() error { return system.Terminate(k.cmd.Process) }
		if err := k.cmd.Start(); err != nil {
			return fmt.Errorf("start %s: %w; build all programs with make build and run the one beside them", name, err)
		}
		b.children[name] = k
	}
	return b.awaitReady(ctx, log.Name())
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// awaitReady waits until every program says that it is ready.
func (b *clusterBench) awaitReady(ctx context.Context, log string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for name, k := range b.children {
		for fetchInto(ctx, io.Discard, "http://"+k.metrics+"/readyz") != nil {

			select {
			case <-ctx.Done():
				return fmt.Errorf("%s is not ready after a minute: see %s", name, log)
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

func (b *clusterBench) stopPrograms() error {
	var errs []error
	for name, k := range b.children {
		_ = system.Terminate(k.cmd.Process)
		if err := k.cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// measureJob seeds a job over the synthetic web and measures until every URL has its outcome.
// It returns the CPU time a page of our programs, in ms.
func (b *clusterBench) measureJob(ctx context.Context, c *cluster.Cluster) (own float64, err error) {
	job := crawl.DefaultJob()
	job.ID = crawl.JobID("bench-" + strconv.FormatInt(time.Now().Unix(), 10))
	job.Seeds, job.Scope, job.MaxPages, job.IgnoreRobots, job.Sitemaps = b.web.Seeds, crawl.ScopeAny, 0, true, false
	job.Politeness.Delay, job.Politeness.HostConnections = 0, 64
	if err := c.Postgres.Jobs().Put(ctx, &job); err != nil {
		return 0, err
	}
	before, err := b.cpuTimes()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if _, err := node.Seed(ctx, c.Bus, c.Postgres.URLs(), c.Postgres.Hosts(), &job); err != nil {
		return 0, err
	}
	profiled := b.profile(ctx)
	pages, err := b.untilDone(ctx, c, job.ID)
	took := time.Since(begin)
	after, cpuErr := b.cpuTimes()
	if err = errors.Join(err, cpuErr, profiled()); err != nil { // a profile may take longer than the job
		return 0, err
	}
	return b.report(pages, took, before, after), b.reportMessages(ctx, pages)
}

// profile asks every program for a CPU profile of the next seconds, where profiles are wanted. What it returns waits
// for them.
func (b *clusterBench) profile(ctx context.Context) (wait func() error) {
	g, ctx := errgroup.WithContext(ctx)
	for name, k := range b.children {
		if k.pprof == "" {
			continue
		}
		g.Go(func() error {
			file, err := os.Create(filepath.Join(b.profiles, name+".pprof"))
			if err != nil {
				return err
			}
			defer file.Close()
			return fetchInto(ctx, file, "http://"+k.pprof+"/debug/pprof/profile?seconds=15")
		})
	}
	return g.Wait
}

func fetchInto(ctx context.Context, w io.Writer, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	_, err = io.Copy(w, resp.Body)
	return err
}

// untilDone waits until no claimed URL is without outcome and no message is under way, for ten minutes at most.
func (b *clusterBench) untilDone(ctx context.Context, c *cluster.Cluster, job crawl.JobID) (pages int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	wasQuiet := false
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		tally, err := c.Postgres.URLs().Tally(ctx, job)
		if err != nil {
			return 0, err
		}
		open := tally.Claimed
		for _, n := range tally.Verdicts {
			open -= n
		}
		if open == 0 && tally.Claimed > 0 && wasQuiet {
			tick.Stop()
			return tally.Pages, nil
		}
		wasQuiet = open == 0 && tally.Claimed > 0 && c.Bus.Quiet(ctx, node.Topics()...) == nil
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("job %s has %d URLs without outcome: %w", job, open, ctx.Err())
		case <-tick.C:
		}
	}
}

func (b *clusterBench) report(pages int64, took time.Duration, before, after map[string]time.Duration) (own float64) {
	fmt.Fprintf(b.out, "whirlpool bench cluster --pages %d --hosts %d   (%d CPUs, %s)\n", b.pages, b.hosts,
		runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(b.out, "%d pages in %.1f s: %.0f pages/s\nCPU ms/page\n", pages, took.Seconds(),
		float64(pages)/took.Seconds())
	all := 0.0
	for _, name := range slices.Sorted(maps.Keys(after)) {
		each := (after[name] - before[name]).Seconds() * 1000 / float64(max(pages, 1))
		fmt.Fprintf(b.out, "  %-20s %8.3f\n", name, each)
		all += each
		if b.children[name] != nil {
			own += each
		}
	}
	fmt.Fprintf(b.out, "  %-20s %8.3f\n", "all of these", all)
	fmt.Fprintf(b.out, "  %-20s %8.3f\n", "our programs", own)
	return own
}

// reportMessages writes how many messages a page each stage handled.
func (b *clusterBench) reportMessages(ctx context.Context, pages int64) error {
	fmt.Fprintln(b.out, "messages/page")
	for _, name := range slices.Sorted(maps.Keys(b.children)) {
		var metrics bytes.Buffer
		if err := fetchInto(ctx, &metrics, "http://"+b.children[name].metrics+"/metrics"); err != nil {
			return fmt.Errorf("metrics of %s: %w", name, err)
		}
		err := stageCounts(&metrics, func(stage string, n float64) {
			fmt.Fprintf(b.out, "  %-20s %8.3f\n", stage, n/float64(max(pages, 1)))
		})
		if err != nil {
			return fmt.Errorf("metrics of %s: %w", name, err)
		}
	}
	return nil
}

// stageCounts reads the messages that stages handled out of a page of metrics.
func stageCounts(r io.Reader, yield func(stage string, n float64)) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), `whirlpool_stage_messages_in_total{stage="`)
		if !ok {
			continue
		}
		stage, value, _ := strings.Cut(rest, `"} `)
		if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 {
			yield(stage, n)
		}
	}
	return lines.Err()
}
