package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/mirror"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/wacz"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// copyFlags are the flags of `whirlpool crawl` that ask for copies made of the archive at the end.
type copyFlags struct{ mirror, wacz string }

func (c *copyFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.mirror, "mirror", "",
		"write a copy that can be browsed without a network into this `directory`; means --assets and --warc")
	fl.StringVar(&c.wacz, "wacz", "", "pack the archive into this `file` (.wacz) at the end; means --assets and --warc")
	_ = cmd.MarkFlagDirname("mirror")
}

func (c *copyFlags) wanted() bool { return c.mirror != "" || c.wacz != "" }

// check finds what is wrong with them.
func (c *copyFlags) check(toStdout bool) error {
	switch {
	case c.wanted() && toStdout:
		return usage("-o - keeps no files: --mirror and --wacz need a directory for the crawl")
	case c.wacz != "" && filepath.Ext(c.wacz) != ".wacz":
		return usage("--wacz %s: the name of a WACZ file ends in .wacz", c.wacz)
	}
	return nil
}

// wantAssets has the job fetch what pages are made of, unless the user said something about it.
func (c *copyFlags) wantAssets(cmd *cobra.Command, job *crawl.Job) {
	if c.wanted() && !job.Assets.Wanted() && !cmd.Flags().Changed("assets") {
		job.Assets.Scope = crawl.AssetsAny
	}
}

// write makes the copies of a crawl in a directory that nobody writes any more.
func (c *copyFlags) write(ctx context.Context, dir string, job *crawl.Job, v *view) error {
	if !c.wanted() {
		return nil
	}
	store, err := local.Open(dir, local.Default())
	if err != nil {
		return err
	}
	from := copySource{archives: []string{filepath.Join(dir, "warc")}, job: job, pages: store.Pages().Lines}
	say := func(format string, args ...any) {
		if !v.quiet && !v.json {
			fmt.Fprintf(v.screen, format, args...)
		}
	}
	if c.mirror != "" {
		err = errors.Join(err, from.mirror(ctx, c.mirror, say))
	}
	if c.wacz != "" {
		err = errors.Join(err, from.wacz(ctx, c.wacz, say))
	}
	return errors.Join(err, store.Close())
}

// copySource is what copies are made of.
type copySource struct {
	archives []string
	job      *crawl.Job
	pages    func() io.Reader // pages.jsonl, or the like of a cluster
	keep     func(context.Context, []weburl.URL) ([]bool, error)
}

// seeds are the job's, in the form by which the crawl knows them.
func (s *copySource) seeds() []weburl.URL {
	seeds, _ := s.job.SeedURLs() // checked before the crawl began
	for i, u := range seeds {
		seeds[i] = s.job.Canonicalizer().Canonical(u)
	}
	return seeds
}

// mirror writes a copy that can be browsed.
func (s *copySource) mirror(ctx context.Context, dir string, say func(string, ...any)) error {
	sum, err := mirror.Write(ctx, mirror.Options{Archives: s.archives, Dir: dir,
		Canonical: s.job.Canonicalizer().Canonical, Seeds: s.seeds(), Keep: s.keep, Pages: urlsOf(pagesIn(s.pages()))})
	if err != nil {
		return fmt.Errorf("mirror %s: %w", dir, err)
	}
	say("  %s  a copy to browse: %d files, %d of them pages\n", filepath.Join(dir, "index.html"), sum.Files, sum.Pages)
	if sum.Missing > 0 {
		say("  %d references to assets lead to the network: these were not fetched; crawl.log and `whirlpool explain` tell "+
			"why\n", sum.Missing)
	}
	if sum.Absent > 0 {
		say("  %d pages are not in the copy, as they were fetched before the crawl kept an archive: --fresh fetches all "+
			"anew\n", sum.Absent)
	}
	if sum.Damaged > 0 {
		say("  %d answers are missing in the copy: the archive refers to bodies that it does not hold\n", sum.Damaged)
	}
	return nil
}

// wacz writes a WACZ file.
func (s *copySource) wacz(ctx context.Context, file string, say func(string, ...any)) error {
	to, stream, err := fileBehind(file)
	if stream {
		err = errors.New("it is no file, which a WACZ file has to be: name another")
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	sum, err := wacz.Write(ctx, wacz.Options{Archives: s.archives, File: to, Title: string(s.job.ID),
		Pages: pagesIn(s.pages()), Seeds: s.seeds()})
	if err == nil {
		say("  %s  %d captures and %d pages, for ReplayWeb.page and other readers\n", file, sum.Captures, sum.Pages)
	}
	return err
}

// pagesIn are the pages that a file of records holds.
func pagesIn(in io.Reader) iter.Seq2[wacz.Page, error] {
	return func(yield func(wacz.Page, error) bool) {
		for r, err := range recordsIn(in) {
			if err != nil {
				yield(wacz.Page{}, err)
				return
			}
			if !yield(wacz.Page{URL: r.URL, At: r.FetchedAt, Title: r.Title}, nil) {
				return
			}
		}
	}
}

// recordsIn are the records of a file, one line after the other, without those that were replaced.
func recordsIn(in io.Reader) iter.Seq2[*crawl.Record, error] {
	return func(yield func(*crawl.Record, error) bool) {
		lines := bufio.NewReaderSize(in, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			}
			if jsonl.IsReplaced(line) {
				continue
			}
			r, err := jsonl.ParseRecord(line)
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// urlsOf are the URLs of pages.
func urlsOf(pages iter.Seq2[wacz.Page, error]) iter.Seq2[weburl.URL, error] {
	return func(yield func(weburl.URL, error) bool) {
		for p, err := range pages {
			if !yield(p.URL, err) {
				return
			}
		}
	}
}
