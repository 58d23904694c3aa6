package rabbit

import (
	"context"
	"fmt"
	"slices"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Bus is the bus over a broker. It implements bus.Bus.
type Bus struct {
	cfg    Config
	vhosts [2]*vhost
	api    *management
}

var _ bus.Bus = (*Bus)(nil)

// vhost is one vhost and the connections to it.
type vhost struct {
	layout
	cfg        Config
	url, name  string
	publishing *publisher
	bundling   *bundler // over publishing
	consuming  *link
}

// Open returns a bus. It connects when it is first used, and keeps trying.
func Open(cfg Config) (*Bus, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	sub, err := newVhost(cfg, subsystems, cfg.Subsystems)
	if err != nil {
		return nil, err
	}
	frontier, err := newVhost(cfg, urlFrontier, cfg.Frontier)
	if err != nil {
		return nil, err
	}
	return &Bus{cfg: cfg, vhosts: [2]*vhost{sub, frontier}, api: newManagement(cfg)}, nil
}

func newVhost(cfg Config, l layout, url string) (*vhost, error) {
	uri, err := amqp.ParseURI(url)
	if err != nil {
		return nil, fmt.Errorf("rabbit: %w", checkAMQP(url))
	}
	v := &vhost{layout: l, cfg: cfg, url: url, name: uri.Vhost}
	v.consuming = newLink(cfg, url, cfg.Program+" consumes "+l.exchange)
	v.publishing = newPublisher(newLink(cfg, url, cfg.Program+" publishes "+l.exchange), l.exchange, &cfg)
	v.publishing.prepare = func(ctx context.Context, s *session, missing []string) error {
		if len(missing) > 0 {
			s.undeclare()
		}
		return v.declareOn(ctx, s, cfg.MaxLength)
	}
	v.bundling = newBundler(cfg.Bundle, v.publishing.publish)
	return v, nil
}

// Declare declares the exchanges, queues and bindings of both vhosts. It waits for the broker until ctx is done.
func (b *Bus) Declare(ctx context.Context) error {
	all := make([]string, 0, len(b.vhosts))
	for _, v := range b.vhosts {
		all = append(all, v.topics[0].Name)
	}
	return b.DeclareFor(ctx, all...)
}

// DeclareFor is Declare for only the vhosts that hold one of the topics. A program that does not use a vhost needs no
// access to it.
func (b *Bus) DeclareFor(ctx context.Context, topics ...string) error {
	for _, v := range b.vhosts {
		if !slices.ContainsFunc(topics, v.has) {
			continue
		}
		s, err := v.publishing.link.get(ctx)
		if err != nil {
			return err
		}
		if err := v.declareOn(ctx, s, b.cfg.MaxLength); err != nil {
			return fmt.Errorf("rabbit: vhost %s: %w", v.name, err)
		}
	}
	return nil
}

// Close closes the connections. Consumers must have ended; what is being published fails.
func (b *Bus) Close() error {
	var wg sync.WaitGroup
	for _, v := range b.vhosts {
		wg.Go(v.consuming.close)
		wg.Go(v.publishing.link.close)
	}
	wg.Wait()
	b.api.close()
	return nil
}

// Publish implements bus.Bus. It returns when the broker has every message on disk. It publishes the frontier's
// messages last, after the others are confirmed. Otherwise a fetcher that dies in between, for example while the topic
// of pages is full, would have reported a finished fetch whose page is lost.
func (b *Bus) Publish(ctx context.Context, msgs ...bus.Message) error {
	var out [2][]outgoing
	for _, m := range msgs {
		p, err := encode(m)
		if err != nil {
			return err
		}
		i, err := b.indexOf(m.Topic())
		if err != nil {
			return err
		}
		out[i] = append(out[i], outgoing{m.Topic(), p})
	}
	for i, v := range b.vhosts {
		if len(out[i]) == 0 {
			continue
		}
		if err := v.publish(ctx, out[i]); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes the first messages of a cause, those that may be bundled.
func (v *vhost) publish(ctx context.Context, out []outgoing) error {
	alone := make([]outgoing, 0, len(out))
	together := make([]outgoing, 0, len(out))
	for _, o := range out {
		if v.cfg.Bundle > 1 && bundled(o.queue) && len(o.msg.Headers) == 0 {
			together = append(together, o)
		} else {
			alone = append(alone, o)
		}
	}
	in := v.bundling.add(together)
	if err := v.publishing.publish(ctx, alone); err != nil {
		v.bundling.leave(in)
		return err
	}
	return v.bundling.wait(ctx, in)
}

func (b *Bus) indexOf(topic string) (int, error) {
	for i, v := range b.vhosts {
		if v.has(topic) {
			return i, nil
		}
	}
	return 0, crawl.Permanent(fmt.Errorf("rabbit: no vhost has the topic %q", topic))
}
