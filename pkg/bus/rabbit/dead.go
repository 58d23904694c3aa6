package rabbit

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func letterOf(vhost string, d *amqp.Delivery) bus.Letter {
	l := bus.Letter{Vhost: vhost, Body: d.Body}
	l.Topic, l.Reason = text(d.Headers, headerTopic), text(d.Headers, headerReason)
	l.At = time.UnixMilli(number(d.Headers, headerAt))
	if number(d.Headers, headerAt) == 0 {
		l.At = d.Timestamp // nobody of ours buried it
	}
	_ = l.Message.ID.UnmarshalText([]byte(d.MessageId))
	l.Message.Attempt = int(number(d.Headers, headerAttempt))
	l.Message.Redelivered = number(d.Headers, headerRedeliveries) > 0
	if e, err := crawl.DecodeEvent(l.Topic, d.Body); err == nil {
		l.Message.Event = e
	}
	return l
}

// Dead returns up to limit dead letters of each vhost, oldest first, and leaves them in place. While it runs, another
// call of Dead or Replay does not see them.
func (b *Bus) Dead(ctx context.Context, limit int) ([]bus.Letter, error) {
	var out []bus.Letter
	for _, v := range b.vhosts {
		err := v.exhume(ctx, limit, func(l bus.Letter, _ *amqp.Delivery) error {
			out = append(out, l)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Replay moves the dead letters for which keep returns true back to their topics, as if they had never failed, and
// returns their number. A letter whose topic the vhost does not have stays.
func (b *Bus) Replay(ctx context.Context, keep func(bus.Letter) bool) (n int, err error) {
	for _, v := range b.vhosts {
		err := v.exhume(ctx, -1, func(l bus.Letter, d *amqp.Delivery) error {
			if !v.has(l.Topic) || !keep(l) {
				return nil
			}
			p := copyOf(d)
			p.Headers = amqp.Table{headerRedeliveries: int64(1)}
			if err := v.publishing.publish(ctx, []outgoing{{l.Topic + retrySuffix, p}}); err != nil {
				return err
			}
			n++
			return d.Ack(false)
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// exhume calls yield for the dead letters that are in the vhost now, at most limit of them; a negative limit means all.
// The letters that yield does not acknowledge go back.
func (v *vhost) exhume(ctx context.Context, limit int, yield func(bus.Letter, *amqp.Delivery) error) error {
	s, err := v.consuming.get(ctx)
	if err != nil {
		return err
	}
	if err := v.declareOn(ctx, s, v.cfg.MaxLength); err != nil {
		return err
	}
	ch, err := s.conn.Channel()
	if err != nil {
		return fmt.Errorf("rabbit: open a channel: %w", err)
	}
	defer ch.Close()
	for left := limit; left != 0 && ctx.Err() == nil; {
		d, ok, err := ch.Get(deadQueue, false)
		if err != nil {
			return fmt.Errorf("rabbit: read the dead letters of vhost %s: %w", v.name, err)
		}
		if !ok {
			return nil
		}
		if left < 0 { // what is buried from now on is not for this call
			left = int(d.MessageCount) + 1
		}
		if err := yield(letterOf(v.name, &d), &d); err != nil {
			return fmt.Errorf("rabbit: replay message %s of vhost %s: %w", d.MessageId, v.name, err)
		}
		left--
	}
	return ctx.Err()
}
