// Package pipeline runs the logic of a stage over a bus: deliver, handle, publish the outputs, confirm, settle.
//
// A stage's logic is a [Handler]: a function from an event to events. It knows neither the bus nor the stores'
// technology. [Run] gives each output its deterministic id, so that a message handled twice publishes the same messages
// twice, and turns errors into retries or dead letters. It must never drop a message on its own account.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Handler is the logic of one stage. It may be called by many goroutines at once. An error brings the event back later,
// unless it is marked by crawl.Permanent; crawl.ErrDiscarded drops it, ErrHandled ends it. Where a page goes no
// further the runner tells the DUE that it has no links.
type Handler[In crawl.Event] interface {
	Handle(ctx context.Context, in In) ([]crawl.Event, error)
}

// Settler is implemented by a handler that has something to note once its outputs are published, before the message is
// settled. Its error brings the message back.
type Settler[In crawl.Event] interface {
	Published(ctx context.Context, in In) error
}

// Config says how a stage runs.
type Config struct {
	Name  string // fetcher, parser, …: it is in ids, logs and metrics
	Topic string // what it consumes
	// Routes says where events go that are not for their own topics, by their types; see crawl.Stage.Routes.
	Routes  map[reflect.Type]string
	Workers bus.Workers
	// Limit is how long a handler may take for one message; 0: for ever. Then its context ends, and the message is
	// tried again; after the third time it is buried. How long its outputs wait for room is not limited. A bus that
	// cannot do without a handler's return (bus.AbandonKey) knows no limit.
	Limit time.Duration
	// Held reports whether the handlers wait for something that people have to mend, such as a full disk: that time
	// does not count against Limit; nil: never.
	Held func() bool
	// Bodies is where the bodies lie that events carry; nil: the stage's events carry none.
	Bodies  crawl.Bodies
	Log     *slog.Logger
	Metrics *Metrics // nil: none
}

// Delivery describes the message being handled.
type Delivery struct {
	ID      crawl.MessageID
	Repeat  bool // it may have been handled before
	Attempt int
}

type deliveryKey struct{}

// DeliveryOf returns the delivery that ctx belongs to; the zero Delivery outside a handler.
func DeliveryOf(ctx context.Context) Delivery {
	d, _ := ctx.Value(deliveryKey{}).(Delivery)
	return d
}

// WithDelivery returns a context in which d is being handled. Tests use it to call a handler directly.
func WithDelivery(ctx context.Context, d Delivery) context.Context {
	return context.WithValue(ctx, deliveryKey{}, d)
}

// Run consumes the stage's topic until ctx is done. It returns when the handlers have returned. While the bound of its
// workers is 0 it consumes nothing.
func Run[In crawl.Event](ctx context.Context, b bus.Bus, cfg Config, h Handler[In]) error {
	r := &runner[In]{cfg: cfg, bus: b, handler: h, keeper: keeper{cfg.Name, cfg.Bodies},
		calls: newCalls(cfg.Name, h, cfg.Limit), figures: cfg.Metrics.of(cfg.Name, cfg.Workers)}
	if cfg.Limit > 0 {
		stop := make(chan struct{})
		defer close(stop)
		go r.calls.watch(stop, cfg.Held, r.abandon)
	}
	if err := consume(ctx, b, &cfg, r.deliver); err != nil {
		return fmt.Errorf("stage %s: %w", cfg.Name, err)
	}
	return nil
}

// abandon lets the bus do without the return of a handler.
func (r *runner[In]) abandon(w *call, err error) {
	err = r.cutOff(err, w.attempt)
	args := append([]any{"stage", r.cfg.Name, "id", w.id}, about(w.event)...)
	r.cfg.Log.Error("a handler does not return: its message is abandoned",
		append(args, "attempt", w.attempt, "error", err)...)
	w.by.Abandon(err)
}

type runner[In crawl.Event] struct {
	cfg     Config
	bus     bus.Bus
	handler Handler[In]
	calls   *calls[In]
	keeper  keeper
	figures *figures
	waits   bus.Waits // what is expected
	away    bus.Waits // services
}

func (r *runner[In]) deliver(ctx context.Context, m bus.Message) error {
	start := time.Now()
	r.figures.began()
	in, ok := m.Event.(In)
	if !ok {
		err := crawl.Permanent(fmt.Errorf("stage %s: topic %s carried a %T", r.cfg.Name, r.cfg.Topic, m.Event))
		r.figures.ended(0, m.Attempt, time.Since(start), err, false)
		r.failed(ctx, m, err)
		return err
	}
	d := Delivery{ID: m.ID, Repeat: m.Redelivered || m.Attempt > 0, Attempt: m.Attempt}
	n, err := r.handle(crawl.Under(WithDelivery(ctx, d), m.Event), in, m)
	if errors.Is(err, crawl.ErrDiscarded) { // nobody waits for it any more
		r.figures.letGo()
		err = r.keeper.release(ctx, r.keeper.bodyOf(m.Event))
	}
	r.figures.ended(n, m.Attempt, time.Since(start), err, ctx.Err() != nil)
	if err != nil && ctx.Err() == nil {
		r.failed(ctx, m, err)
	}
	return err
}

// handle runs the handler and publishes what it returned.
func (r *runner[In]) handle(ctx context.Context, in In, m bus.Message) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, panicked(r.cfg.Name, p)
		}
	}()
	out, err := r.calls.call(ctx, in, m.ID)
	switch {
	case errors.Is(err, ErrHandled):
		return 0, nil
	case err != nil:
		return 0, r.cutOff(err, m.Attempt)
	}
	out = followUp(m.Event, out)
	body, err := r.keeper.share(ctx, m.Event, out)
	switch {
	case errors.Is(err, ErrHandled):
		return 0, nil
	case err == nil && len(out) > 0:
		err = r.publish(ctx, m.ID, out)
	}
	if s, ok := r.handler.(Settler[In]); ok && err == nil {
		err = s.Published(ctx, in)
	}
	if err == nil {
		err = r.keeper.release(ctx, body)
	}
	if err != nil {
		return 0, err
	}
	return len(out), nil
}
