package node

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/direct"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// heldRoots is how many leases a whole node may have whose requests are over, and whose pages are on their way to their
// records, beyond those being fetched; and as many batches of links whose URLs are on their way to the frontier. While
// the stores take a tenth of a second for a page, these are 2,500 pages a second.
const heldRoots = 256

func (c *cluster) openBus(ctx context.Context) (err error) {
	cfg := RabbitConfig(c.p.Config)
	cfg.Program, cfg.Log = c.p.Name, c.p.Log
	if c.whole() {
		cfg.Held = heldRoots
	}
	if c.bus, err = rabbit.Open(cfg); err != nil {
		return err
	}
	c.onClose(c.bus.Close)
	if c.wires, err = c.ownBus(cfg.Grace); err != nil {
		return err
	}
	if c.member != nil {
		all, err := c.peered(c.wires)
		if err != nil {
			return err
		}
		c.onClose(all.Close)
		c.wires = all
	}
	topics := c.topics()
	return c.p.Await(ctx, "rabbitmq", func(ctx context.Context) error { return c.bus.DeclareFor(ctx, topics...) })
}

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
	if c.handing, err = direct.New(broker, cfg); err == nil {
		showHanding(c.p.Registry, c.handing)
	}
	return c.handing, err
}

// showHanding counts what is handed on in memory, by topic.
func showHanding(reg prometheus.Registerer, b *direct.Bus) {
	for _, topic := range crawl.TopicNames(func(t crawl.Topic) bool { return !t.Root }) {
		labels := prometheus.Labels{"topic": topic}
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "whirlpool", Subsystem: "bus",
			Name: "in_memory", Help: "Events of a topic that were handed on in memory and have not come to their end.",
			ConstLabels: labels},
			func() float64 { return float64(b.Held(topic)) }),
			prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "whirlpool", Subsystem: "bus", Name: "handed_on_total",
				Help: "Events of a topic that were handed on in memory.", ConstLabels: labels},
				func() float64 { return float64(b.HandedOn(topic)) }))
	}
}

// awaitQuiet waits until neither the broker nor this process holds a message of the topics.
func (c *cluster) awaitQuiet(ctx context.Context, topics ...string) error {
	if c.handing != nil {
		return c.handing.Quiet(ctx, topics...)
	}
	return c.bus.Quiet(ctx, topics...)
}
