package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/mdfiles"
)

// markdownEvery is how often the files of new records are written while a crawl runs.
const markdownEvery = 250 * time.Millisecond

// startMarkdown writes the Markdown of the records as they are stored, from the first on: a crawl that goes on after a
// crash finds by the records which files are missing. When writing fails, stop is called. end writes what is left.
func (f *crawlFlags) startMarkdown(ctx context.Context, l *node.Local, stop func()) (end func(say io.Writer) error,
	err error) {
	if f.markdown == "" {
		return func(io.Writer) error { return nil }, nil
	}
	files, err := mdfiles.Open(f.markdown)
	if err != nil {
		return nil, fmt.Errorf("--markdown: %w", err)
	}
	over, done := make(chan struct{}), make(chan error, 1)
	go func() {
		err := followMarkdown(context.WithoutCancel(ctx), l, files, over)
		if err != nil {
			stop()
		}
		done <- err
	}()
	return func(say io.Writer) error {
		close(over)
		if err := errors.Join(<-done, files.Close()); err != nil {
			return fmt.Errorf("--markdown: %w", err)
		}
		if !f.quiet {
			fmt.Fprintf(say, "whirlpool: %d Markdown files written to %s, %d were there\n", files.Written, f.markdown,
				files.Same)
		}
		return nil
	}, nil
}

// followMarkdown writes files until over is closed, and then those of the records that are there.
func followMarkdown(ctx context.Context, l *node.Local, files *mdfiles.Writer, over <-chan struct{}) error {
	tick := time.NewTicker(markdownEvery)
	defer tick.Stop()
	at := int64(0)
	for last := false; ; {
		r := l.Store.Pages().Lines()
		if s, ok := r.(io.Seeker); !ok {
			return errors.New("pages.jsonl cannot be read from the middle")
		} else if _, err := s.Seek(at, io.SeekStart); err != nil {
			return err
		}
		n, err := files.PutAll(ctx, r, nil)
		at += n
		if err != nil || last {
			return err
		}
		select {
		case <-over:
			last = true
		case <-tick.C:
		}
	}
}

// formatMarkdown is the format of export that is no table but a directory of files.
const formatMarkdown = "markdown"

// exportMarkdown writes the Markdown of the pages as files.
func (f *exportFlags) exportMarkdown(cmd *cobra.Command, args []string, pages func() io.ReadCloser) (err error) {
	files, err := mdfiles.Open(args[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	in := pages()
	defer func() { err = errors.Join(err, in.Close()) }()
	keep := f.options(nil).Keep
	if _, err := files.PutAll(cmd.Context(), in, keep); err != nil {
		return fmt.Errorf("export to %s: %w", args[0], err)
	}
	if files.Written+files.Same == 0 {
		return errors.New("no record has Markdown: it is made when pages are crawled, with --extract markdown, or " +
			"extract.markdown in the job file")
	}
	cmd.PrintErrf("%d Markdown files written to %s, %d were there\n", files.Written, args[0], files.Same)
	return nil
}

// check finds what is wrong with the flags and arguments of export.
func (f *exportFlags) check(args []string) error {
	if f.format != formatMarkdown {
		if f.format != "" && !slices.Contains(export.Formats(), export.Format(f.format)) {
			return fmt.Errorf("format %q: want %s", f.format, strings.Join(exportNames(), ", "))
		}
		return errors.Join(f.checkEnding(args), f.options(args).Validate())
	}
	if len(args) == 0 {
		return errors.New("--format markdown writes files: name a directory for them")
	}
	if len(f.columns) > 0 || f.raw {
		return errors.New("--format markdown has no columns: leave out --columns and --raw-text")
	}
	return nil
}

// otherEnds are the ends of the names of files that no format has: CSV under such a name would be a surprise.
var otherEnds = []string{".xlsx", ".xls", ".ods", ".xml", ".db", ".sqlite", ".sqlite3", ".gz", ".zst", ".bz2", ".xz",
	".zip", ".html", ".md", ".warc", ".arrow", ".feather", ".tsv", ".avro", ".orc", ".yml", ".yaml", ".pdf"}

// checkEnding refuses a file without --format whose name says that it is something that nobody writes here.
func (f *exportFlags) checkEnding(args []string) error {
	if len(args) == 0 || f.format != "" || !slices.Contains(otherEnds, strings.ToLower(filepath.Ext(args[0]))) {
		return nil
	}
	return fmt.Errorf("%s: no format has this ending: want .csv, .jsonl, .parquet or .wacz, or name the --format (%s)",
		args[0], strings.Join(exportNames(), ", "))
}

// exportNames are all values of --format.
func exportNames() (names []string) {
	for _, f := range export.Formats() {
		names = append(names, f.String())
	}
	return append(names, formatMarkdown, formatMirror, formatWACZ)
}

// exportFormats lists the formats for people.
func exportFormats() string {
	return export.Choice(export.Format.String) + ", or markdown: FILE is a directory then"
}
