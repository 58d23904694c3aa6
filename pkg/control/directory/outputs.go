package directory

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// outputsAtRest tells how far the outputs of a crawl are that no process runs. Packages are made at its end, of the
// archive: nothing is told of them.
func outputsAtRest(s *local.Store) func(context.Context, *crawl.Job) ([]report.Delivered, error) {
	return func(ctx context.Context, job *crawl.Job) (all []report.Delivered, err error) {
		wanted, err := node.OutputsOf(job)
		if err != nil {
			return nil, nil //nolint:nilerr // the next crawl says what is wrong with them
		}
		for i := range wanted {
			w := &wanted[i]
			if w.Packs() {
				continue
			}
			o := report.Delivered{Node: w.Node(), Where: w.Where()}
			if o.Rows, o.Behind, err = w.AtRest(ctx, s.Meta(), s.Pages().Length()); err != nil {
				return nil, err
			}
			all = append(all, o)
		}
		return all, nil
	}
}

// outputsOf tells how far they are in the process that runs the crawl.
func outputsOf(states []node.OutputState) (all []report.Delivered) {
	for _, s := range states {
		all = append(all,
			report.Delivered{Node: s.Node, Where: s.Where, Rows: s.Figures.Rows, Error: s.Error, Since: s.Since})
	}
	return all
}
