package node

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/direct"
)

// heldRoots is how many leases a whole node may have whose requests are over, and whose pages are on their way to their
// records, beyond those being fetched; and as many batches of links whose URLs are on their way to the frontier. While
// the stores take a tenth of a second for a page, these are 2,500 pages a second.
const heldRoots = 256

// whole reports whether this process plays all roles, so that its stages can hand events on in memory.
func (c *cluster) whole() bool { return len(c.roles) == len(Roles()) }

// ownBus is the bus of this node alone.
func (c *cluster) ownBus(grace time.Duration) (bus.Bus, error) {
	if !c.whole() {
		return c.bus, nil
	}
	var broker direct.Broker = c.bus
	if c.broker != nil {
		broker = c.broker(broker)
	}
	cfg := direct.Default()
	cfg.Grace, cfg.Log = grace, c.p.Log
	var err error
	c.handing, err = direct.New(broker, cfg)
	return c.handing, err
}

// awaitQuiet waits until neither the broker nor this process holds a message of the topics.
func (c *cluster) awaitQuiet(ctx context.Context, topics ...string) error {
	if c.handing != nil {
		return c.handing.Quiet(ctx, topics...)
	}
	return c.bus.Quiet(ctx, topics...)
}
