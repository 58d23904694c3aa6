package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The formats of export that are made of the archive, not of records.
const (
	formatMirror = "mirror"
	formatWACZ   = "wacz"
)

// copies reports whether a copy made of the archive is asked for, and sets its format.
func (f *exportFlags) copies(args []string) bool {
	if f.format == "" && strings.EqualFold(filepath.Ext(strings.Join(args, "")), ".wacz") {
		f.format = formatWACZ
	}
	return f.format == formatMirror || f.format == formatWACZ
}

// checkCopy finds what is wrong with the flags of a copy.
func (f *exportFlags) checkCopy(args []string) error {
	switch {
	case len(args) == 0 && f.format == formatMirror:
		return usage("--format mirror: name the directory to write")
	case len(args) == 0:
		return usage("--format wacz: name the FILE to write")
	case f.originals || f.raw || len(f.columns) > 0:
		return usage("--columns, --originals and --raw-text are for tables of records, not for --format %s", f.format)
	}
	return nil
}

// copyDirectory makes a copy of a crawl in a directory.
func (f *exportFlags) copyDirectory(cmd *cobra.Command, args []string, d *directory.Directory) (err error) {
	if err := f.checkCopy(args); err != nil {
		return err
	}
	if len(f.warc) == 0 {
		f.warc = []string{filepath.Join(d.Dir, "warc")}
	}
	if _, err := os.Stat(f.warc[0]); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s holds no archive: crawl with --warc, --mirror or --wacz", d.Dir)
	}
	job, err := d.Job(cmd.Context())
	if err != nil {
		return err
	}
	pages, closePages, err := pagesOf(d)
	if err != nil {
		return err
	}
	from := copySource{archives: f.warc, job: job, pages: pages}
	return errors.Join(f.copy(cmd, args[0], &from), closePages())
}

// copyCluster makes a copy of a cluster's job. The archives hold the answers to all jobs of their fetchers.
func (f *exportFlags) copyCluster(cmd *cobra.Command, args []string, j *cluster.Job) (err error) {
	if err := f.checkCopy(args); err != nil {
		return err
	}
	if len(f.warc) == 0 {
		return usage("--format %s is made of WARC files, which lie with the cluster's fetchers (their setting disk.warc, a "+
			"directory a node): name the directories with --warc, once each", f.format)
	}
	ctx := cmd.Context()
	job, err := j.Cluster.Postgres.Jobs().Job(ctx, j.Info.ID)
	if err != nil {
		return err
	}
	lines := j.Cluster.Mongo.Job(j.Info.ID).Lines(ctx)
	defer func() { err = errors.Join(err, lines.Close()) }()
	from := copySource{archives: f.warc, job: job, pages: func() io.Reader { return lines }, keep: ofJob(j)}
	return f.copy(cmd, args[0], &from)
}

// ofJob tells which URLs were fetched for a cluster's job.
func ofJob(j *cluster.Job) func(context.Context, []weburl.URL) ([]bool, error) {
	return func(ctx context.Context, urls []weburl.URL) ([]bool, error) {
		keys := make([]weburl.Key, len(urls))
		for i, u := range urls {
			keys[i] = u.Key()
		}
		entries, err := j.Cluster.Postgres.URLs().Lookup(ctx, j.Info.ID, keys...)
		yes := make([]bool, len(urls))
		for i := range entries {
			yes[i] = entries[i].State == crawl.StateDone
		}
		return yes, err
	}
}

// copy writes the copy and says what it holds.
func (f *exportFlags) copy(cmd *cobra.Command, to string, from *copySource) error {
	if f.format == formatWACZ {
		return from.wacz(cmd.Context(), to, cmd.PrintErrf)
	}
	return from.mirror(cmd.Context(), to, cmd.PrintErrf)
}
