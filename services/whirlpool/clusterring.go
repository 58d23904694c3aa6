package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// nodes are ways to the brokers of other nodes, each opened when first needed.
type nodes struct {
	log *slog.Logger

	mu   sync.Mutex
	open map[string]*rabbit.Bus // by address
}

// at returns the broker of a node.
func (n *nodes) at(cfg *process.Config, name, addr string) (*rabbit.Bus, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if b := n.open[addr]; b != nil {
		return b, nil
	}
	rb := node.NodeConfig(cfg, name, addr)
	rb.Program, rb.Log = "whirlpool", n.log
	b, err := rabbit.Open(rb)
	if err != nil {
		return nil, fmt.Errorf("broker of node %s: %w", name, err)
	}
	if n.open == nil {
		n.open = map[string]*rabbit.Bus{}
	}
	n.open[addr] = b
	return b, nil
}

func (n *nodes) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	errs := make([]error, 0, len(n.open))
	for _, b := range n.open {
		errs = append(errs, b.Close())
	}
	n.open = nil
	return errors.Join(errs...)
}

// broker returns the broker of a node of the ring: where it is this node's, as the configuration has it.
func (c *cluster) broker(n ring.Node) (*rabbit.Bus, error) {
	if n.Address == c.cfg.BrokerAddress() {
		return c.bus, nil
	}
	return c.nodes.at(c.cfg, n.Name, n.Address)
}

// readRing reads the ring. Before its first node has joined, the broker that the configuration names is all there is.
func (c *cluster) readRing(ctx context.Context) (*report.Ring, error) {
	v, err := openRing(ctx, c.cfg, c.nodes.log)
	if err != nil {
		return nil, fmt.Errorf("read the ring: without it nobody knows which brokers there are: %w", err)
	}
	if err := v.session.Close(); err != nil {
		return nil, err
	}
	out := &report.Ring{Name: c.cfg.Ring.Name}
	if v.Table != nil {
		out.Epoch, out.Vnodes, out.Moving = v.Table.Epoch(), v.Table.Len(), len(v.Table.Moving())
		counts := v.Table.Counts()
		for i, n := range v.Table.Nodes() {
			_, registered := v.Present[n.Name]
			r := report.RingNode{Node: n, Registered: registered, Vnodes: counts[i]}
			if n.State != ring.Gone || n.Incarnation != 0 {
				b, err := c.broker(n)
				if err != nil {
					return nil, err
				}
				r.Broker = b
			}
			out.Nodes = append(out.Nodes, r)
		}
	}
	if len(out.Nodes) == 0 {
		own := ring.Node{Name: c.cfg.Node, Address: c.cfg.BrokerAddress(), State: ring.Joining}
		out.Nodes = []report.RingNode{{Node: own, Broker: c.bus}}
	}
	return out, nil
}
