package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
)

// brokerWatch reads counts from the management API of a broker.
type brokerWatch struct {
	admin  string
	vhosts []string
}

func newBrokerWatch(admin string, cfg rabbit.Config) *brokerWatch {
	w := &brokerWatch{admin: admin}
	for _, address := range []string{cfg.Subsystems, cfg.Frontier} {
		if u, err := url.Parse(address); err == nil {
			w.vhosts = append(w.vhosts, path.Base(u.Path))
		}
	}
	return w
}

// brokerCounts are what the broker says at a time. The rates of messages are counters.
type brokerCounts struct {
	at                                            time.Time
	queued, ready, unacked                        float64
	published, confirmed, delivered, acked        float64
	connections, channels, opened, channelsOpened float64
}

// next reads the counts after a while.
func (w *brokerWatch) next(ctx context.Context, after time.Duration) (*brokerCounts, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(after):
	}
	return w.read(ctx)
}

func (w *brokerWatch) read(ctx context.Context) (*brokerCounts, error) {
	c := &brokerCounts{at: time.Now()}
	for _, v := range w.vhosts {
		var counts struct {
			Messages float64 `json:"messages"`
			Ready    float64 `json:"messages_ready"`
			Unacked  float64 `json:"messages_unacknowledged"`
			Stats    struct {
				Publish float64 `json:"publish"`
				Confirm float64 `json:"confirm"`
				Deliver float64 `json:"deliver_get"`
				Ack     float64 `json:"ack"`
			} `json:"message_stats"`
		}
		if err := w.get(ctx, "/api/vhosts/"+url.PathEscape(v), &counts); err != nil {
			return nil, err
		}
		c.queued, c.ready, c.unacked = c.queued+counts.Messages, c.ready+counts.Ready, c.unacked+counts.Unacked
		c.published, c.confirmed = c.published+counts.Stats.Publish, c.confirmed+counts.Stats.Confirm
		c.delivered, c.acked = c.delivered+counts.Stats.Deliver, c.acked+counts.Stats.Ack
	}
	var all struct {
		Totals struct {
			Connections float64 `json:"connections"`
			Channels    float64 `json:"channels"`
		} `json:"object_totals"`
		Churn struct {
			Connections float64 `json:"connection_created"`
			Channels    float64 `json:"channel_created"`
		} `json:"churn_rates"`
	}
	if err := w.get(ctx, "/api/overview", &all); err != nil {
		return nil, err
	}
	c.connections, c.channels = all.Totals.Connections, all.Totals.Channels
	c.opened, c.channelsOpened = all.Churn.Connections, all.Churn.Channels
	return c, nil
}

func (w *brokerWatch) get(ctx context.Context, what string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.admin+what, nil)
	if err != nil {
		return fmt.Errorf("management API: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("management API: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("management API: %s: %s", what, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// rates is a row of lengths, and of messages a second since before.
func (c *brokerCounts) rates(label string, before *brokerCounts) Row {
	seconds := max(c.at.Sub(before.at).Seconds(), 1e-3)
	per := func(now, then float64) float64 { return max(0, now-then) / seconds }
	return Row{Label: label, Values: []float64{c.queued, c.ready, c.unacked, per(c.published, before.published),
		per(c.confirmed, before.confirmed), per(c.delivered, before.delivered), per(c.acked, before.acked)}}
}
