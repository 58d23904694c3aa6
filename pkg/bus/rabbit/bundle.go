package rabbit

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	values "github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

// A bundle is a message with several events of one topic. A message costs the broker about the same whatever its size,
// so events published at the same moment are sent as one. The body is a version byte and then, for each event, its
// message id and its bytes, each preceded by its length. Only first publications are bundled: a message that is
// retried, buried or redelivered is sent alone, so that one bad event does not delay the others of its bundle.
const (
	bundleType    = "application/x-whirlpool-events"
	bundleVersion = 1

	// maxBundle bounds the events of a bundle in any configuration: consumers have room for so many.
	maxBundle = 32
	// bundleBytes bounds a bundle's body, in octets, so that it fits into one frame. An event that is larger travels
	// alone.
	bundleBytes = 120 << 10
)

// bundled reports whether events of a topic may be sent as bundles.
func bundled(topic string) bool {
	t, ok := crawl.TopicNamed(topic)
	return ok && !t.Single
}

// pack makes one message of several to one queue.
func pack(out []outgoing) outgoing {
	if len(out) == 1 {
		return out[0]
	}
	size := 1
	for i := range out {
		size += len(out[i].msg.MessageId) + len(out[i].msg.Body) + 8
	}
	body := append(make([]byte, 0, size), bundleVersion)
	for i := range out {
		body = values.AppendText(body, out[i].msg.MessageId)
		body = values.AppendBytes(body, out[i].msg.Body)
	}
	first := out[0].msg
	first.ContentType, first.Body = bundleType, body
	return outgoing{out[0].queue, first}
}

// unpack returns the events of a bundle as deliveries. They share its headers and none of them can be acknowledged.
func unpack(d *amqp.Delivery) ([]amqp.Delivery, error) {
	if len(d.Body) == 0 || d.Body[0] != bundleVersion {
		return nil, errors.New("a bundle of events of an unknown version")
	}
	var out []amqp.Delivery
	for r := (values.Reader{B: d.Body[1:]}); !r.Done(); {
		part := amqp.Delivery{Headers: d.Headers, Type: d.Type, ContentType: contentType, Timestamp: d.Timestamp,
			MessageId: r.Text(), Body: r.Bytes()}
		if r.Bad {
			return nil, fmt.Errorf("a bundle of events is damaged after %d", len(out))
		}
		if out = append(out, part); len(out) > maxBundle {
			return nil, fmt.Errorf("a bundle of more than %d events", maxBundle)
		}
	}
	return out, nil
}

// job is an event to be handled, and what it came in.
type job struct {
	amqp.Delivery        // of the event alone
	of            *whole // nil: it came alone
}

// whole is a bundle whose events are being handled. It is answered when all of them are settled or given back.
type whole struct {
	amqp.Delivery
	mu     sync.Mutex
	left   int  // events without an end
	back   bool // some were given back
	unsure bool // some could not be settled
}

// jobsOf returns the events of a delivery. A redelivered bundle is one job (see [consumer.countRedelivery]), and so is
// a body that is not a valid bundle.
func jobsOf(d amqp.Delivery) []*job {
	if d.ContentType != bundleType || d.Redelivered {
		return []*job{{Delivery: d}}
	}
	parts, err := unpack(&d)
	if err != nil || len(parts) == 0 {
		return []*job{{Delivery: d}}
	}
	of := &whole{Delivery: d, left: len(parts)}
	jobs := make([]*job, len(parts))
	for i := range parts {
		jobs[i] = &job{parts[i], of}
	}
	return jobs
}

// done says that the event needs nothing more.
func (j *job) done() {
	if j.of == nil {
		_ = j.Ack(false)
		return
	}
	j.of.end(func(*whole) {})
}

// giveBack returns an event that was not begun, at once or with the rest of its bundle.
func (j *job) giveBack() {
	if j.of == nil {
		_ = j.Nack(false, true)
		return
	}
	j.of.end(func(w *whole) { w.back = true })
}

// abandon leaves an event without an answer; it comes back when the channel has ended.
func (j *job) abandon() {
	if j.of != nil {
		j.of.end(func(w *whole) { w.unsure = true })
	}
}

func (w *whole) end(note func(*whole)) {
	w.mu.Lock()
	note(w)
	w.left--
	last := w.left == 0
	w.mu.Unlock()
	switch {
	case !last || w.unsure:
	case w.back:
		_ = w.Nack(false, true)
	default:
		_ = w.Ack(false)
	}
}

// again returns copies of the events of a delivery, with their headers, to be published to a queue.
func again(d *amqp.Delivery, queue string, headers amqp.Table) []outgoing {
	parts := []amqp.Delivery{*d}
	if d.ContentType == bundleType {
		if several, err := unpack(d); err == nil {
			parts = several
		}
	}
	out := make([]outgoing, len(parts))
	for i := range parts {
		out[i] = outgoing{queue, copyOf(&parts[i])}
		maps.Copy(out[i].msg.Headers, headers)
	}
	return out
}
