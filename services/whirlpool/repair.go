package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func newRepair() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Put right what an audit finds wrong",
		Long: `Repair brings the stores of a crawl back into step with each other, where a disk, a power failure or somebody's
hand has put them out of it: records that are whole are indexed again, pages whose records are missing or damaged are
queued again, URLs that were lost are queued again, counters are counted again.

Nothing is deleted: lines of pages.jsonl that are no records of this crawl, or are damaged, are set aside in a file
beside it, and a damaged file under warc/ is renamed.

The crawl in a directory must not run. Run it again afterwards: it fetches what was queued. Of a cluster's job nothing
may be under way: pause the job, or wait until it stands still; what is queued is fetched when it goes on. Records that
are damaged are set aside in a collection beside the job's.

The exit status is 1 when something is left that could not be put right, and 3 when nothing wrong was found, but not
everything could be proven, as that of whirlpool audit.`,
		Example: `  whirlpool audit -o crawl-example.com || whirlpool repair -o crawl-example.com
  whirlpool repair -o crawl-example.com && whirlpool crawl https://example.com/ && whirlpool audit
  whirlpool repair --cluster=node.yml --job example-com`,
		Args: cobra.NoArgs,
	}
	ref := refFlags(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		directory := func() error { return repairDirectory(cmd, ref.out, *asJSON) }
		return ref.choose(cmd.Context(), directory, func(c *cluster.Cluster) error {
			j, err := c.Job(cmd.Context(), crawl.JobID(ref.job))
			if err != nil {
				return err
			}
			return repaired(cmd, clusterRepairer{j}, *asJSON, "job "+string(j.Info.ID))
		})
	})
	return cmd
}

// clusterRepairer repairs a job of a cluster.
type clusterRepairer struct{ *cluster.Job }

// Repair implements report.Repairer.
func (r clusterRepairer) Repair(ctx context.Context) (crawl.RepairReport, error) {
	db := r.Cluster.Postgres
	return r.ClusterJob.Repair(ctx, report.ClusterStores{URLs: db.URLs(), Ledger: db.URLs(), Content: db.ContentSet(),
		Records: r.Cluster.Mongo.Job(r.Info.ID), Publish: r.Cluster.Bus.Publish})
}

func repairDirectory(cmd *cobra.Command, named string, asJSON bool) (err error) {
	dir, store, err := directory.OpenToRepair(cmd.Context(), named)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return repaired(cmd, withArchives{store, dir}, asJSON, dir)
}

// withArchives repairs the archives of a directory besides its stores.
type withArchives struct {
	stores report.Repairer
	dir    string
}

// Repair implements report.Repairer.
func (w withArchives) Repair(ctx context.Context) (r crawl.RepairReport, err error) {
	if r, err = w.stores.Repair(ctx); err == nil {
		r.Archives, err = setArchivesAside(w.dir)
	}
	return r, err
}

// repaired runs a repair and prints what it did.
func repaired(cmd *cobra.Command, what report.Repairer, asJSON bool, name string) error {
	r, err := what.Repair(cmd.Context())
	if err != nil {
		return err
	}
	write := report.WriteRepair
	if asJSON {
		write = func(w io.Writer, r *crawl.RepairReport) error { return report.WriteJSON(w, r) }
	}
	if err := write(cmd.OutOrStdout(), &r); err != nil {
		return err
	}
	switch {
	case len(r.Left) > 0:
		return fmt.Errorf("%s could not be put right wholly: %s", name, r.Left[0])
	case len(r.Unproven) > 0:
		return exitStatus{exitUnproven,
			fmt.Errorf("nothing wrong was found, but not everything could be proven: %s", r.Unproven[0])}
	}
	return nil
}
