// Command parser turns pages into documents: links, text, fields.
//
// It is one program of a node. All programs of a node read the same configuration: a file (--config) and WHIRLPOOL_*
// variables, see deploy/samples/node.yml.
package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

func main() {
	documents.Main() // it runs itself again to open them
	process.Main("parser", func(ctx context.Context, p *process.Program) error {
		return node.RunCluster(ctx, p, node.Parser)
	})
}
