package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/direct"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// faultVariable makes the test binary a node that differs from `whirlpool node` in the way it names.
const faultVariable = "WHIRLPOOL_E2E_FAULT"

const (
	faultNone  = "none"  // the control of the controls
	faultTwice = "twice" // no fault of the node: its bus delivers each message twice, in any order
	faultAck   = "ack"   // messages are acknowledged before their effects
	faultGap   = "gap"   // no fault: between a page and its outcome passes a time in which the page is stored
	faultHaste = "haste" // a frontier does not wait for what its predecessor leased
	faultEarly = "early" // a whole node acknowledges roots before what grew from them
	faultHeld  = "held"  // no fault: pages wait before they come to the parser, as long as a test wants
	faultStale = "stale" // a parser, and nothing else, that keeps to the pipeline a job began with
)

func runBroken(fault string, args []string) int {
	decorate, ok := map[string]func(*node.Deps){
		faultNone:  func(*node.Deps) {},
		faultTwice: func(d *node.Deps) { d.Bus = &stutter{Bus: d.Bus, seen: map[string]bool{}} },
		faultAck:   func(d *node.Deps) { d.Bus = holding{hurry{d.Bus}} },
		faultGap:   func(d *node.Deps) { d.Bus = gap{d.Bus} },
		faultHaste: func(d *node.Deps) { d.BeforeRecover, d.BeforeLease = nil, nil },
		faultEarly: func(d *node.Deps) { d.Bus = holding{d.Bus} },
		faultHeld:  func(d *node.Deps) { d.Bus = holding{d.Bus} },
		faultStale: func(d *node.Deps) { d.Jobs = stale{d.Jobs} },
	}[fault]
	if !ok {
		fmt.Fprintf(os.Stderr, "fault %q is unknown\n", fault)
		return 2
	}
	var roles []node.Role // all
	switch fault {
	case faultStale:
		roles = append(roles, node.Parser)
	case faultNone, faultHaste: // one is missing: its leases wait in the broker, as those of the seven programs do
		roles = slices.DeleteFunc(node.Roles(), func(r node.Role) bool { return r == node.Renderer })
	}
	r := node.Cluster{Decorate: decorate}
	if fault == faultEarly {
		r.Broker = func(b direct.Broker) direct.Broker { return early{b} }
	}
	return process.Run("node", args, func(ctx context.Context, p *process.Program) error {
		return r.Run(ctx, p, roles...)
	})
}

// early is a broker that takes the end of a root's own handler for the end of all that grows from it.
type early struct{ direct.Broker }

func (b early) Consume(ctx context.Context, topic string, w bus.Workers, h bus.Handler) error {
	return b.Broker.Consume(ctx, topic, w, func(ctx context.Context, m bus.Message) error { return h(hasty{ctx}, m) })
}

// hasty is the context of a handler of early, with its Holder.
type hasty struct{ context.Context }

func (c hasty) Value(key any) any {
	v := c.Context.Value(key)
	if by, ok := v.(bus.Holder); ok && key == (bus.HoldKey{}) {
		return hastyHolder{by}
	}
	return v
}

type hastyHolder struct{ bus.Holder }

func (h hastyHolder) Hold() bus.Held { return hastyHeld{h.Holder.Hold()} }

type hastyHeld struct{ bus.Held }

func (h hastyHeld) Rest() { h.End(nil) }

// holdVariable names a file. While it is there, pages are not handed to the parser of a node with a holding bus, and a
// file beside it (heldName) tells that one waits.
const holdVariable = "WHIRLPOOL_E2E_HOLD"

func heldName(hold string) string { return hold + ".held" }

// holding is a bus that keeps pages from the parser as long as the test wants, which then knows that one is on its way.
type holding struct{ bus.Bus }

func (b holding) Consume(ctx context.Context, topic string, w bus.Workers, h bus.Handler) error {
	if topic != crawl.TopicParse {
		return b.Bus.Consume(ctx, topic, w, h)
	}
	return b.Bus.Consume(ctx, topic, w, func(ctx context.Context, m bus.Message) error {
		if err := hold(ctx, os.Getenv(holdVariable)); err != nil {
			return err
		}
		return h(ctx, m)
	})
}

// hold waits until a file is gone. Only after a second it tells that it waits: by then the broker has what was
// acknowledged before.
func hold(ctx context.Context, file string) error {
	for wait := time.Second; isThere(file); wait = 20 * time.Millisecond {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		if wait == time.Second {
			if err := os.WriteFile(heldName(file), nil, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func isThere(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// stale are jobs whose pipelines never change.
type stale struct{ crawl.Jobs }

func (s stale) JobAt(ctx context.Context, id crawl.JobID, epoch uint32) (*crawl.Job, error) {
	job, err := s.Jobs.JobAt(ctx, id, epoch)
	if err != nil {
		return nil, err
	}
	first, err := s.Jobs.JobAt(ctx, id, 1)
	if err != nil {
		return nil, err
	}
	out := *job
	out.Pipeline = first.Pipeline
	return &out, nil
}

// stutter is a bus that delivers every message to its handler twice, the second time marked as redelivered, and
// shuffles messages in flight. So handlers publish everything twice, unmarked. Copies of a message that was handled
// before pass once, because their number would grow with each stage, and a repeated lease would be followed by another
// one of the same id without end.
type stutter struct {
	bus.Bus
	mu   sync.Mutex
	seen map[string]bool
}

func (s *stutter) Publish(ctx context.Context, msgs ...bus.Message) error {
	out := slices.Clone(msgs)
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return s.Bus.Publish(ctx, out...)
}

func (s *stutter) Consume(ctx context.Context, topic string, w bus.Workers, h bus.Handler) error {
	return s.Bus.Consume(ctx, topic, w, func(ctx context.Context, m bus.Message) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(rand.N(10 * time.Millisecond)):
		}
		first := s.first(topic + m.ID.String())
		if err := h(ctx, m); err != nil || !first {
			return err
		}
		m.Redelivered = true
		if topic == crawl.TopicFetch {
			fmt.Fprintln(os.Stderr, leaseTwice)
		}
		return h(ctx, m)
	})
}

// leaseTwice is what stutter writes to the program's log for each lease.
const leaseTwice = "a lease is delivered again"

// first reports whether a message was not seen before.
func (s *stutter) first(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.seen[id]
	s.seen[id] = true
	return !known
}

// gap is a bus that sends pages on, and the outcomes behind them a while later: as long as a busy machine may take.
type gap struct{ bus.Bus }

func (g gap) Publish(ctx context.Context, msgs ...bus.Message) error {
	page := slices.IndexFunc(msgs, func(m bus.Message) bool { return m.Event.Topic() == crawl.TopicParse })
	if page < 0 {
		return g.Bus.Publish(ctx, msgs...)
	}
	if err := g.Bus.Publish(ctx, msgs[:page+1]...); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(200 * time.Millisecond):
	}
	return g.Bus.Publish(ctx, msgs[page+1:]...)
}

// hurry is a bus that acknowledges a message when it comes, and has it handled a moment later.
type hurry struct{ bus.Bus }

func (b hurry) Consume(ctx context.Context, topic string, w bus.Workers, h bus.Handler) error {
	slots := make(chan struct{}, w.Max)
	return b.Bus.Consume(ctx, topic, w, func(_ context.Context, m bus.Message) error {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			<-time.After(rand.N(50 * time.Millisecond))
			_ = h(context.WithoutCancel(ctx), m) // nobody hears of it: that is the fault
		}()
		return nil
	})
}
