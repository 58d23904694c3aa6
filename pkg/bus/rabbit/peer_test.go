package rabbit_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/peers"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
)

func openPublisher(t *testing.T, cfg rabbit.Config) *rabbit.Publisher {
	t.Helper()
	p, err := rabbit.OpenPublisher(cfg)
	check(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// through is a bus that is published to from elsewhere.
type through struct {
	*rabbit.Bus
	from *rabbit.Publisher
}

func (b through) Publish(ctx context.Context, msgs ...bus.Message) error {
	return b.from.Publish(ctx, msgs...)
}

// The suite of buses, over a bus among others whose own broker is published to by a publisher of another node.
func TestConformanceThroughPeersAndPublishers(t *testing.T) {
	var wrap func(t *testing.T, cfg rabbit.Config, in bustest.Instance) bustest.Instance
	wrap = func(t *testing.T, cfg rabbit.Config, in bustest.Instance) bustest.Instance {
		pc := peers.Default()
		pc.Address = func(string) (string, bool) { return "", false }
		pc.Open = func(string) (peers.Publisher, error) { return nil, errors.New("nobody is there") }
		b, err := peers.New(through{in.Bus.(*rabbit.Bus), openPublisher(t, cfg)}, pc)
		check(t, err)
		t.Cleanup(func() { _ = b.Close() })
		restart := in.Restart
		in.Bus = b
		in.Restart = func(t *testing.T) bustest.Instance { return wrap(t, cfg, restart(t)) }
		return in
	}
	bustest.Run(t, func(t *testing.T) bustest.Instance {
		cfg := rabbittest.Config(t)
		return wrap(t, cfg, instance(t, cfg))
	})
}

// A publisher makes no queue. What it is to publish waits until the node's own programs have made them.
func TestAPublisherDeclaresNothing(t *testing.T) {
	cfg := rabbittest.Config(t)
	p, own := openPublisher(t, cfg), rabbittest.OpenBus(t, cfg)
	if _, err := raw(t, cfg.Subsystems).QueueDelete(crawl.TopicFetch, false, false, false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(within(t), time.Second)
	defer cancel()
	if err := p.Publish(ctx, fetchOf(1)); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, bus.ErrBusy) {
		t.Errorf("without a queue: %v", err)
	}
	depths, err := own.Depths(within(t))
	check(t, err)
	for _, d := range depths {
		if d.Queue == crawl.TopicFetch {
			t.Errorf("it made %+v", d)
		}
	}
	published := make(chan error, 1)
	ctx = within(t)
	go func() { published <- p.Publish(ctx, fetchOf(2)) }()
	check(t, own.Declare(within(t)))
	check(t, bustest.Await(t, published, "return of Publish after the queues were made"))
}

// A broker that refuses is busy, one that does not answer is not.
func TestErrBusyMeansReachableAndRefusing(t *testing.T) {
	cfg := rabbittest.Config(t, func(c *rabbit.Config) { c.MaxLength = 2 })
	check(t, rabbittest.OpenBus(t, cfg).Declare(within(t)))
	p := openPublisher(t, cfg)
	until(t, "a full topic is busy", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		return errors.Is(p.Publish(ctx, fetchOf(1)), bus.ErrBusy)
	})
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	check(t, err)
	defer silent.Close()
	for _, addr := range []string{silent.Addr().String(), "127.0.0.1:1"} {
		there := cfg
		for _, u := range []*string{&there.Subsystems, &there.Frontier} {
			v := parse(t, *u)
			v.Host = addr
			*u = v.String()
		}
		q := openPublisher(t, there)
		ctx, cancel := context.WithTimeout(within(t), 200*time.Millisecond)
		if err := q.Publish(ctx, fetchOf(1)); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, bus.ErrBusy) ||
			crawl.IsPermanent(err) {
			t.Errorf("nobody answers at %s: %v", addr, err)
		}
		cancel()
		closed := make(chan error, 1)
		go func() { closed <- q.Close() }()
		check(t, bustest.Await(t, closed, "end of a publisher that nobody answers"))
	}
}
