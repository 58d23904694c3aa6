package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// position is where a hash stands among the ring's 2^16 positions.
func position(hash uint64) uint64 { return hash >> 48 }

// ringHead is what every answer about a ring begins with.
type ringHead struct {
	Ring      string         `json:"ring"`
	Epoch     uint64         `json:"epoch"`
	Vnodes    int            `json:"vnodes"`
	Partition ring.Partition `json:"partition"`
	Hash      ring.Hash      `json:"hash"`
	Moving    int            `json:"moving"` // virtual nodes
}

func headOf(r *cluster.RingView) ringHead {
	return ringHead{Ring: r.Config.Ring.Name, Epoch: r.Table.Epoch(), Vnodes: r.Table.Len(),
		Partition: r.Table.Partition(),
		Hash:      r.Table.Hash(), Moving: len(r.Table.Moving())}
}

func (h ringHead) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "ring %s, epoch %d: %d virtual nodes, partitioned by %s, %d moving, hosts placed by %s\n",
		h.Ring, h.Epoch, h.Vnodes, h.Partition, h.Moving, h.Hash)
	return err
}

// ringTable is the table as rows.
type ringTable struct {
	ringHead
	Nodes []ring.Node `json:"nodes"`
	Rows  []ringRow   `json:"rows"`
}

// ringRow is a row of the table.
type ringRow struct {
	ring.Run
	Positions [2]uint64 `json:"positions"` // of 2^16, both included
	Address   string    `json:"address"`
}

func newRingTable(r *cluster.RingView) ringTable {
	t := ringTable{ringHead: headOf(r), Nodes: r.Table.Nodes()}
	for _, run := range r.Table.Runs() {
		n, _ := r.Table.Node(run.Owner)
		t.Rows = append(t.Rows, ringRow{Run: run, Positions: [2]uint64{position(run.First), position(run.Last)},
			Address: n.Address})
	}
	return t
}

// WriteText implements text.
func (t ringTable) WriteText(w io.Writer) error {
	if err := t.write(w); err != nil {
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "HASH RANGE\tVIRTUAL NODES\tNODE\tADDRESS\tSTATE")
	for _, r := range t.Rows {
		state := fmt.Sprintf("%s since epoch %d", r.Step, r.Since)
		if r.From != "" {
			state = fmt.Sprintf("%s from %s since epoch %d", r.Step, r.From, r.Since)
		}
		fmt.Fprintf(tab, "%d-%d\t%d-%d\t%s\t%s\t%s\n", r.Positions[0], r.Positions[1], r.Vnode, r.Vnode+r.Count-1,
			orNone(r.Owner), orNone(r.Address), state)
	}
	return tab.Flush()
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ringOwners says whose URLs are.
type ringOwners []ringOwner

type ringOwner struct {
	URL      string    `json:"url"`
	Key      string    `json:"key"`
	Position uint64    `json:"position"` // of 2^16, that of the virtual node's beginning
	Vnode    int       `json:"vnode"`
	Node     string    `json:"node"`
	Address  string    `json:"address"`
	Step     ring.Step `json:"step"`
	From     string    `json:"from,omitempty"`
	MayLease bool      `json:"may_lease"`
}

func newRingOwner() *cobra.Command {
	cmd := &cobra.Command{Use: "owner URL...", Short: "Show which node owns a URL", Args: cobra.MinimumNArgs(1)}
	ringCommand(cmd, func(cmd *cobra.Command, args []string, r *cluster.RingView) (text, error) {
		var out ringOwners
		for _, raw := range args {
			u, err := weburl.Parse(raw)
			if err != nil {
				return nil, exitStatus{exitUsage, err}
			}
			key, err := r.Table.Partition().Key(cmd.Context(), u, nil)
			if err != nil {
				return nil, err
			}
			v := r.Table.Vnode(r.Table.VnodeOf(key))
			first, _ := r.Table.Range(v.Index)
			n, _ := r.Table.Node(v.Owner)
			out = append(out, ringOwner{URL: u.String(), Key: key, Position: position(first), Vnode: v.Index, Node: v.Owner,
				Address: n.Address, Step: v.Step, From: v.From, MayLease: v.Owner != "" && v.Step == ring.Settled})
		}
		return out, nil
	})
	return cmd
}

// WriteText implements text.
func (o ringOwners) WriteText(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "URL\tKEY\tPOSITION\tVIRTUAL NODE\tNODE\tADDRESS\tSTATE")
	for _, x := range o {
		state := x.Step.String()
		if x.From != "" {
			state += " from " + x.From
		}
		fmt.Fprintf(tab, "%s\t%s\t%d\t%d\t%s\t%s\t%s\n", x.URL, x.Key, x.Position, x.Vnode, orNone(x.Node), orNone(x.Address),
			state)
	}
	return tab.Flush()
}

