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
	queued, err := ix.queuedNow(ctx)
	if err != nil {
		return nil, fmt.Errorf("queues of execution %q: %w", id, err)
	}
	hosts, err := ix.indexedHosts(ctx)
	if err != nil {
		return nil, fmt.Errorf("hosts of execution %q: %w", id, err)
	}
	w := &Whirl{Queued: queued.counted, QueuedAll: queued.all, Index: ix.Index(), Sectors: []Sector{}, Cells: []Cell{}}
	p := whirling{w: w, sector: w.sectors(sizesOf(hosts, queued)), at: map[[2]int]*Cell{}}
	if err := p.fill(ctx, ix, hosts); err != nil {
		return nil, fmt.Errorf("shape of execution %q: %w", id, err)
	}
	for k, n := range queued.cells {
		p.cell(p.sector[k.host], k.depth).Queued += n
	}
	for _, c := range p.at {
		w.Cells = append(w.Cells, *c)
	}
	slices.SortFunc(w.Cells, func(a, b Cell) int { return cmp.Or(a.Sector-b.Sector, a.Depth-b.Depth) })
	return w, nil
}

// sizesOf are what hosts have done and queued.
func sizesOf(hosts *indexedHosts, queued *queuedCounts) map[string]*Sector {
	sizes := map[string]*Sector{}
	of := func(host string) *Sector {
		if sizes[host] == nil {
			sizes[host] = &Sector{Host: host, Hosts: 1}
		}
		return sizes[host]
	}
	for i := range hosts.list {
		of(hosts.list[i].Key).Done += hosts.done[i]
	}
	for k, n := range queued.cells {
		of(k.host).Queued += n
	}
	return sizes
}

// whirling is a whirl on its way. sector has the hosts that have one of their own, and the one of all others.
type whirling struct {
	w      *Whirl
	sector map[string]int
	at     map[[2]int]*Cell
}

// fill makes the cells of what is done: of the hosts with a sector of their own, and of all others what is left.
func (p *whirling) fill(ctx context.Context, ix *index, hosts *indexedHosts) error {
	rest, owns := len(p.w.Sectors)-1, len(p.w.Sectors)
	if owns > 0 && p.w.Sectors[rest].Host == "" {
		owns--
	}
	own := make([]any, 0, owns)
	for _, s := range p.w.Sectors[:owns] {
		if id, known := hosts.ids[s.Host]; known {
			own = append(own, id)
		}
	}
	cells, err := ix.cellsOf(ctx, own)
	if err != nil {
		return err
	}
	all, err := ix.depthsAndStates(ctx, "p")
	if err != nil {
		return err
	}
	left := map[cellKey]int64{}
	for _, c := range all {
		left[c.cellKey] += c.n
	}
	for _, c := range cells {
		p.add(p.sector[hosts.names[c.host]], c)
		c.host = 0
		left[c.cellKey] -= c.n
	}
	for k, n := range left {
		if n > 0 && owns <= rest {
			p.add(rest, cell{k, n})
		}
	}
	return nil
}

func (p *whirling) add(sector int, c cell) {
	switch to := p.cell(sector, c.depth); c.state {
	case stateDone:
		to.Done += c.n
	case stateFailed, stateTimedOut:
		to.Failed += c.n
	case stateExcluded:
		to.Excluded += c.n
	}
}

// cell is that of a sector and a depth.
func (p *whirling) cell(sector, depth int) *Cell {
	depth = min(max(depth, 0), whirlDepths-1)
	p.w.Depths = max(p.w.Depths, depth+1)
	k := [2]int{sector, depth}
	if p.at[k] == nil {
		p.at[k] = &Cell{Sector: k[0], Depth: depth}
	}
	return p.at[k]
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
