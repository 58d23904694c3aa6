package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/spa"
)

func benchRender() *cobra.Command {
	b := &renderBench{}
	cmd := &cobra.Command{
		Use:   "render",
		Short: "Pages rendered, links found only so and CPU time of each mode, over applications built from npm beside plain sites",
		Long: `Builds six applications (React, Vue, Svelte, Angular, Lit and none) with Node and npm, serves them on loopback beside 20 plain sites, and crawls all
of it with --render auto, always and never. A page is rendered if it went through the browser to the end. CPU time is that of the crawl's process
and of the processes that rendered pages, as the operating system counts it.`,
		Args: cobra.NoArgs,
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			b.out = cmd.OutOrStdout()
			return b.run(cmd.Context())
		}),
	}
	cmd.Flags().DurationVar(&b.delay, "delay", 20*time.Millisecond, "delay of a host")
	return cmd
}

type renderBench struct {
	out   io.Writer
	delay time.Duration
}

// renderFigures are what a crawl came to.
type renderFigures struct {
	pages, rendered, links, found, plain int
	crawler, browser                     time.Duration
}

func (b *renderBench) run(ctx context.Context) error {
	built, err := spa.Build(ctx)
	if err != nil {
		return err
	}
	web, err := spa.New(built)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: web, ReadHeaderTimeout: time.Minute}
	defer srv.Close()
	go func() { _ = srv.Serve(listener) }()
	_, web.Port, _ = net.SplitHostPort(listener.Addr().String())
	fmt.Fprintf(b.out, "whirlpool bench render --delay %s   (%d CPUs, %s)\n", b.delay, runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(b.out, "%-8s %7s %18s %16s %22s %12s %12s\n", "mode", "pages", "rendered", "of plain sites", "links of applications", "crawler CPU", "browser CPU")
	for _, mode := range []crawl.RenderMode{crawl.RenderAuto, crawl.RenderAlways, crawl.RenderNever} {
		f, err := b.crawl(ctx, web, mode)
		if err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
		fmt.Fprintf(b.out, "%-8s %7d %9d (%4.1f %%) %16d %14d of %-4d %11.1fs %11.1fs\n", mode, f.pages, f.rendered,
			100*float64(f.rendered)/float64(max(f.pages, 1)), f.plain, f.found, f.links, f.crawler.Seconds(), f.browser.Seconds())
	}
	return nil
}

// crawl crawls the web in a process of its own.
func (b *renderBench) crawl(ctx context.Context, web *spa.Web, mode crawl.RenderMode) (f renderFigures, err error) {
	dir, err := os.MkdirTemp("", "whirlpool-bench-render-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		return f, err
	}
	out := filepath.Join(dir, "out")
	args := []string{"crawl", "-o", out, "--quiet", "--allow-private", "--scope", "host", "--max-pages", "0", "--delay", b.delay.String(),
		"--ip-delay", "0s", "--render", string(mode)}
	for _, host := range append(web.Hosts(), "stats.test") {
		args = append(args, "--resolve", host+":"+web.Port+":127.0.0.1")
	}
	cmd := exec.CommandContext(ctx, exe, append(args, web.Seeds()...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return f, fmt.Errorf("%w: %s", err, text)
	}
	f.crawler = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	data, err := os.ReadFile(filepath.Join(out, "pages.jsonl"))
	if err != nil {
		return f, err
	}
	return f, f.count(data, web)
}

// count reads the records of a crawl.
func (f *renderFigures) count(data []byte, web *spa.Web) error {
	pages := map[string]bool{}
	for line := range bytes.Lines(data) {
		if jsonl.IsReplaced(line) {
			continue
		}
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			return err
		}
		pages[r.URL.String()] = true
		if r.Rendered == nil {
			continue
		}
		f.rendered++
		f.browser += r.Rendered.CPU
		if strings.HasPrefix(r.URL.Hostname(), "plain") {
			f.plain++
		}
	}
	f.pages = len(pages)
	for _, name := range spa.Names {
		links := web.Links(name)
		f.links += len(links)
		for _, u := range links {
			if pages[u] {
				f.found++
			}
		}
	}
	return nil
}
