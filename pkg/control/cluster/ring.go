package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/zookeeper"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// RingTime bounds a command's work with ZooKeeper: a command does not wait for services.
const RingTime = 10 * time.Second

// RingView is a ring at a moment, with a session to ask again.
type RingView struct {
	Session member.Session
	Config  *process.Config
	member.View
}

// OpenRing reads the ring that a configuration names.
func OpenRing(ctx context.Context, cfg *process.Config, log *slog.Logger) (*RingView, error) {
	zc := node.ZooKeeperConfig(cfg)
	zc.Log = log
	store, err := zookeeper.New(zc)
	if err != nil {
		return nil, &control.Misuse{Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, RingTime)
	defer cancel()
	r := &RingView{Config: cfg}
	if r.Session, err = store.Open(ctx); err != nil {
		return nil, err
	}
	if r.View, err = r.Session.Read(ctx); err != nil {
		return nil, errors.Join(err, r.Session.Close())
	}
	return r, nil
}

// broker returns the broker of a node of the ring: where it is this node's, as the configuration has it.
func (c *Cluster) broker(name, address string) (*rabbit.Bus, error) {
	if address == c.Config.BrokerAddress() {
		return c.Bus, nil
	}
	return c.nodes.at(c.Config, name, address)
}

// readRing reads the ring. Before its first node has joined, the broker that the configuration names is all there is.
func (c *Cluster) readRing(ctx context.Context) (*report.Ring, error) {
	v, err := OpenRing(ctx, c.Config, c.nodes.log)
	if err != nil {
		return nil, fmt.Errorf("read the ring: without it nobody knows which brokers there are: %w", err)
	}
	if err := v.Session.Close(); err != nil {
		return nil, err
	}
	out := &report.Ring{Name: c.Config.Ring.Name}
	if v.Table != nil {
		out.Epoch, out.Vnodes, out.Moving = v.Table.Epoch(), v.Table.Len(), len(v.Table.Moving())
		counts := v.Table.Counts()
		for i, n := range v.Table.Nodes() {
			_, registered := v.Present[n.Name]
			r := nodeLine(n)
			r.Registered, r.Vnodes = registered, counts[i]
			if n.State != ring.Gone || n.Incarnation != 0 {
				b, err := c.broker(n.Name, n.Address)
				if err != nil {
					return nil, err
				}
				r.Broker = b
			}
			out.Nodes = append(out.Nodes, r)
		}
	}
	if len(out.Nodes) == 0 {
		own := ring.Node{Name: c.Config.Node, Address: c.Config.BrokerAddress(), State: ring.Joining}
		r := nodeLine(own)
		r.Broker = c.Bus
		out.Nodes = []report.RingNode{r}
	}
	return out, nil
}

// nodeLine is a node of the ring as a report shows it.
func nodeLine(n ring.Node) report.RingNode {
	return report.RingNode{Name: n.Name, Address: n.Address, State: n.State.String()}
}
