package frontier

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// outbox publishes leases, and then settles their tasks in the queues they came from: a crash in between makes a task
// come twice, and loses none. It is the dispatcher's, but for unsent.
type outbox struct {
	bus       bus.Bus
	queues    crawl.Queues
	messages  []bus.Message    // to be published
	unsettled []crawl.Delivery // to be settled, once the messages were published
	unsent    atomic.Bool      // there are messages
}

// post adds a lease.
func (o *outbox) post(m bus.Message) {
	o.messages = append(o.messages, m)
	o.unsent.Store(true)
}

// settle adds deliveries whose tasks are in another place now, or are not wanted.
func (o *outbox) settle(ds ...crawl.Delivery) { o.unsettled = append(o.unsettled, ds...) }

// send does what is to be done. What it cannot do it does when it is called again.
func (o *outbox) send(ctx context.Context) error {
	if len(o.messages) > 0 {
		if err := o.bus.Publish(ctx, o.messages...); err != nil {
			return fmt.Errorf("frontier: lease %d tasks: %w", len(o.messages), err)
		}
		o.messages = nil
		o.unsent.Store(false)
	}
	if len(o.unsettled) > 0 {
		if err := o.queues.Settle(ctx, o.unsettled...); err != nil {
			return fmt.Errorf("frontier: settle %d leased tasks: %w", len(o.unsettled), err)
		}
		o.unsettled = o.unsettled[:0]
	}
	return nil
}
