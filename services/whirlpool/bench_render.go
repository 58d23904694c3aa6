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
	"path"
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
		Use: "render",
		Short: "Pages rendered, links found only so and CPU time of each mode, over applications built from npm beside " +
			"plain sites",
		Long: `Builds six applications (React, Vue, Svelte, Angular, Lit and none) with Node and npm, serves them on loopback
beside 20 plain sites, and crawls all of it with --render never, auto and always. A page is rendered if it went through
the browser to the end. "Only so" are the URLs that the crawl without rendering does not find. "Plain" are the pages of
plain sites that were rendered, and the most of one template of a site. CPU time is that of the crawl with all processes
of its browser, and that of the processes which render pages alone, as the operating system counts it.`,
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
	urls          map[string]bool // of the records
	rendered      int
	links, found  int // of the applications
	plain, most   int // plain pages that were rendered, and the most of one template
	crawl, drawer time.Duration
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
	if err := adoptOrphans(); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "whirlpool bench render --delay %s   (%d CPUs, %s)\n", b.delay, runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(b.out, "%-7s %6s %18s %18s %22s %20s %10s %10s\n", "mode", "URLs", "rendered", "only so",
		"links of applications",
		"plain (a template)", "CPU", "rendering")
	var without map[string]bool
	for _, mode := range []crawl.RenderMode{crawl.RenderNever, crawl.RenderAuto, crawl.RenderAlways} {
		f, err := b.crawl(ctx, web, mode)
		if err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
		if mode == crawl.RenderNever {
			without = f.urls
		}
		b.print(mode, &f, without)
	}
	return nil
}

// print writes the line of a mode.
func (b *renderBench) print(mode crawl.RenderMode, f *renderFigures, without map[string]bool) {
	only := 0
	for u := range f.urls {
		if !without[u] {
			only++
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(max(len(f.urls), 1)) }
	fmt.Fprintf(b.out, "%-7s %6d %9d (%4.1f %%) %9d (%4.1f %%) %14d of %-4d %13d (%4d) %9.1fs %9.1fs\n", mode, len(f.urls),
		f.rendered,
		share(f.rendered), only, share(only), f.found, f.links, f.plain, f.most, f.crawl.Seconds(), f.drawer.Seconds())
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
	args := []string{"crawl", "-o", out, "--quiet", "--allow-private", "--scope", "host", "--max-pages", "0", "--delay",
		b.delay.String(), "--ip-delay", "0s", "--render", string(mode)}
	for _, host := range append(web.Hosts(), "stats.test") {
		args = append(args, "--resolve", host+":"+web.Port+":127.0.0.1")
	}
	cmd := exec.CommandContext(ctx, exe, append(args, web.Seeds()...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return f, fmt.Errorf("%w: %s", err, text)
	}
	f.crawl = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() + ofOrphans()
	data, err := os.ReadFile(filepath.Join(out, "pages.jsonl"))
	if err != nil {
		return f, err
	}
	return f, f.count(data, web)
}

// count reads the records of a crawl.
func (f *renderFigures) count(data []byte, web *spa.Web) error {
	f.urls = map[string]bool{}
	templates := map[string]int{} // renders of plain pages
	for line := range bytes.Lines(data) {
		if jsonl.IsReplaced(line) {
			continue
		}
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			return err
		}
		f.urls[r.URL.String()] = true
		if r.Rendered == nil {
			continue
		}
		f.rendered++
		f.drawer += r.Rendered.CPU
		if strings.HasPrefix(r.URL.Hostname(), "plain") {
			f.plain++
			template := r.URL.Hostname() + path.Dir(r.URL.Path())
			templates[template]++
			f.most = max(f.most, templates[template])
		}
	}
	for _, name := range spa.Names {
		links := web.Links(name)
		f.links += len(links)
		for _, u := range links {
			if f.urls[u] {
				f.found++
			}
		}
	}
	return nil
}
