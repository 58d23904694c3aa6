package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen/simhashtool"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/contentseenbench"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/experiment"
)

// newExperiment groups the experiments of papers about crawlers.
func newExperiment() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "experiment",
		Short: "Repeat an experiment of a paper: DNS cache, near-duplicates, rebalancing, agents, harvest, politeness, " +
			"queues",
		Long: `Each experiment repeats one of a paper about a crawler on this machine, within two minutes, and prints its
tables. With --dir each table is also written as CSV, and drawn as SVG. docs/experiments.md has the papers' figures
beside ours.`,
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", "", "`directory` for a CSV file and a picture (SVG) of each table")
	show := func(cmd *cobra.Command, tables []experiment.Table, err error) error {
		if err != nil {
			return err
		}
		return showTables(cmd.OutOrStdout(), dir, tables)
	}
	cmd.AddCommand(experimentDNS(show), experimentNearDup(show), experimentRebalance(show), experimentAgents(show),
		experimentHarvest(show), experimentPoliteness(show), experimentQueues(show))
	return cmd
}

// showing prints the tables of an experiment that went well, and writes its files.
type showing func(cmd *cobra.Command, tables []experiment.Table, err error) error

func showTables(w io.Writer, dir string, tables []experiment.Table) error {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("--dir: %w", err)
		}
	}
	for i := range tables {
		t := &tables[i]
		if err := t.Print(w); err != nil {
			return err
		}
		if dir == "" {
			continue
		}
		var data bytes.Buffer
		if err := t.WriteCSV(&data); err != nil {
			return err
		}
		base := filepath.Join(dir, t.Name)
		err := errors.Join(writeShared(base+".csv", data.Bytes()), writeShared(base+".svg", t.Picture()))
		if err != nil {
			return err
		}
	}
	return nil
}

// writeShared writes a file for everybody.
func writeShared(name string, data []byte) error {
	return os.WriteFile(name, data, 0o644) //nolint:gosec // figures for everybody
}

func experimentDNS(show showing) *cobra.Command {
	d := experiment.DNS{}
	cmd := &cobra.Command{
		Use: "dns", Short: "Times of requests with and without the cache of names, beside a name server that takes its time",
		Args: cobra.NoArgs, PreRunE: counts("hosts", "requests", "concurrency"),
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			tables, err := d.Run(cmd.Context())
			return show(cmd, tables, err)
		}),
	}
	cmd.Flags().IntVar(&d.Hosts, "hosts", 100, "hosts, asked for by Zipf's law")
	cmd.Flags().IntVar(&d.Requests, "requests", 2000, "requests of each run")
	cmd.Flags().IntVar(&d.AtOnce, "concurrency", 16, "requests at once")
	cmd.Flags().DurationVar(&d.Delay, "delay", 100*time.Millisecond, "what the name server takes in the median")
	return cmd
}

func experimentNearDup(show showing) *cobra.Command {
	n := experiment.NearDup{}
	cmd := &cobra.Command{
		Use:   "neardup [FILE...]",
		Short: "Distances, resemblance, precision and recall of near-duplicates by threshold, beside mfonda/simhash as it is",
		Long: `Compares texts with copies of themselves of which a part of the words is changed, and with each other: made
texts, or the main texts of files (HTML or plain text) of 200 words or more.`,
		PreRunE: counts("texts"),
		RunE: failing(func(cmd *cobra.Command, files []string) (err error) {
			if n.Pages, err = textsOf(files); err != nil {
				return err
			}
			return show(cmd, n.Run(), nil)
		}),
	}
	cmd.Flags().IntVar(&n.Texts, "texts", 400, "made texts")
	cmd.Flags().Float64Var(&n.Changed, "changed", .01, "part of the words up to which a copy is to be recognised")
	return cmd
}

// textsOf reads the main texts of files that are long enough, each once.
func textsOf(files []string) (pages []contentseenbench.Page, err error) {
	have := map[string]bool{}
	for _, file := range files {
		text, err := simhashtool.Text(file)
		if err != nil {
			return nil, err
		}
		if _, sketch, _ := contentseen.Fingerprint(text); sketch != nil && !have[text] {
			have[text] = true
			pages = append(pages, contentseenbench.Page{Name: file, Text: text})
		}
	}
	if len(files) > 0 && len(pages) < 2 {
		return nil, fmt.Errorf("%d of %d files have a main text of %d words: two are needed", len(pages), len(files),
			contentseen.MinFeatures)
	}
	return pages, nil
}

func experimentRebalance(show showing) *cobra.Command {
	r := experiment.Rebalance{}
	cmd := &cobra.Command{
		Use: "rebalance", Short: "Hosts of each node, and those that move, as nodes join, leave and die", Args: cobra.NoArgs,
		PreRunE: counts("nodes", "hosts", "per-node"),
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			tables, err := r.Run()
			return show(cmd, tables, err)
		}),
	}
	cmd.Flags().IntVar(&r.Nodes, "nodes", 3, "nodes at the beginning")
	cmd.Flags().IntVar(&r.Hosts, "hosts", 100_000, "hosts")
	cmd.Flags().IntVar(&r.PerSet, "per-node", 256, "virtual nodes a node")
	return cmd
}

// fetched reads the pages of a finished crawl.
func fetched(dir string) (pages []experiment.Fetched, rendered int, err error) {
	f, err := os.Open(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	var first time.Time
	hosts := map[string]string{} // a host's text once, and not the record that it was read from
	for r, err := range recordsIn(f) {
		if err != nil {
			return nil, 0, err
		}
		if first.IsZero() || r.FetchedAt.Before(first) {
			first = r.FetchedAt
		}
		host, ok := hosts[r.URL.HostKey()]
		if !ok {
			host = strings.Clone(r.URL.HostKey())
			hosts[host] = host
		}
		pages = append(pages, experiment.Fetched{Host: host, At: float64(r.FetchedAt.UnixMilli()) / 1000, Bytes: r.Bytes})
		if r.Rendered != nil {
			rendered++
		}
	}
	for i := range pages {
		pages[i].At -= float64(first.UnixMilli()) / 1000
	}
	return pages, rendered, nil
}

// experimentBench is a bench of crawls for an experiment, with a directory that goes with it.
func experimentBench(ctx context.Context, out io.Writer,
	run func(ctx context.Context, b *crawlBench) error) (err error) {
	b := &crawlBench{out: out}
	if b.exe, err = os.Executable(); err != nil {
		return err
	}
	return inTemp("", func(dir string) error {
		b.dir = dir
		return run(ctx, b)
	})
}