// ringBalance says how even the ring is.
type ringBalance struct {
	ringHead
	Nodes []ringShare `json:"nodes"`
	// MostOverShare is the largest number of virtual nodes of a node, divided by its part of the weights.
	MostOverShare float64 `json:"most_over_share"`
}

type ringShare struct {
	ring.Node
	Registered bool    `json:"registered"`
	Vnodes     int     `json:"vnodes"`
	Part       float64 `json:"part"`  // of the ring
	Share      float64 `json:"share"` // of the weights
	Arriving   int     `json:"arriving"`
	Leaving    int     `json:"leaving"`
}

func newRingBalance() *cobra.Command {
	cmd := &cobra.Command{Use: "balance", Short: "Show what part of the ring each node owns, and what is on its way",
		Args: cobra.NoArgs}
	ringCommand(cmd, func(_ *cobra.Command, _ []string, r *cluster.RingView) (text, error) { return balanceOf(r), nil })
	return cmd
}

func balanceOf(r *cluster.RingView) ringBalance {
	b := ringBalance{ringHead: headOf(r)}
	arriving, leaving := map[string]int{}, map[string]int{}
	for _, v := range r.Table.Moving() {
		arriving[v.Owner]++
		if v.Step == ring.Handing {
			leaving[v.From]++
		}
	}
	counts, total := r.Table.Counts(), 0.0
	for i, n := range r.Table.Nodes() {
		_, registered := r.Present[n.Name]
		if n.State == ring.Joining || n.State == ring.Active {
			total += float64(n.Weight)
		}
		b.Nodes = append(b.Nodes, ringShare{Node: n, Registered: registered, Vnodes: counts[i],
			Part: float64(counts[i]) / float64(b.Vnodes), Arriving: arriving[n.Name], Leaving: leaving[n.Name]})
	}
	for i := range b.Nodes {
		if n := &b.Nodes[i]; n.State == ring.Joining || n.State == ring.Active {
			n.Share = float64(n.Weight) / total
			b.MostOverShare = max(b.MostOverShare, n.Part/n.Share)
		}
	}
	return b
}

// WriteText implements text.
func (b ringBalance) WriteText(w io.Writer) error {
	if err := b.write(w); err != nil {
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "NODE\tSTATE\tREGISTERED\tWEIGHT\tVIRTUAL NODES\tPART\tSHARE\tARRIVING\tLEAVING\t")
	for _, n := range b.Nodes {
		registered := "yes"
		if !n.Registered {
			registered = "no"
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%d\t%.2f %%\t%.2f %%\t%d\t%d\t\n", n.Name, n.State, registered, n.Weight, n.Vnodes,
			100*n.Part, 100*n.Share, n.Arriving, n.Leaving)
	}
	if err := tab.Flush(); err != nil || b.MostOverShare == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "the fullest node owns %.3f times its share\n", b.MostOverShare)
	return err
}

// ringPlan says what a change would move.
type ringPlan struct{ ring.Movement }

// WriteText implements text.
func (p ringPlan) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%d of %d virtual nodes would move: %.2f %% of the ring\n", p.Moved, p.Vnodes,
		100*p.Part()); err != nil {
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "NODE\tWEIGHT\tBEFORE\tAFTER")
	for _, s := range p.Shares {
		fmt.Fprintf(tab, "%s\t%s\t%d\t%d\n", s.Node, s.Weight, s.Before, s.After)
	}
	fmt.Fprintln(tab, "\nFROM\tTO\tVIRTUAL NODES\t")
	for _, f := range p.Flows {
		fmt.Fprintf(tab, "%s\t%s\t%d\t\n", orNone(f.From), f.To, f.Vnodes)
	}
	return tab.Flush()
}
