package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The whirl shows so many hosts and depths on their own.
const (
	whirlHosts  = 72
	whirlDepths = 16
)

// Whirl implements Reader.
func (x *Explorer) Whirl(ctx context.Context, id crawl.JobID) (*Whirl, error) {
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	cells, err := ix.cells(ctx)
	if err != nil {
		return nil, fmt.Errorf("shape of execution %q: %w", id, err)
	}
	queued, err := ix.queuedNow(ctx)
	if err != nil {
		return nil, fmt.Errorf("queues of execution %q: %w", id, err)
	}
	hosts, err := ix.indexedHosts(ctx)
	if err != nil {
		return nil, err
	}
	w := &Whirl{Queued: queued.counted, QueuedAll: queued.all, Index: ix.Index(), Sectors: []Sector{}, Cells: []Cell{}}
	w.fill(cells, hosts.names, queued)
	return w, nil
}

// fill makes sectors and cells.
func (w *Whirl) fill(cells []cell, names map[int64]string, queued *queuedCounts) {
	sizes := map[string]*Sector{}
	of := func(host string) *Sector {
		if sizes[host] == nil {
			sizes[host] = &Sector{Host: host, Hosts: 1}
		}
		return sizes[host]
	}
	for _, c := range cells {
		if s := of(names[c.host]); c.state != stateExcluded {
			s.Done += c.n
		}
	}
	for k, n := range queued.cells {
		of(k.host).Queued += n
	}
	sector := w.sectors(sizes)
	at := map[[2]int]*Cell{}
	cellAt := func(host string, depth int) *Cell {
		depth = min(max(depth, 0), whirlDepths-1)
		w.Depths = max(w.Depths, depth+1)
		k := [2]int{sector[host], depth}
		if at[k] == nil {
			at[k] = &Cell{Sector: k[0], Depth: depth}
		}
		return at[k]
	}
	for _, c := range cells {
		switch cell := cellAt(names[c.host], c.depth); c.state {
		case stateDone:
			cell.Done += c.n
		case stateFailed, stateTimedOut:
			cell.Failed += c.n
		case stateExcluded:
			cell.Excluded += c.n
		}
	}
	for k, n := range queued.cells {
		cellAt(k.host, k.depth).Queued += n
	}
	for _, c := range at {
		w.Cells = append(w.Cells, *c)
	}
	slices.SortFunc(w.Cells, func(a, b Cell) int { return cmp.Or(a.Sector-b.Sector, a.Depth-b.Depth) })
}

// sectors chooses the hosts that have a sector of their own, and returns the sector of each host.
func (w *Whirl) sectors(sizes map[string]*Sector) map[string]int {
	all := make([]*Sector, 0, len(sizes))
	for _, s := range sizes {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Sector) int {
		return cmp.Or(cmp.Compare(b.Done+b.Queued, a.Done+a.Queued), strings.Compare(a.Host, b.Host))
	})
	own := len(all)
	if own > whirlHosts {
		own = whirlHosts - 1
	}
	sector, rest := map[string]int{}, Sector{}
	for i, s := range all {
		sector[s.Host] = min(i, own)
		if i < own {
			w.Sectors = append(w.Sectors, *s)
			continue
		}
		rest.Hosts++
		rest.Done += s.Done
		rest.Queued += s.Queued
	}
	if rest.Hosts > 0 {
		w.Sectors = append(w.Sectors, rest)
	}
	return sector
}
