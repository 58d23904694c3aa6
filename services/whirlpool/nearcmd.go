package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// nearFlags are the flags of `whirlpool near`.
type nearFlags struct {
	distance, top, members int
	all, json              bool
}

func newNear() *cobra.Command {
	f := &nearFlags{}
	cmd := &cobra.Command{
		Use:   "near [DIR|JOB|EXECUTION]...",
		Short: "Find pages of several crawls that are near-duplicates of each other",
		Long: `Near reads the stored pages of several crawls and groups those whose texts are nearly the same, by their
simhashes: those that differ in at most --distance bits. It takes directories of crawls; with --cluster jobs, all of
them where none is named; with --server executions, and where none is named the last one of each workflow. It lists
groups that have pages of several crawls, or all with --all. Pages without words are left out. Within one crawl,
content-seen judges more closely: the studio's page Clusters and the key duplicate_of have that.`,
		Example: `  whirlpool near crawl-a.com crawl-b.com
  whirlpool near --cluster
  whirlpool near --server https://crawl.example.org shop-7 news-2 --json`,
	}
	ref, fl := clusterOnly(cmd, ""), cmd.Flags()
	fl.IntVar(&f.distance, "distance", 3, "bits in which simhashes may differ, 0 to 3")
	fl.IntVar(&f.top, "top", 50, "only the first `N` groups, those with most pages first")
	fl.IntVar(&f.members, "members", 5, "pages that are listed of a group")
	fl.BoolVar(&f.all, "all", false, "also groups within one crawl")
	fl.BoolVar(&f.json, "json", false, "print JSON, a group a line")
	cmd.RunE = ref.orServer(f.ofServer, failing(func(cmd *cobra.Command, args []string) error {
		return ref.choose(cmd.Context(), func() error { return f.ofDirectories(cmd, args) },
			func(c *cluster.Cluster) error { return f.ofCluster(cmd, args, c) })
	}))
	return cmd
}

func (f *nearFlags) search() (*report.Near, error) {
	if f.top < 1 || f.members < 1 {
		return nil, usage("--top and --members: want 1 or more")
	}
	n, err := report.NewNear(f.distance)
	if err != nil {
		return nil, usage("--distance: %v", err)
	}
	return n, nil
}

func (f *nearFlags) ofDirectories(cmd *cobra.Command, dirs []string) error {
	n, err := f.search()
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		return usage("name the directories of crawls, or --cluster or --server")
	}
	for _, dir := range dirs {
		if err := addDirectory(cmd.Context(), n, dir); err != nil {
			return err
		}
	}
	return f.print(cmd, n)
}

func addDirectory(ctx context.Context, n *report.Near, dir string) (err error) {
	d, err := directory.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	pages, done, err := pagesOf(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return n.Add(filepath.Base(filepath.Clean(dir)), pages())
}

func (f *nearFlags) ofCluster(cmd *cobra.Command, jobs []string, c *cluster.Cluster) error {
	n, err := f.search()
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		all, err := c.List(cmd.Context())
		if err != nil {
			return err
		}
		for i := range all {
			jobs = append(jobs, string(all[i].ID))
		}
	}
	for _, id := range jobs {
		if _, err := c.Job(cmd.Context(), crawl.JobID(id)); err != nil {
			return err
		}
		if err := addLines(n, id, c.Mongo.Job(crawl.JobID(id)).Lines(cmd.Context())); err != nil {
			return err
		}
	}
	return f.print(cmd, n)
}

func (f *nearFlags) ofServer(cmd *cobra.Command, executions []string, c *client.Client) error {
	n, err := f.search()
	if err != nil {
		return err
	}
	if len(executions) == 0 {
		all, err := c.Workflows(cmd.Context(), false)
		if err != nil {
			return err
		}
		executions = lastOf(all)
	}
	for _, id := range executions {
		in, err := c.Export(cmd.Context(), crawl.JobID(id), url.Values{"format": {"jsonl"}})
		if err != nil {
			return err
		}
		if err := addLines(n, id, in); err != nil {
			return err
		}
	}
	return f.print(cmd, n)
}

// lastOf are the last executions of workflows.
func lastOf(all []workflow.Workflow) (ids []string) {
	for i := range all {
		if x := all[i].Last; x != nil {
			ids = append(ids, string(x.ID))
		}
	}
	return ids
}

func addLines(n *report.Near, job string, lines io.ReadCloser) error {
	return errors.Join(n.Add(job, lines), lines.Close())
}

func (f *nearFlags) print(cmd *cobra.Command, n *report.Near) error {
	compared, skipped := n.Pages()
	out := cmd.OutOrStdout()
	if n.Partial() {
		cmd.PrintErrf("there are more pages than can be compared: name fewer crawls\n")
	}
	groups := n.Clusters(!f.all, f.top, f.members)
	if !f.json {
		fmt.Fprintf(out, "%d pages compared, %d without words; %d groups\n", compared, skipped, len(groups))
	}
	for i := range groups {
		g := &groups[i]
		if f.json {
			if err := json.NewEncoder(out).Encode(g); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(out, "\n%d pages of %d crawls\n", g.Size, g.Jobs)
		for _, p := range g.Pages {
			fmt.Fprintf(out, "  %-24s %2d bits  %s\n", p.Job, p.Distance, p.URL)
		}
	}
	return nil
}
