package directory

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// Preview tells what other settings would do to the crawl of the directory, first by a sample, then exactly. It changes
// nothing. A job without an id or seeds has those of the crawl.
func (s *Service) Preview(ctx context.Context, next *crawl.Job, tell func(*preview.Answer)) error {
	return s.with(ctx, "", func(d *Directory) error {
		if d.Running() {
			return fmt.Errorf("the crawl in %s is running: stop it (`whirlpool stop -o %s`) to preview an edit; it continues "+
				"with `whirlpool crawl`",
				d.Dir, d.Dir)
		}
		edited := *next
		if edited.ID == "" {
			edited.ID = d.job.ID
		}
		if edited.Unseeded() {
			edited.Seeds, edited.SeedList = d.job.Seeds, d.job.SeedList
		}
		if err := isIt(d.job, d.Dir, edited.ID); err != nil {
			return err
		}
		if err := edited.Validate(); err != nil {
			return err
		}
		return node.Preview(ctx, d.Store, &edited, nil, tell)
	})
}
