package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func newRing() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ring --cluster[=FILE]",
		Short: "Show which node of a cluster owns what, and let nodes leave",
		Long: `Ring shows the table that all nodes of a cluster share, as rows: range of the hash (in 2^16 positions), virtual
nodes, node, address of its broker. Neighbouring virtual nodes of one owner are one row. What is on its way from one
node to another says so: nothing of it is leased before it has arrived.

The table is in ZooKeeper; the configuration of the node's programs says where (zookeeper.addresses, ring.name).`,
		Example: `  whirlpool ring --cluster=node.yml
  whirlpool ring owner https://example.com/ --cluster
  whirlpool ring plan --join n4:2 --cluster
  whirlpool ring drain n2 --wait --cluster`,
		Args: cobra.NoArgs,
	}
	ringCommand(cmd, func(_ *cobra.Command, _ []string, r *cluster.RingView) (text, error) { return newRingTable(r), nil })
	cmd.AddCommand(newRingOwner(), newRingBalance(), newRingPlan(), newRingDrain(), newRingCreate(), newRingForget())
	return cmd
}

// ringCommand completes a command that answers a question about the ring, as text or JSON.
func ringCommand(cmd *cobra.Command, answer func(*cobra.Command, []string, *cluster.RingView) (text, error)) {
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	overRing(cmd, func(cmd *cobra.Command, args []string, r *cluster.RingView) error {
		if r.Table == nil {
			return member.ErrNoRing
		}
		a, err := answer(cmd, args, r)
		if err != nil {
			return err
		}
		if *asJSON {
			return report.WriteJSON(cmd.OutOrStdout(), a)
		}
		return a.WriteText(cmd.OutOrStdout())
	})
}

// overRing completes a command that works on the ring.
func overRing(cmd *cobra.Command, work func(*cobra.Command, []string, *cluster.RingView) error) {
	ref := clusterFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		if !ref.asked() {
			return usage("a ring is a cluster's: say which with --cluster or --cluster=node.yml")
		}
		cfg, err := ref.config()
		if err != nil {
			return err
		}
		if len(cfg.ZooKeeper.Addresses) == 0 {
			return usage("zookeeper.addresses is empty: this is a node on its own, which owns everything")
		}
		r, err := cluster.OpenRing(cmd.Context(), cfg,
			slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError})))
		if err != nil {
			return err
		}
		return errors.Join(work(cmd, args, r), r.Session.Close())
	})
}

func newRingPlan() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan --join NAME[:WEIGHT] | --leave NAME",
		Short: "Show what a node that joins or leaves would move",
		Args:  cobra.NoArgs,
	}
	join := cmd.Flags().String("join", "", "`NAME[:WEIGHT]` of a node that would join; weight in units, 1 by default")
	leave := cmd.Flags().String("leave", "", "`NAME` of a node that would leave")
	ringCommand(cmd, func(_ *cobra.Command, _ []string, r *cluster.RingView) (text, error) {
		c := ring.Change{Leave: *leave, Weight: ring.Unit}
		var weight string
		var weighted bool
		if c.Join, weight, weighted = strings.Cut(*join, ":"); weighted {
			var err error
			if c.Weight, err = ring.ParseWeight(weight); err != nil {
				return nil, exitStatus{exitUsage, err}
			}
		}
		if (*join == "") == (*leave == "") {
			return nil, usage("give one of --join NAME[:WEIGHT] and --leave NAME")
		}
		m, err := r.Table.Plan(c)
		return ringPlan{m}, err
	})
	return cmd
}

func newRingDrain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drain NODE",
		Short: "Let a node leave in order",
		Long: `Drain makes a node hand all it owns to the others: it leases no more, ends what is in flight and passes on its
queues. When it is gone, its programs may be stopped. Started anew, they join again.`,
		Args: cobra.ExactArgs(1),
	}
	wait := cmd.Flags().Bool("wait", false, "wait until the node is gone")
	overRing(cmd, func(cmd *cobra.Command, args []string, r *cluster.RingView) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), cluster.RingTime)
		defer cancel()
		before := r.Table
		after, err := member.Change(ctx, r.Session,
			func(t *ring.Table) (*ring.Table, error) { before = t; return t.Drain(args[0]) })
		if err != nil {
			return err
		}
		m, err := ring.Compare(before, after)
		if err != nil {
			return err
		}
		cmd.Printf("%s hands on %d virtual nodes, %.1f %% of the ring\n", args[0], m.Moved, 100*m.Part())
		if !*wait {
			cmd.Printf("`whirlpool ring balance --cluster` tells when it is gone\n")
			return nil
		}
		if err := awaitGone(cmd.Context(), r.Session, args[0]); err != nil {
			return err
		}
		cmd.Printf("%s is gone: its programs may be stopped\n", args[0])
		return nil
	})
	return cmd
}

// hasLeft reports whether a node that was asked to leave is gone; an error where it cannot go, for nobody is left who
// would take over what it owns.
func hasLeft(t *ring.Table, name string) (bool, error) {
	n, known := t.Node(name)
	switch {
	case !known || n.State == ring.Gone:
		return true, nil
	case n.State != ring.Draining:
		return false, fmt.Errorf("node %s is to stay after all: the others that would have taken over are gone (%w)", name,
			ring.ErrLast)
	}
	for _, other := range t.Nodes() {
		if other.State == ring.Active || other.State == ring.Joining {
			return false, nil
		}
	}
	return false, fmt.Errorf("node %s: all nodes are leaving: %w", name, ring.ErrLast)
}

// awaitGone waits until a node owns nothing and has handed on everything.
func awaitGone(ctx context.Context, s member.Session, name string) error {
	for {
		v, err := s.Read(ctx)
		if errors.Is(err, member.ErrEnded) || ctx.Err() != nil {
			return err
		}
		if err == nil && v.Table != nil {
			if gone, err := hasLeft(v.Table, name); gone || err != nil {
				return err
			}
		}
		select {
		case <-s.Changed():
		case <-time.After(s.Timeout() / 3): // a sign that was lost
		case <-ctx.Done():
		}
	}
}
