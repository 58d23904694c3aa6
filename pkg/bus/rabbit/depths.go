package rabbit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// management asks the broker's management API.
type management struct {
	base      string
	userinfo  *url.Userinfo // nil: the vhost's own
	transport *http.Transport
}

// answerTimeout bounds the management API's time to begin an answer: to list the queues of a busy broker takes seconds.
// Without it a network that drops packets silently keeps a command for ever.
const answerTimeout = time.Minute

func newManagement(cfg Config) *management {
	m := &management{transport: &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, ResponseHeaderTimeout: answerTimeout}}
	if u, err := url.Parse(cfg.Management); err == nil && cfg.Management != "" {
		m.userinfo, u.User = u.User, nil
		m.base = u.String()
	}
	return m
}

func (m *management) close() { m.transport.CloseIdleConnections() }

// withContext gives requests a context, which the client library does not take.
type withContext struct {
	ctx  context.Context
	next http.RoundTripper
}

func (w withContext) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r.WithContext(w.ctx))
	if err != nil {
		return nil, err
	}
	return loggedIn(resp)
}

// client returns a client for requests within ctx about the vhost that an AMQP URL names.
func (m *management) client(ctx context.Context, amqpURL string) (*rabbithole.Client, error) {
	if m.base == "" {
		return nil, errors.New("rabbit: no management address is configured")
	}
	uri, err := amqp.ParseURI(amqpURL)
	if err != nil {
		return nil, checkAMQP(amqpURL)
	}
	user, password := uri.Username, uri.Password
	if m.userinfo != nil {
		user = m.userinfo.Username()
		password, _ = m.userinfo.Password()
	}
	c, err := rabbithole.NewClient(m.base, user, password)
	if err != nil {
		return nil, fmt.Errorf("rabbit: management address: %w", err)
	}
	c.SetTransport(withContext{ctx, m.transport})
	return c, nil
}

// totals returns the current length of every queue of a vhost. The broker asks the queues themselves; its statistics
// would be up to five seconds old.
func (m *management) totals(ctx context.Context, v *vhost) ([]rabbithole.QueueInfo, error) {
	c, err := m.client(ctx, v.url)
	if err != nil {
		return nil, err
	}
	qs, err := c.ListQueuesWithParametersIn(v.name, url.Values{"disable_stats": {"true"}, "enable_queue_totals": {"true"}})
	if err != nil {
		return nil, fmt.Errorf("rabbit: ask %s for the queues of vhost %s: %w", m.base, v.name, absent(v, err))
	}
	return qs, nil
}

// Depths returns the queues of both vhosts. The counts are exact, the rates are the broker's statistics.
func (b *Bus) Depths(ctx context.Context) ([]bus.Depth, error) {
	var out []bus.Depth
	for _, v := range b.vhosts {
		ds, err := b.depthsOf(ctx, v)
		if err != nil {
			return nil, err
		}
		out = append(out, ds...)
	}
	return out, nil
}

func (b *Bus) depthsOf(ctx context.Context, v *vhost) ([]bus.Depth, error) {
	now, err := b.api.totals(ctx, v)
	if err != nil {
		return nil, err
	}
	c, err := b.api.client(ctx, v.url)
	if err != nil {
		return nil, err
	}
	infos, err := c.ListQueuesIn(v.name)
	if err != nil {
		return nil, fmt.Errorf("rabbit: ask for the rates of vhost %s: %w", v.name, absent(v, err))
	}
	stats := make(map[string]*rabbithole.QueueInfo, len(infos))
	for i := range infos {
		stats[infos[i].Name] = &infos[i]
	}
	out := make([]bus.Depth, len(now))
	for i, q := range now {
		out[i] = bus.Depth{Vhost: v.name, Queue: q.Name, Ready: int64(q.MessagesReady),
			Unacked: int64(q.MessagesUnacknowledged)}
		if s := stats[q.Name]; s != nil {
			out[i].Consumers = s.Consumers
			if m := s.MessageStats; m != nil {
				out[i].Published, out[i].Delivered = float64(m.PublishDetails.Rate), float64(m.DeliverGetDetails.Rate)
				out[i].Acked = float64(m.AckDetails.Rate)
			}
		}
	}
	return out, nil
}

// Quiet waits until the topics and their retry queues are empty and none of their messages is being handled. Messages
// held by a program that lost its connection count until the broker notices. Nobody may publish to the first topics
// meanwhile; the others may get messages from topics in the list.
//
// One look at all queues is not enough. The broker counts them one after another, so a message may move from a queue
// not counted yet to one already counted. With as many looks in a row as there are topics, a message cannot be missed.
func (b *Bus) Quiet(ctx context.Context, topics ...string) error {
	wait := pause{first: 20 * time.Millisecond, most: time.Second}
	for quiet := 0; quiet < max(len(topics), 1); {
		busy, err := b.busy(ctx, topics)
		if err != nil {
			return err
		}
		if !busy {
			quiet++
			continue
		}
		quiet = 0
		if err := wait.wait(ctx); err != nil {
			return fmt.Errorf("rabbit: wait until topics %q are empty: %w", topics, err)
		}
	}
	return nil
}

func (b *Bus) busy(ctx context.Context, topics []string) (bool, error) {
	want := map[string]bool{}
	asked := [2]bool{}
	for _, t := range topics {
		i, err := b.indexOf(t)
		if err != nil {
			return false, err
		}
		asked[i] = true
		want[t], want[t+retrySuffix] = true, true
	}
	for i, v := range b.vhosts {
		if !asked[i] {
			continue
		}
		qs, err := b.api.totals(ctx, v)
		if err != nil {
			return false, err
		}
		for _, q := range qs {
			if want[q.Name] && q.Messages > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}
