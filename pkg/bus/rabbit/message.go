package rabbit

import (
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Headers of messages. They are on disk in brokers: a name keeps its meaning for ever.
const (
	headerAttempt = "x-attempt" // handlers that returned an error so far
	// deliveries that nobody answered, so far; 1 where a copy may have been published before
	headerRedeliveries = "x-redeliveries"
	headerDue          = "x-due"    // not to be handled before, in milliseconds since 1970
	headerTopic        = "x-topic"  // of a dead letter
	headerReason       = "x-reason" // of a dead letter
	headerAt           = "x-at"     // of a dead letter: when it was buried, in milliseconds since 1970
)

const contentType = "application/cbor"

// persistent is a message that the broker keeps on disk.
func persistent(id crawl.MessageID, kind string, body []byte) amqp.Publishing {
	return amqp.Publishing{MessageId: id.String(), Type: kind, ContentType: contentType, DeliveryMode: amqp.Persistent,
		Timestamp: time.Now(), Body: body}
}

// encode makes a bus message into the broker's.
func encode(m bus.Message) (amqp.Publishing, error) {
	body, err := crawl.EncodeEvent(m.Event)
	if err != nil {
		return amqp.Publishing{}, crawl.Permanent(err)
	}
	p := persistent(m.ID, m.Topic(), body)
	if m.Attempt > 0 {
		p.Headers = amqp.Table{headerAttempt: int64(m.Attempt)}
	}
	if m.Redelivered {
		p.Headers = withNumber(p.Headers, headerRedeliveries, 1)
	}
	return p, nil
}

// decode makes a delivery of a topic into a bus message. Its errors are permanent.
func decode(topic string, d *amqp.Delivery) (bus.Message, error) {
	m := bus.Message{Attempt: int(number(d.Headers, headerAttempt)),
		Redelivered: d.Redelivered || number(d.Headers, headerRedeliveries) > 0}
	if err := m.ID.UnmarshalText([]byte(d.MessageId)); err != nil {
		return m, crawl.Permanent(err)
	}
	if d.ContentType != contentType {
		return m, crawl.Permanent(fmt.Errorf("content type %q: want %s", d.ContentType, contentType))
	}
	var err error
	if m.Event, err = crawl.DecodeEvent(topic, d.Body); err == nil {
		m.Arrived(topic)
	}
	return m, err
}

// encodeTask makes a task of the frontier's queues into a message.
func encodeTask(t *crawl.Task) (amqp.Publishing, error) {
	body, err := crawl.EncodeValue(t)
	if err != nil {
		return amqp.Publishing{}, crawl.Permanent(err)
	}
	return persistent(t.ID(), "task", body), nil
}

func decodeTask(d *amqp.Delivery) (t crawl.Task, err error) {
	if len(d.Body) == 0 {
		return t, errors.New("no bytes")
	}
	err = crawl.DecodeValue(d.Body, &t)
	t.Repeat = t.Repeat || d.Redelivered || number(d.Headers, headerRedeliveries) > 0
	return t, err
}

// copyOf is a message like the delivered one, with its bytes and headers, to be published elsewhere.
func copyOf(d *amqp.Delivery) amqp.Publishing {
	headers := make(amqp.Table, len(d.Headers)+2)
	for k, v := range d.Headers {
		headers[k] = v
	}
	return amqp.Publishing{Headers: headers, MessageId: d.MessageId, Type: d.Type, ContentType: d.ContentType,
		ContentEncoding: d.ContentEncoding, DeliveryMode: amqp.Persistent, Timestamp: d.Timestamp, Body: d.Body}
}

func withNumber(t amqp.Table, name string, n int64) amqp.Table {
	if t == nil {
		t = amqp.Table{}
	}
	t[name] = n
	return t
}

// number reads a header that anybody may have set: 0 if it is missing, negative, or too large for a counter or a time.
func number(t amqp.Table, name string) int64 {
	var n int64
	switch v := t[name].(type) {
	case int64:
		n = v
	case int32:
		n = int64(v)
	case int16:
		n = int64(v)
	case int8:
		n = int64(v)
	}
	if n < 0 || n > 1<<53 {
		return 0
	}
	return n
}

func text(t amqp.Table, name string) string {
	switch v := t[name].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}
