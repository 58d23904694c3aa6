package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/peerbench"
)

func benchPeers() *cobra.Command {
	c := peerbench.Config{}
	var dir string
	cmd := &cobra.Command{
		Use:   "peers",
		Short: "Other crawlers on the same webs: pages found, missed and fetched again, requests at once, CPU time a page",
		Long: `Crawls a synthetic web, and a directory of real documents, with whirlpool and with those of wget2, httrack,
Scrapy and Colly that are installed, one after the other, without delays. The server's log says what each fetched; the
operating system says what it took. It runs where no route leads out, which "make bench-peers" sees to.`,
		Args:    cobra.NoArgs,
		PreRunE: counts("pages", "hosts"),
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			if c.Names = os.Getenv("WHIRLPOOL_PEERS_HOSTS"); c.Names == "" {
				return errors.New("bench peers: crawlers would follow links out into the world: run `make bench-peers`, or " +
					"deploy/peers/inside whirlpool bench peers")
			}
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			c.Whirlpool, c.Out = exe, cmd.OutOrStdout()
			c.Spider = filepath.Join(dir, "spider.py")
			if colly, err := exec.LookPath(filepath.Join(dir, "colly", "colly")); err == nil {
				c.Colly = colly
			}
			fmt.Fprintf(c.Out, "whirlpool bench peers --pages %d --hosts %d   (%d CPUs, %s)\n", c.Pages, c.Hosts,
				runtime.NumCPU(), runtime.Version())
			return peerbench.Run(cmd.Context(), c)
		}),
	}
	cmd.Flags().IntVar(&c.Pages, "pages", 2000, "pages of the synthetic web")
	cmd.Flags().IntVar(&c.Hosts, "hosts", 20, "hosts of the synthetic web")
	cmd.Flags().StringVar(&c.Docs, "docs", "", "directory of real documents to crawl as well")
	cmd.Flags().StringVar(&c.First, "first", "index.html", "document of that directory to begin with")
	cmd.Flags().StringSliceVar(&c.Only, "only", nil, "these crawlers only: whirlpool, wget2, httrack, scrapy, colly")
	cmd.Flags().DurationVar(&c.Limit, "limit", 10*time.Minute, "end a crawler that takes longer")
	cmd.Flags().StringVar(&c.Pictures, "pictures", "", "`directory` for a CSV file and a picture (SVG) of each table")
	cmd.Flags().IntVar(&c.Show, "missed", 0, "print so many of the pages that each missed")
	cmd.Flags().StringVar(&dir, "peers", "deploy/peers",
		"directory of the comparison's own parts: spider.py, and colly/colly where it was built")
	return cmd
}
