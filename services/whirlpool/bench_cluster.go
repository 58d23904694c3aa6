package main

import (
	"bufio"
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
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

func benchCluster() *cobra.Command {
	b := &clusterBench{}
	var oneProcess bool
	cmd := &cobra.Command{
		Use:   "cluster --cluster[=FILE]",
		Short: "Pages a second of a node over the real services, and who takes the CPU time",
		Long: `Serves synthetic pages of 30 KB with 40 links from a process of its own, starts the seven programs of a node (those that lie
beside this one), gives them a job, and measures until every page has its outcome: pages a second, and the CPU time a page of our
programs and of each service on this machine (Linux). The services must run already, prepared by "whirlpool setup", and be used by
nobody else. The database keeps the job.`,
		Args: cobra.NoArgs,
	}
	ref := clusterFlag(cmd)
	cmd.Flags().IntVar(&b.pages, "pages", 10_000, "pages of the synthetic web")
	cmd.Flags().IntVar(&b.hosts, "hosts", 100, "hosts of the synthetic web")
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
		return b.run(cmd.Context(), ref)
	})
	return cmd
}

type clusterBench struct {
	crawlBench
	programs []string
	children map[string]*child
}

// child is a program of ours that the benchmark started.
type child struct {
	cmd     *exec.Cmd
	metrics string // address
}

func (b *clusterBench) run(ctx context.Context, ref *clusterRef) (err error) {
	if b.exe, err = os.Executable(); err != nil {
		return err
	}
	c, err := ref.open(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	stop, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	file, err := os.CreateTemp("", "whirlpool-bench-*.log")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := b.startPrograms(ctx, ref, file); err != nil {
		return errors.Join(err, b.stopPrograms())
	}
	err = b.measureJob(ctx, c)
	return errors.Join(err, b.stopPrograms())
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
		listen, err := freeAddress()
		if err != nil {
			return err
		}
		k := &child{cmd: exec.CommandContext(ctx, exe, args...), metrics: listen}
		k.cmd.Env = append(os.Environ(), "WHIRLPOOL_FETCH_ALLOW_PRIVATE=true", "WHIRLPOOL_FETCH_DNS="+b.web.DNS,
			"WHIRLPOOL_HTTP_LISTEN="+listen, "WHIRLPOOL_LOG_LEVEL=warn")
		if len(b.programs) > 1 { // they cannot share an address
			k.cmd.Env = append(k.cmd.Env, "WHIRLPOOL_PPROF_LISTEN=")
		}
		k.cmd.Stdout, k.cmd.Stderr = log, log
		k.cmd.Cancel = func() error { return k.cmd.Process.Signal(syscall.SIGTERM) }
		if err := k.cmd.Start(); err != nil {
			return fmt.Errorf("start %s: %w; build all programs with make build and run the one beside them", name, err)
		}
		b.children[name] = k
	}
	return b.awaitReady(ctx, log.Name())
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
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
		for {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+k.metrics+"/readyz", nil)
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					break
				}
			}
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
		_ = k.cmd.Process.Signal(syscall.SIGTERM)
		if err := k.cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// measureJob seeds a job over the synthetic web and measures until every URL has its outcome.
func (b *clusterBench) measureJob(ctx context.Context, c *cluster) error {
	job := crawl.DefaultJob()
	job.ID = crawl.JobID("bench-" + strconv.FormatInt(time.Now().Unix(), 10))
	job.Seeds, job.Scope, job.MaxPages, job.IgnoreRobots, job.Sitemaps = b.web.Seeds, crawl.ScopeAny, 0, true, false
	job.Politeness.Delay, job.Politeness.HostConnections = 0, 64
	if err := c.postgres.Jobs().Put(ctx, &job); err != nil {
		return err
	}
	before, err := b.cpuTimes()
	if err != nil {
		return err
	}
	begin := time.Now()
	if _, err := node.Seed(ctx, c.bus, c.postgres.URLs(), &job); err != nil {
		return err
	}
	pages, err := b.untilDone(ctx, c, job.ID)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	after, err := b.cpuTimes()
	if err != nil {
		return err
	}
	b.report(pages, took, before, after)
	return b.reportMessages(ctx, pages)
}

// untilDone waits until no claimed URL is without outcome and no message is under way, for ten minutes at most.
func (b *clusterBench) untilDone(ctx context.Context, c *cluster, job crawl.JobID) (pages int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	wasQuiet := false
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		tally, err := c.postgres.URLs().Tally(ctx, job)
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
		wasQuiet = open == 0 && tally.Claimed > 0 && c.bus.Quiet(ctx, node.Topics()...) == nil
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("job %s has %d URLs without outcome: %w", job, open, ctx.Err())
		case <-tick.C:
		}
	}
}

// services are the names under which the processes of the services run.
var services = map[string]string{"beam.smp": "rabbitmq", "postgres": "postgresql", "ferretdb": "mongodb (stand-in)", "mongod": "mongodb",
	"memcached": "memcached"}

// cpuTimes returns the CPU time so far of our programs and of the services on this machine, by name.
func (b *clusterBench) cpuTimes() (map[string]time.Duration, error) {
	out := map[string]time.Duration{}
	ours := map[int]string{os.Getpid(): "benchmark"}
	for name, k := range b.children {
		ours[k.cmd.Process.Pid] = name
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return nil, errors.Join(err, errors.New("bench cluster reads CPU times from /proc: it needs Linux"))
	}
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		comm, cpu, ok := parseStat(string(data))
		if !ok {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if name := ours[pid]; name != "" {
			out[name] += cpu
		} else if name := services[comm]; name != "" {
			out[name] += cpu
		}
	}
	return out, nil
}

// parseStat reads the command and the CPU time, its ended children's included, out of proc(5)'s stat. A tick is 10 ms.
func parseStat(line string) (comm string, cpu time.Duration, ok bool) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return "", 0, false
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < 15 {
		return "", 0, false
	}
	for _, f := range fields[11:15] {
		ticks, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return "", 0, false
		}
		cpu += time.Duration(ticks) * 10 * time.Millisecond
	}
	return line[open+1 : end], cpu, true
}

func (b *clusterBench) report(pages int64, took time.Duration, before, after map[string]time.Duration) {
	fmt.Fprintf(b.out, "whirlpool bench cluster --pages %d --hosts %d   (%d CPUs, %s)\n", b.pages, b.hosts, runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(b.out, "%d pages in %.1f s: %.0f pages/s\nCPU ms/page\n", pages, took.Seconds(), float64(pages)/took.Seconds())
	own := 0.0
	for _, name := range slices.Sorted(maps.Keys(after)) {
		each := (after[name] - before[name]).Seconds() * 1000 / float64(max(pages, 1))
		fmt.Fprintf(b.out, "  %-20s %8.3f\n", name, each)
		if b.children[name] != nil {
			own += each
		}
	}
	fmt.Fprintf(b.out, "  %-20s %8.3f\n", "our programs", own)
}

// reportMessages writes how many messages a page each stage handled.
func (b *clusterBench) reportMessages(ctx context.Context, pages int64) error {
	fmt.Fprintln(b.out, "messages/page")
	for _, name := range slices.Sorted(maps.Keys(b.children)) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.children[name].metrics+"/metrics", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return fmt.Errorf("metrics of %s: %w", name, err)
		}
		err = stageCounts(resp.Body, func(stage string, n float64) {
			fmt.Fprintf(b.out, "  %-20s %8.3f\n", stage, n/float64(max(pages, 1)))
		})
		if err = errors.Join(err, resp.Body.Close()); err != nil {
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
