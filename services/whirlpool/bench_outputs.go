package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// output is a set of flags of crawl whose cost is measured. DIR in a flag is the run's own directory.
type output struct {
	name  string
	flags []string
}

func outputs() []output {
	return []output{
		{"default", nil},
		{"markdown", []string{"--extract", "markdown"}},
		{"markdown files", []string{"--markdown", "DIR/notes"}},
		{"structured", []string{"--extract", "structured"}},
		{"compress", []string{"--compress"}},
		{"warc", []string{"--warc"}},
		{"assets", []string{"--assets=any"}},
		{"wacz", []string{"--wacz", "DIR/copy.wacz"}},
	}
}

func benchOutputs() *cobra.Command {
	b := &outputsBench{}
	cmd := &cobra.Command{
		Use:   "outputs",
		Short: "CPU time a page that each output of a crawl adds",
		Long: `Crawls the synthetic web of "whirlpool bench crawl" once for each output (--markdown, --warc, --assets …), in
turn, as often as --runs says. The figures are medians of the CPU time that the operating system counts for the process
of the crawl, a page. The ratio is that to the default of the same turn.`,
	}
	b.accept(cmd, 20_000, func(ctx context.Context) error { return b.compare(ctx, outputs()) })
	cmd.Flags().IntVar(&b.runs, "runs", 5, "turns")
	return cmd
}

type outputsBench struct{ crawlBench }

// compare measures the outputs in turn, the first of which is what the others are compared with.
func (b *outputsBench) compare(ctx context.Context, all []output) error {
	costs, ratios := make([][]float64, len(all)), make([][]float64, len(all))
	for turn := range b.runs {
		cost := make([]float64, len(all))
		for k := range all {
			i := (turn + k) % len(all) // another one begins each turn, so that none has the best place
			u, err := b.measureOutput(ctx, all[i])
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			cost[i] = u.cpuPerPage()
		}
		for i := range all {
			costs[i], ratios[i] = append(costs[i], cost[i]), append(ratios[i], cost[i]/cost[0])
		}
	}
	fmt.Fprintf(b.out, "%-16s %12s %8s\n", "", "CPU ms/page", "ratio")
	for i, o := range all {
		fmt.Fprintf(b.out, "%-16s %12.3f %8.2f\n", o.name, median(costs[i]), median(ratios[i]))
	}
	return nil
}

// measureOutput crawls the web with the flags of one output.
func (b *outputsBench) measureOutput(ctx context.Context, o output) (usageOf, error) {
	dir := filepath.Join(b.dir, "run")
	defer os.RemoveAll(dir)
	flags := make([]string, len(o.flags))
	for i, f := range o.flags {
		flags[i] = strings.ReplaceAll(f, "DIR", dir)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return usageOf{}, err
	}
	crawlDir := filepath.Join(dir, "crawl")
	u, err := b.measure(ctx, io.Discard, append(b.crawlArgs(crawlDir), flags...)...)
	if err != nil {
		return u, err
	}
	u.pages, err = b.storedIn(ctx, crawlDir)
	return u, err
}

// storedIn asks the program how many pages the crawl in a directory has stored.
func (b *outputsBench) storedIn(ctx context.Context, dir string) (int, error) {
	text, err := exec.CommandContext(ctx, b.exe, "status", "-o", dir, "--json").Output()
	if err != nil {
		return 0, fmt.Errorf("whirlpool status: %w", err)
	}
	var status struct {
		Pages int `json:"pages"`
	}
	err = json.Unmarshal(text, &status)
	return status.Pages, err
}
