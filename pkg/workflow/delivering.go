package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// deliveriesAtOnce is how many deliveries are read at once; they are sent one after the other.
const deliveriesAtOnce = 100

// deliver sends what is due until ctx is done: whenever an event is written, and with each poll.
func (c *conductor) deliver(ctx context.Context) {
	events := c.store.Subscribe(ctx)
	tick := time.NewTicker(c.opt.Poll)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := c.deliverDue(ctx); err != nil && ctx.Err() == nil {
			c.opt.Log.Error("alerts are not delivered: the control store fails", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-events:
		case <-c.post:
		case <-tick.C:
		}
	}
}

func (c *conductor) deliverDue(ctx context.Context) error {
	for ctx.Err() == nil {
		due, err := c.store.DueDeliveries(ctx, c.now(), deliveriesAtOnce)
		if err != nil || len(due) == 0 {
			return err
		}
		if err := c.deliverAll(ctx, due); err != nil {
			return err
		}
	}
	return nil
}

// deliverAll sends what is due: mail about alerts as one message a channel, all else one by one.
func (c *conductor) deliverAll(ctx context.Context, due []Delivery) error {
	mail, of := map[string][]*Delivery{}, map[string]*notify.Channel{}
	for i := range due {
		d := &due[i]
		channel, err := c.Channel(ctx, d.Channel)
		if err == nil && isMail(d, channel) {
			mail[channel.Name], of[channel.Name] = append(mail[channel.Name], d), channel
			continue
		}
		if err := c.deliverOne(ctx, d, channel, err); err != nil {
			return err
		}
	}
	for name, list := range mail {
		if err := c.deliverMail(ctx, of[name], list); err != nil {
			return err
		}
	}
	return nil
}

// deliverOne tries once. A process that is killed between the receiver's answer and its record tries again, with the
// same id.
func (c *conductor) deliverOne(ctx context.Context, d *Delivery, channel *notify.Channel, err error) error {
	began := time.Now()
	try := DeliveryTry{At: c.now()}
	switch {
	case errors.Is(err, ErrNotFound):
		err = crawl.Permanent(fmt.Errorf("there is no channel %s any more", d.Channel))
	case err == nil:
		try.Answer, err = c.opt.Notify(ctx, channel,
			&notify.Message{ID: d.ID, Type: d.Type, Title: d.Title, Text: d.Text, At: d.Created, Data: d.Data})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	try.TookMS = time.Since(began).Milliseconds()
	return c.tried(ctx, d, try, err)
}

// tried records a try, and what follows.
func (c *conductor) tried(ctx context.Context, d *Delivery, try DeliveryTry, err error) error {
	if err != nil {
		try.Error = err.Error()
	}
	if d.Tries = append(d.Tries, try); len(d.Tries) > MaxTries {
		d.Tries = d.Tries[len(d.Tries)-MaxTries:] // one that was sent again by hand
	}
	d.Left--
	switch {
	case err == nil:
		d.State, d.Next = DeliverySent, zeroTime
	case crawl.IsPermanent(err) || d.Left <= 0:
		d.State, d.Next = DeliveryDead, zeroTime
	default:
		d.Next = c.now().Add(afterTry(MaxTries - d.Left))
	}
	var e *Event
	if d.State == DeliveryDead {
		ev := c.event(conductorName, "delivery.dead",
			map[string]any{"delivery": d.ID, "channel": d.Channel, "reason": try.Error})
		e = &ev
	}
	return unlessStale(c.store.SetDelivery(ctx, d, DeliveryDue, e))
}

// Notified is what sends messages.
type Notified func(ctx context.Context, c *notify.Channel, m *notify.Message) (answer string, err error)

// test is a delivery that tells nothing.
func (m *Manager) test(channel, actor string) Delivery {
	d := m.delivery(channel, "org.whirlpool.test", "Whirlpool: a test of channel "+channel)
	d.Text = fmt.Sprintf("This is a test of the channel %s, asked for by %s. Nothing is wrong.\n", channel, actor)
	d.Data, _ = json.Marshal(map[string]string{"channel": channel, "by": actor}) // strings
	return d
}
