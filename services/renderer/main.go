// Command renderer renders pages whose links and text are made by scripts, in a browser that has no network.
//
// It is one program of a node, and the only one that a node can do without: pages are not rendered then. All programs
// of a node read the same configuration: a file (--config) and WHIRLPOOL_* variables, see deploy/samples/node.yml.
package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

func main() {
	process.Main("renderer", func(ctx context.Context, p *process.Program) error {
		return node.RunCluster(ctx, p, node.Renderer)
	})
}
