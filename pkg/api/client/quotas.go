package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// MyQuota is what whoever asks may use, and uses.
func (c *Client) MyQuota(ctx context.Context) (*api.AccountQuota, error) {
	return get[api.AccountQuota](ctx, c, "/me/quota", nil)
}

// Quotas lists what roles and accounts may use, and use.
func (c *Client) Quotas(ctx context.Context) ([]api.AccountQuota, error) {
	l, err := get[workflow.List[api.AccountQuota]](ctx, c, "/quotas", nil)
	return l.Items, err
}

// Quota is what a role or an account may use, and uses.
func (c *Client) Quota(ctx context.Context, of string) (*api.AccountQuota, error) {
	return get[api.AccountQuota](ctx, c, "/quotas/"+url.PathEscape(of), nil)
}

// SetQuota sets what a role or an account may use, whatever it is now.
func (c *Client) SetQuota(ctx context.Context, of string, q workflow.Quota) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/quotas/" + url.PathEscape(of), in: q}, nil)
}

// ChangeQuota sets what a role or an account may use, unless it was changed since it was read.
func (c *Client) ChangeQuota(ctx context.Context, was *api.AccountQuota, q workflow.Quota) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/quotas/" + url.PathEscape(was.Of), in: q,
		ifMatch: strconv.Quote(strconv.FormatInt(was.Lock, 10))}, nil)
}

// ResetQuota lets the quota hold again that did before one was set.
func (c *Client) ResetQuota(ctx context.Context, of string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: "/quotas/" + url.PathEscape(of)}, nil)
}
