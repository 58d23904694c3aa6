// Command fetcher downloads pages: it consumes leases and publishes pages, redirects and outcomes.
//
// It is one program of a node. All programs of a node read the same configuration: a file (--config) and WHIRLPOOL_*
// variables, see deploy/samples/node.yml.
package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

func main() {
	process.Main("fetcher", func(ctx context.Context, p *process.Program) error {
		return node.RunCluster(ctx, p, node.Fetcher)
	})
}
