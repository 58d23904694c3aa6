package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
)

func newIndex() *cobra.Command {
	follow, anew := false, false
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Index pages for search, while they are crawled or afterwards",
		Long: `Index reads the records of a crawl's directory (pages.jsonl or pages.jsonl.zst) into search.db beside them, so
that "whirlpool search" answers at once. It reads what is new since it was called last, and may be called at any time,
also while the crawl runs, which does not wait for it. It may be killed at any time: how far it is stands in the same
transaction as what it has read.

search.db is made of the records alone, so it can be deleted. docs/search.md tells how large it is.

Over --cluster it gives PostgreSQL the words of the pages that a job has stored. A job with "search: true" does so
itself for each page; this is for one that had it later.`,
		Example: `  whirlpool index -o crawl-example.com
  whirlpool index -o crawl-example.com --follow &`,
		Args: cobra.NoArgs,
	}
	ref := refFlags(cmd)
	cmd.Flags().BoolVar(&follow, "follow", false, "keep indexing as records come, until it is interrupted")
	cmd.Flags().BoolVar(&anew, "anew", false, "make the index of a directory again from the start")
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		return ref.choose(cmd.Context(), func() error { return indexDirectory(cmd, ref.out, follow, anew) },
			func(c *cluster.Cluster) error {
				if follow || anew {
					return usage("--follow and --anew are for a directory")
				}
				return indexCluster(cmd, c, crawl.JobID(ref.job))
			})
	})
	return cmd
}

func indexDirectory(cmd *cobra.Command, named string, follow, anew bool) (err error) {
	d, dir, err := openDirIndex(cmd, named, anew)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := index(cmd, d, follow); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d pages, %.1f MB\n", filepath.Join(dir, explore.DirIndexName), d.Index().Records,
		float64(d.Size())/1e6)
	return nil
}

// openDirIndex opens the index of a directory that was named, or of the only one at hand.
func openDirIndex(cmd *cobra.Command, named string, anew bool) (d *explore.DirIndex, dir string, err error) {
	if dir = named; named == "" || !hasRecords(named) { // those of an execution have no state
		if dir, err = directory.Find(named); err != nil {
			return nil, "", err
		}
	}
	d, err = explore.OpenDirIndex(cmd.Context(), dir, anew, func(why string) { cmd.PrintErrln(why) })
	return d, dir, err
}

// hasRecords reports whether a directory has a file of records.
func hasRecords(dir string) bool {
	for _, name := range []string{"pages.jsonl", "pages.jsonl.zst"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// How often what is new is looked for; and what part of the time that a batch took the indexer rests while it follows a
// crawl, which has the machine's first call.
const (
	indexLooks = 300 * time.Millisecond
	indexRest  = 0.25
)

// index indexes all there is, and with follow what comes until it is interrupted.
func index(cmd *cobra.Command, d *explore.DirIndex, follow bool) error {
	ctx, stop := signals(cmd.Context(), func() {}, func() {})
	defer stop()
	for {
		began := time.Now()
		more, err := d.Step(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to stop; what it has read is kept
		case err != nil:
			return err
		case more && !follow:
			continue
		case !more && !follow:
			return nil
		}
		rest := indexLooks
		if more {
			rest = time.Duration(float64(time.Since(began)) * indexRest)
		}
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
	}
}
