package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
)

var errRingExists = errors.New("the ring exists: its virtual nodes and its partition cannot be changed")

func newRingCreate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create the ring before the first node does",
		Long: `Create makes the ring's table. The first node that joins does it by itself with ring.vnodes and ring.partition;
do it before where you want other values, for they never change. 256 virtual nodes for each unit of weight that the
cluster may once have let equal nodes differ by 0.4 %, a quarter of that by 1.6 %.`,
		Example: "  whirlpool ring create --vnodes 256000 --cluster=node.yml",
		Args:    cobra.NoArgs,
	}
	vnodes := cmd.Flags().Int("vnodes", 0, "`number` of virtual nodes (default: ring.vnodes)")
	partition := cmd.Flags().String("partition", "",
		"what belongs together: `host`, domain, ip or url (default: ring.partition)")
	hash := cmd.Flags().String("hash", "",
		"how hosts are placed: `sha256` (by host; ledgers are read in ranges) or xxh3 (with a secret seed)")
	overRing(cmd, func(cmd *cobra.Command, _ []string, r *cluster.RingView) error {
		if !cmd.Flags().Changed("vnodes") {
			*vnodes = r.Config.Ring.Vnodes
		}
		if *partition == "" {
			*partition = r.Config.Ring.Partition
		}
		p, err := ring.ParsePartition(*partition)
		if err != nil {
			return exitStatus{exitUsage, err}
		}
		t, err := tableOf(*hash, *vnodes, p)
		if err != nil {
			return exitStatus{exitUsage, err}
		}
		if r.Table != nil {
			return errRingExists
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), cluster.RingTime)
		defer cancel()
		if err := r.Session.Write(ctx, t, r.View); errors.Is(err, member.ErrConflict) {
			return errRingExists
		} else if err != nil {
			return err
		}
		cmd.Printf("created ring %s with %d virtual nodes, partitioned by %s\n", r.Config.Ring.Name, t.Len(), p)
		return nil
	})
	return cmd
}

// tableOf returns a ring by a hash of that name; empty: the one that suits the partition.
func tableOf(hash string, vnodes int, p ring.Partition) (*ring.Table, error) {
	if hash == "" {
		return ring.Create(vnodes, p, member.NewSeed())
	}
	h, err := ring.ParseHash(hash)
	if err != nil {
		return nil, err
	}
	return ring.CreateBy(h, vnodes, p, member.NewSeed())
}
