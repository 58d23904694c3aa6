// Command due is the duplicate URL eliminator: it claims new URLs and sends them to the frontier.
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
	process.Main("due", func(ctx context.Context, p *process.Program) error {
		return node.RunCluster(ctx, p, node.DUE)
	})
}
