package node

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/topical"
)

// completed is a job with the models that it asks for: of what it says itself, as no file of a server is anybody's to
// name, and no page is fetched out of its turn. Commands complete their jobs before.
func completed(ctx context.Context, job *crawl.Job) (*crawl.Job, error) {
	next := *job
	err := topical.Complete(ctx, &next, topical.Sources{})
	return &next, err
}
