package rabbit

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Names of the topology. The vhosts' own names and users are in the addresses of a Config; these are the usual ones.
const (
	SubsystemsVhost = "wh_subsystems_vhost"
	SubsystemsUser  = "wh_subsystems_user"
	FrontierVhost   = "wh_urlfrontier_vhost"
	FrontierUser    = "wh_urlfrontier_user"

	subsystemsExchange = "wh_subsystems"
	frontierExchange   = "wh_urlfrontier"

	deadQueue   = "dead"           // what no handler could make sense of
	retrySuffix = ".retry"         // behind a topic: its messages that come back later
	ownerQueue  = "frontier.owner" // exclusive: whoever holds it owns the frontier's queues
)

// layout is what one vhost holds. A durable direct exchange routes to each queue by the queue's name.
type layout struct {
	exchange string
	topics   []crawl.Topic
	pulled   bool // the frontier's queues are here
}

var (
	subsystems  = layoutOf(subsystemsExchange, false)
	urlFrontier = layoutOf(frontierExchange, true)
)

// layoutOf returns the layout of the vhost for the frontier's topics or for the others, by the pipeline's table.
func layoutOf(exchange string, frontier bool) layout {
	l := layout{exchange: exchange, pulled: frontier}
	for _, t := range crawl.Topics() {
		if t.OfFrontier == frontier {
			l.topics = append(l.topics, t)
		}
	}
	return l
}

func (l layout) has(name string) bool {
	return slices.ContainsFunc(l.topics, func(t crawl.Topic) bool { return t.Name == name })
}

// queue is a queue to declare.
type queue struct {
	name      string
	maxLength int // 0: unbounded
}

func (l layout) queues(maxLength int) []queue {
	qs := append(make([]queue, 0, 1+2*len(l.topics)), queue{name: deadQueue})
	for _, t := range l.topics {
		q := queue{name: t.Name}
		if t.Bounded {
			q.maxLength = maxLength
		}
		qs = append(qs, q, queue{name: t.Name + retrySuffix})
	}
	return qs
}

// fixed reports whether a name is none of the frontier's own queues.
func (l layout) fixed(name string) bool {
	return name == deadQueue || name == ownerQueue || l.has(strings.TrimSuffix(name, retrySuffix))
}

// arguments of a queue: classic queues of version 2, which keep messages on disk. A full one refuses, it drops nothing.
func (q queue) arguments() amqp.Table {
	args := amqp.Table{"x-queue-version": int32(2)}
	if q.maxLength > 0 {
		args["x-max-length"] = int32(q.maxLength)
		args["x-overflow"] = "reject-publish"
	}
	return args
}

// permission is the expression of the names that the vhost's user may declare, write and read: those of the topology.
func (l layout) permission() string {
	var names []string
	for _, t := range l.topics {
		names = append(names, regexp.QuoteMeta(t.Name)+`(\.retry)?`)
	}
	names = append(names, l.exchange, deadQueue)
	if l.pulled {
		names = append(names, regexp.QuoteMeta(ownerQueue), `(back|later)\.[0-9]+`, `front\.[0-9]+(\.[a-z0-9-]+)?`)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// declare makes the exchange, the queues and the bindings, or finds that they are there.
func (l layout) declare(ch *amqp.Channel, maxLength int) error {
	if err := ch.ExchangeDeclare(l.exchange, amqp.ExchangeDirect, true, false, false, false, nil); err != nil {
		return fmt.Errorf("declare exchange %s: %w", l.exchange, err)
	}
	for _, q := range l.queues(maxLength) {
		if err := l.declareQueue(ch, q); err != nil {
			return err
		}
	}
	return nil
}

func (l layout) declareQueue(ch *amqp.Channel, q queue) error {
	if _, err := ch.QueueDeclare(q.name, true, false, false, false, q.arguments()); err != nil {
		return fmt.Errorf("declare queue %s (all programs must have the same lengths of topics; to change one, stop them "+
			"and "+
			"delete the empty queue): %w", q.name, err)
	}
	if err := ch.QueueBind(q.name, q.name, l.exchange, false, nil); err != nil {
		return fmt.Errorf("bind queue %s: %w", q.name, err)
	}
	return nil
}

// declareOn declares the vhost's topology over a connection, once for each connection.
func (l layout) declareOn(ctx context.Context, s *session, maxLength int) error {
	s.declaring.Lock()
	defer s.declaring.Unlock()
	if s.declared || ctx.Err() != nil {
		return ctx.Err()
	}
	ch, err := s.conn.Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	if err := l.declare(ch, maxLength); err != nil {
		return err
	}
	s.declared = true
	return ch.Close()
}

// undeclare lets the topology be declared again: somebody seems to have deleted a part of it.
func (s *session) undeclare() {
	s.declaring.Lock()
	defer s.declaring.Unlock()
	s.declared = false
}
