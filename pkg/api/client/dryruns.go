package client

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
)

// DryRun sends a URL through the server's pipeline, which stores nothing.
func (c *Client) DryRun(ctx context.Context, d api.DryRun) (*api.DryRunResult, error) {
	return post[api.DryRunResult](ctx, c, "/dry-runs", d)
}
