package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/searchbench"
)

func benchSearch() *cobra.Command {
	pages, words, dir := count(1e5), 400, ""
	cmd := &cobra.Command{
		Use:   "search",
		Short: "CPU time and size of the search index a page, and how long searches take, alone and beside a crawl",
		Args:  cobra.NoArgs,
		Long: `It makes records whose words are as frequent as those of texts are, indexes them as "whirlpool index" does, and
makes 50 searches twice: alone, and while "whirlpool crawl" crawls a synthetic web with all that the machine has.`,
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			return inTemp(dir, func(dir string) error {
				beside := func() (func() error, error) { return crawlBeside(cmd, filepath.Join(dir, "crawl")) }
				return searchbench.Run(cmd.Context(),
					searchbench.Options{Dir: dir, Pages: int(pages), Words: words, Out: cmd.OutOrStdout(), Beside: beside})
			})
		}),
	}
	cmd.Flags().Var(&pages, "pages", "pages to index")
	cmd.Flags().IntVar(&words, "words", words, "words of a page in the mean")
	cmd.Flags().StringVar(&dir, "dir", "", "directory for the records (default: a temporary one)")
	return cmd
}

// crawlBeside crawls a large synthetic web until it is told to stop.
func crawlBeside(cmd *cobra.Command, dir string) (stop func() error, err error) {
	b := &crawlBench{pages: 1_000_000, hosts: 1000, concurrency: 64, out: io.Discard}
	if b.exe, err = os.Executable(); err != nil {
		return nil, err
	}
	end, err := b.serve(cmd.Context())
	if err != nil {
		return nil, err
	}
	crawl := exec.CommandContext(cmd.Context(), b.exe, b.crawlArgs(dir)...)
	crawl.Stderr = cmd.ErrOrStderr()
	if err := crawl.Start(); err != nil {
		return nil, errors.Join(err, end())
	}
	return func() error {
		err := crawl.Process.Kill()
		_ = crawl.Wait() // it was killed
		return errors.Join(err, end())
	}, nil
}
