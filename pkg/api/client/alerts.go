package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// Alerts lists what is pending and firing.
func (c *Client) Alerts(ctx context.Context) ([]workflow.Alert, error) {
	return whole[workflow.Alert](ctx, c, "/alerts")
}

// AlertRules lists rules of alerts.
func (c *Client) AlertRules(ctx context.Context) ([]workflow.AlertRule, error) {
	return whole[workflow.AlertRule](ctx, c, "/alert-rules")
}

// SetAlertRule makes a rule, or gives it another content.
func (c *Client) SetAlertRule(ctx context.Context, r workflow.AlertRule) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/alert-rules/" + url.PathEscape(r.Name), in: r}, nil)
}

// RemoveAlertRule deletes a rule.
func (c *Client) RemoveAlertRule(ctx context.Context, name string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: "/alert-rules/" + url.PathEscape(name)}, nil)
}

// AlertChannels lists where alerts are sent.
func (c *Client) AlertChannels(ctx context.Context) ([]notify.Channel, error) {
	return whole[notify.Channel](ctx, c, "/alert-channels")
}

// SetAlertChannel makes a channel, or gives it another content.
func (c *Client) SetAlertChannel(ctx context.Context, ch notify.Channel) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/alert-channels/" + url.PathEscape(ch.Name), in: ch}, nil)
}

// RemoveAlertChannel deletes a channel.
func (c *Client) RemoveAlertChannel(ctx context.Context, name string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: "/alert-channels/" + url.PathEscape(name)}, nil)
}

// TestAlertChannel sends a test to a channel.
func (c *Client) TestAlertChannel(ctx context.Context, name string) (*workflow.Delivery, error) {
	return post[workflow.Delivery](ctx, c, "/alert-channels/"+url.PathEscape(name)+":test", nil)
}

// Deliveries lists what was sent, up to most, the newest first.
func (c *Client) Deliveries(ctx context.Context, most int) ([]workflow.Delivery, error) {
	return all[workflow.Delivery](ctx, c, "/deliveries", nil, most)
}

// Resend sends a delivery again.
func (c *Client) Resend(ctx context.Context, id string) (*workflow.Delivery, error) {
	return post[workflow.Delivery](ctx, c, "/deliveries/"+url.PathEscape(id)+":resend", nil)
}

// whole asks for a list that has no pages.
func whole[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	l, err := get[workflow.List[T]](ctx, c, path, nil)
	return l.Items, err
}
