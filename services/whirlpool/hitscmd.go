package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// hitsFlags are the flags of `whirlpool hits`.
type hitsFlags struct {
	by   string
	top  int
	json bool
}

func newHits() *cobra.Command {
	f := &hitsFlags{}
	cmd := &cobra.Command{
		Use: "hits", Short: "List the hosts, domains or URLs that the stored pages link to most",
		Long: `Hits reads the stored pages and counts what their links lead to: by host, registrable domain or URL, whether it
was crawled or not. A page counts once for each, however often it links to it; OTHERS are pages of other hosts (of a
domain: of other domains), PAGES stored pages of it. Of more than half a million hosts or URLs the counts of the rare
ones are estimates: ERROR says by how much they may be too high.`,
		Example: `  whirlpool hits -o crawl-example.com
  whirlpool hits --by url --top 20 --cluster --job example-com
  whirlpool hits --by domain --json -o crawl-example.com | jq -r '.top[].key'`,
		Args: cobra.NoArgs,
	}
	ref, fl := refFlags(cmd), cmd.Flags()
	fl.StringVar(&f.by, "by", string(report.ByHost), "host, domain or url")
	fl.IntVar(&f.top, "top", 50, "only the first `N`")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	register(cmd, "by", cobra.FixedCompletions([]string{"host", "domain", "url"}, cobra.ShellCompDirectiveNoFileComp))
	run := ref.overServer(func(cmd *cobra.Command, _ []string, c *client.Client, id crawl.JobID) error {
		in, err := c.Export(cmd.Context(), id, url.Values{"format": {"jsonl"}})
		if err != nil {
			return err
		}
		return f.print(cmd, in)
	}, ref.over(func(cmd *cobra.Command, _ []string, d *directory.Directory) (err error) {
		pages, done, err := pagesOf(d)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		return f.print(cmd, io.NopCloser(pages()))
	}, func(cmd *cobra.Command, _ []string, j *cluster.Job) error {
		return f.print(cmd, j.Cluster.Mongo.Job(j.Info.ID).Lines(cmd.Context()))
	}))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.top < 1 {
			return usage("--top %d: want 1 or more", f.top)
		}
		if f.by != "host" && f.by != "domain" && f.by != "url" {
			return usage("--by %q: want host, domain or url", f.by)
		}
		return run(cmd, args)
	}
	return cmd
}

func (f *hitsFlags) print(cmd *cobra.Command, lines io.ReadCloser) (err error) {
	defer func() { err = errors.Join(err, lines.Close()) }()
	h, err := report.CountHits(lines, report.HitsBy(f.by), f.top)
	if err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(h)
	}
	return printList(cmd.OutOrStdout(), "text", h.Top, "no page links to anything",
		"HITS\tOTHERS\tERROR\tPAGES\t"+map[string]string{"host": "HOST", "domain": "DOMAIN", "url": "URL"}[f.by],
		func(x report.Hit) string {
			return fmt.Sprintf("%d\t%d\t%d\t%d\t%s", x.Hits, x.Others, x.Error, x.Pages, x.Key)
		})
}
